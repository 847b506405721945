#include "harness/core/error.h"
#include "harness/inputs/fill.h"
#include "harness/inputs/random.h"
#include "harness/inputs/select_address.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace attest {
namespace {

std::uint64_t index(int a, int b, int c, int d = 0) {
  return coordinate_index(static_cast<std::uint64_t>(a), static_cast<std::uint64_t>(b), static_cast<std::uint64_t>(c),
                          static_cast<std::uint64_t>(d));
}

int below(const Random& random, int limit, std::uint64_t at) {
  return static_cast<int>(random.below(static_cast<std::uint64_t>(limit), at));
}

// A key that one row sees: its first, its last, one at a page's edge, or any, by `kind` modulo 4.
int pick_key(const Random& random, KeyRange range, int page_size, std::uint64_t at, std::uint64_t kind) {
  switch (kind % 4) {
    case 0: return range.begin;
    case 1: return range.end - 1;
    case 2: {
      const int edge = (range.begin + below(random, range.size(), at + 1)) / page_size * page_size;
      return std::clamp(edge - static_cast<int>(random.below(2, at + 2)), range.begin, range.end - 1);
    }
    default: return range.begin + below(random, range.size(), at + 1);
  }
}

// SELECT: K holds the position's binary code (+-c, repeated over the dims), q the code of one key that the row sees,
// so loud that every other p is exactly 0 in binary32. The output is V of that key, and V spells its own address in
// signed base-8 digits, which every format holds: a wrong output says what was read.
class SelectFill : public Fill {
 public:
  static constexpr double kGap = 104;  // nats: exp(-104) is below half the smallest binary32 subnormal

  explicit SelectFill(const FillContext& context) : context_(context), random_(context.seed, "select") {
    const Problem& p = context.problem;
    bits_ = select_code_bits(p.seqs);
    repeats_ = p.dim / bits_;
    for (int seq = 0; seq < static_cast<int>(p.seqs.size()); ++seq)
      for (int head = 0; head < p.heads_kv; ++head) volume(seq, head);
  }

  double q(int seq, int row, int head, int dim) const override {
    const KeyRange range = visible_to(context_.problem, seq, row);
    if (range.size() == 0 || dim >= bits_ * repeats_) return 0;
    // Neighbouring rows and heads take different kinds of keys, so that they can be told apart.
    const auto kind = random_.bits(0) + static_cast<std::uint64_t>(row + head + seq);
    const int target = pick_key(random_, range, context_.problem.page_size, index(seq, row, head), kind);
    return code(target, dim) * volume(seq, head / context_.problem.group()).q;
  }
  double k(int seq, int position, int head, int dim) const override {
    return dim < bits_ * repeats_ ? code(position, dim) * volume(seq, head).k : 0;
  }
  double v(int seq, int position, int head, int dim) const override {
    return select_digit({position, head, seq, static_cast<int>(context_.seed & 63)}, dim);
  }
  bool one_hot() const override { return true; }

 private:
  struct Volume {
    double q, k;
  };
  double code(int position, int dim) const { return position >> (dim % bits_) & 1 ? 1 : -1; }

  // Powers of two for q and K that make the nearest other code at least kGap nats quieter.
  Volume volume(int seq, int head_kv) const {
    const Problem& p = context_.problem;
    const double unit =
        2.0 * repeats_ * p.softmax_scale * context_.k_scale(seq, head_kv) * context_.scales.q.at(seq, head_kv);
    const double loud = std::exp2(std::ceil(std::log2(kGap / unit)));
    const double most_q = std::exp2(std::floor(std::log2(format(p.q).max_value())));
    const Volume volume{std::min(loud, most_q), std::max(1.0, loud / most_q)};
    if (unit * volume.q * volume.k < kGap || volume.k > 16)
      throw UsageError(fmt::format("in=select: with these scales and q={} no key can win by {} nats", name(p.q), kGap));
    return volume;
  }

  FillContext context_;
  Random random_;
  int bits_ = 1, repeats_ = 1;
};

// SENTINEL: V is zero but for one key per dim, on the edges of what rows see: the answer per dim is yes or no,
// whatever the length and the precision. Half of the rows weigh all keys alike (q = 0), the others weigh odd
// positions three times.
class SentinelFill : public Fill {
 public:
  explicit SentinelFill(const FillContext& context) : context_(context), random_(context.seed, "sentinel") {}

  double q(int seq, int row, int head, int dim) const override {
    const Problem& p = context_.problem;
    const bool alike = (row + head + seq) % 2 == 1;
    if (dim != 0 || alike) return 0;
    const int head_kv = head / p.group();
    return std::exp2(std::round(
        std::log2(1.1 / (p.softmax_scale * context_.k_scale(seq, head_kv) * context_.scales.q.at(seq, head_kv)))));
  }
  double k(int seq, int position, int head, int dim) const override {
    if (dim == 0) return position % 2;
    return random_.gauss(index(seq, position, head, dim));
  }
  double v(int seq, int position, int head, int dim) const override {
    if (position != sentinel(seq, head, dim)) return 0;
    return (dim % 2 ? -1 : 1) * (1 + dim % 7);
  }

 private:
  int sentinel(int seq, int head, int dim) const {
    const Sequence& s = context_.problem.seqs[static_cast<std::size_t>(seq)];
    const auto at = index(seq, head, dim);
    const int row = below(random_, std::max(s.len_q, 1), at + 3);
    const KeyRange seen = visible_to(context_.problem, seq, row);
    // One step outside of what this row sees as often as inside: there its answer is no.
    const KeyRange around{std::max(seen.begin - 1, 0), std::min(seen.end + 1, s.len_kv)};
    return around.size() == 0 ? -1 : pick_key(random_, around, context_.problem.page_size, at, random_.bits(at + 4));
  }

  FillContext context_;
  Random random_;
};

// IDENTITY: V is an identity block over dim_v consecutive keys: the output is that stretch of P itself. Seeds that
// follow each other read the blocks in turn.
class IdentityFill : public Fill {
 public:
  explicit IdentityFill(const FillContext& context)
      : context_(context), gauss_(make_random_fill(Probe::Gauss, context_)) {}

  double q(int seq, int row, int head, int dim) const override { return gauss_->q(seq, row, head, dim); }
  double k(int seq, int position, int head, int dim) const override { return gauss_->k(seq, position, head, dim); }
  double v(int seq, int position, int head, int dim) const override {
    const Problem& p = context_.problem;
    const int last_row = p.seqs[static_cast<std::size_t>(seq)].len_q - 1;
    const KeyRange seen = visible_to(p, seq, std::max(last_row, 0));
    if (seen.size() == 0) return 0;
    const int first = seen.begin / p.dim_v, blocks = (seen.end - 1) / p.dim_v + 1 - first;
    const int block =
        first + static_cast<int>((context_.seed + index(seq, head, 0) % 64) % static_cast<unsigned>(blocks));
    return position - block * p.dim_v == dim;
  }

 private:
  FillContext context_;
  std::unique_ptr<Fill> gauss_;
};

// MASS: V = 1, so the output is 1 (less the sink's share): what P loses on its way shows. An eighth of the dims
// holds random V instead, so that rows and heads stay tellable.
class MassFill : public Fill {
 public:
  explicit MassFill(const FillContext& context) : context_(context), peaky_(make_random_fill(Probe::Peaky, context_)) {}

  double q(int seq, int row, int head, int dim) const override { return peaky_->q(seq, row, head, dim); }
  double k(int seq, int position, int head, int dim) const override { return peaky_->k(seq, position, head, dim); }
  double v(int seq, int position, int head, int dim) const override {
    const int dim_v = context_.problem.dim_v;
    return dim < dim_v - std::max(1, dim_v / 8) ? 1 : peaky_->v(seq, position, head, dim);
  }

 private:
  FillContext context_;
  std::unique_ptr<Fill> peaky_;
};

// CODES: each value is one that the cache's format holds, in turn all of them (of 16-bit and wider formats a spread
// of 256): subnormals, -0, the largest, Inf, NaN. A write must give each its own code back.
class CodesFill : public Fill {
 public:
  explicit CodesFill(const FillContext& context) : context_(context) {}

  double q(int, int, int, int) const override { return 0; }
  double k(int seq, int position, int head, int dim) const override { return code(seq, position, head, dim); }
  double v(int seq, int position, int head, int dim) const override { return code(seq, position, head, dim + 101); }

 private:
  double code(int seq, int position, int head, int dim) const {
    const DType cache = context_.problem.cache;
    const auto index = static_cast<std::uint64_t>(dim + 37 * position + 59 * head + 83 * seq) % 256;
    return decode(cache, index << (8 * byte_size(cache) - 8));
  }

  FillContext context_;
};

}  // namespace

std::unique_ptr<Fill> make_exact_fill(Probe probe, const FillContext& context) {
  switch (probe) {
    case Probe::Select: return std::make_unique<SelectFill>(context);
    case Probe::Sentinel: return std::make_unique<SentinelFill>(context);
    case Probe::Identity: return std::make_unique<IdentityFill>(context);
    case Probe::Codes: return std::make_unique<CodesFill>(context);
    default: return std::make_unique<MassFill>(context);
  }
}

KeyRange visible_to(const Problem& p, int seq, int row) {
  return visible_keys(p.mask, p.seqs[static_cast<std::size_t>(seq)], row);
}

KeyRange visible_to_all(const Problem& p, int seq) {
  const Sequence& s = p.seqs[static_cast<std::size_t>(seq)];
  KeyRange all{0, s.len_kv};
  for (int row = 0; row < s.len_q; ++row) {
    const KeyRange one = visible_to(p, seq, row);
    all = {std::max(all.begin, one.begin), std::min(all.end, one.end)};
  }
  return all;
}

std::unique_ptr<Fill> make_fill(Probe probe, const FillContext& context) {
  switch (probe) {
    case Probe::Select:
    case Probe::Sentinel:
    case Probe::Identity:
    case Probe::Codes:
    case Probe::Mass: return make_exact_fill(probe, context);
    case Probe::Ramp:
    case Probe::Tail:
    case Probe::Sink:
    case Probe::Cap:
    case Probe::Ties:
    case Probe::Extreme: return make_logit_fill(probe, context);
    default: return make_random_fill(probe, context);
  }
}

}  // namespace attest
