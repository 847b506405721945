#include "harness/inputs/fill.h"
#include "harness/inputs/random.h"

#include <algorithm>
#include <cmath>

namespace attest {
namespace {

// Probes that give the logits of a row a shape that some step of an online softmax must survive. A few leading dims of
// q and K hold the shape, the others noise, so that rows and heads stay tellable.
class LogitFill : public Fill {
 public:
  explicit LogitFill(const FillContext& context)
      : context_(context), noise_(make_random_fill(Probe::Gauss, context_)), random_(context.seed, "logits") {}

  double q(int seq, int row, int head, int dim) const override {
    const auto shaped = q_shape(seq, row, head, dim);
    return shaped ? *shaped : kNoise * noise_->q(seq, row, head, dim);
  }
  double k(int seq, int position, int head, int dim) const override {
    const auto shaped = k_shape(seq, position, head, dim);
    return shaped ? *shaped : noise_->k(seq, position, head, dim);
  }
  double v(int seq, int position, int head, int dim) const override { return noise_->v(seq, position, head, dim); }

 protected:
  virtual std::optional<double> q_shape(int seq, int row, int head, int dim) const = 0;
  virtual std::optional<double> k_shape(int seq, int position, int head, int dim) const = 0;

  const Problem& problem() const { return context_.problem; }
  const FillContext& context() const { return context_; }
  double noise_v(int seq, int position, int head, int dim) const { return noise_->v(seq, position, head, dim); }
  double noise_k(int seq, int position, int head, int dim) const { return noise_->k(seq, position, head, dim); }
  double noise_q(int seq, int row, int head, int dim) const { return noise_->q(seq, row, head, dim); }

  // The stored q that makes a stored K of 1 a logit of one nat.
  double nat(int seq, int head) const {
    const int head_kv = head / problem().group();
    return 1 / (problem().softmax_scale * context_.k_scale(seq, head_kv) * context_.scales.q.at(seq, head_kv));
  }
  static bool even(int seq, int row, int head) { return (seq + row + head) % 2 == 0; }
  std::uint64_t below(std::uint64_t limit, int a, int b, int c) const {
    return random_.below(limit, coordinate_index(static_cast<std::uint64_t>(a), static_cast<std::uint64_t>(b),
                                                 static_cast<std::uint64_t>(c)));
  }

 private:
  static constexpr double kNoise = 0.25;  // of a logit's standard deviation

  FillContext context_;
  std::unique_ptr<Fill> noise_;
  Random random_;
};

double nearest_power(double x) { return std::exp2(std::round(std::log2(x))); }

// RAMP: the logit rises, or falls, by 1 to 4 log2 units every 64 keys: the running maximum moves in each tile, by less
// than a lazy rescale waits for. V is 1 in every other dim: what the rescaling loses of P's mass shows.
class RampFill : public LogitFill {
 public:
  using LogitFill::LogitFill;
  double v(int seq, int position, int head, int dim) const override {
    return dim % 2 == 0 ? 1 : noise_v(seq, position, head, dim);
  }

 private:
  static constexpr int kDigits = 5;         // of the position, in base 8
  static constexpr double kDigitUnit = 32;  // keeps q of the high digits within 8 bits

  std::optional<double> q_shape(int seq, int row, int head, int dim) const override {
    if (dim >= kDigits) return std::nullopt;
    const double rise = std::exp2((row + head) % 3);  // log2 units in 64 keys
    const double slope = nearest_power(rise * std::log(2.0) / 64 * nat(seq, head) / kDigitUnit);
    return (even(seq, row, head) ? 1 : -1) * slope * std::exp2(3 * dim);
  }
  std::optional<double> k_shape(int, int position, int, int dim) const override {
    if (dim >= kDigits) return std::nullopt;
    return kDigitUnit * (position >> (3 * dim) & 7);
  }
};

// TAIL: one key carries the row, the first or the last, and all others lie 9.2 nats below it, where P in 8 bits is a
// subnormal unless it is offset. V is 1 in every other dim: what P loses is missing there.
class TailFill : public LogitFill {
 public:
  explicit TailFill(const FillContext& context) : LogitFill(context) {
    for (int seq = 0; seq < static_cast<int>(problem().seqs.size()); ++seq)
      seen_.push_back(visible_to_all(problem(), seq));
  }
  double v(int seq, int position, int head, int dim) const override {
    return dim % 2 == 0 ? 1 : noise_v(seq, position, head, dim);
  }

 private:
  static constexpr double kDepth = 9.2;

  std::optional<double> q_shape(int seq, int row, int head, int dim) const override {
    if (dim > 1) return std::nullopt;
    return even(seq, row, head) == (dim == 0) ? kDepth * nat(seq, head) : 0;
  }
  std::optional<double> k_shape(int seq, int position, int, int dim) const override {
    const KeyRange seen = seen_[static_cast<std::size_t>(seq)];
    if (dim > 1) return std::nullopt;
    return position == (dim == 0 ? seen.begin : seen.end - 1);
  }

  std::vector<KeyRange> seen_;
};

// SINK: half of the rows weigh all keys alike and the sink as much as all keys of the longest sequence together: half
// of the output is the sink's to take.
class SinkFill : public LogitFill {
 public:
  using LogitFill::LogitFill;
  std::optional<double> sink(int head) const override {
    return std::log(std::max(1, problem().max_len_kv)) + (head % 4) / 4.0;
  }

 private:
  std::optional<double> q_shape(int seq, int row, int head, int dim) const override {
    return even(seq, row, head) ? 0 : noise_q(seq, row, head, dim);
  }
  std::optional<double> k_shape(int, int, int, int) const override { return std::nullopt; }
};

// CAP: logits of 0.2, 1 and 2.8 times the soft cap, either sign, under V that opposes them.
class CapFill : public LogitFill {
 public:
  using LogitFill::LogitFill;
  double v(int seq, int position, int head, int dim) const override {
    if (dim % 2) return noise_v(seq, position, head, dim);
    return (level(seq, position, head) > 0 ? -1 : 1) * (1 + (dim / 2 + position) % 7);
  }

 private:
  int level(int seq, int position, int head) const {
    constexpr int kLevels[]{1, -1, 5, -5, 14, -14};
    return kLevels[below(6, seq, position, head)];
  }
  std::optional<double> q_shape(int seq, int row, int head, int dim) const override {
    if (dim > 0) return std::nullopt;
    return (even(seq, row, head) ? 1 : -1) * 0.2 * problem().softcap * nat(seq, head);
  }
  std::optional<double> k_shape(int seq, int position, int head, int dim) const override {
    if (dim > 0) return std::nullopt;
    return level(seq, position, head);
  }
};

// TIES: three kinds of keys, all of a kind alike to the bit: their P round to one side together, and V of a kind is of
// one sign. No argument from independent roundings holds here.
class TiesFill : public LogitFill {
 public:
  using LogitFill::LogitFill;
  double v(int seq, int position, int head, int dim) const override {
    if (dim % 2) return noise_v(seq, position, head, dim);
    return (dim / 2 % 3 == kind(position) ? 1.25 : -1) * (1 + kind(position) / 4.0);
  }

 private:
  static int kind(int position) { return position % 3; }
  std::optional<double> q_shape(int seq, int row, int head, int dim) const override {
    return noise_q(seq, row, head, dim);
  }
  std::optional<double> k_shape(int seq, int position, int head, int dim) const override {
    return noise_k(seq, kind(position), head, dim);
  }
};

// EXTREME: in an eighth of the dims each K and V is the format's largest number, in another its smallest subnormal;
// a channel of K that is alike for all keys shifts every logit by 8 nats. New tokens go past the largest by half.
class ExtremeFill : public LogitFill {
 public:
  using LogitFill::LogitFill;
  double v(int seq, int position, int head, int dim) const override {
    const double room = format(problem().out).max_value() / 16 / std::max(1.0, context().v_scale(seq, head));
    switch ((position + dim) % 8) {
      case 0: return std::min(largest(), room);
      case 4: return -std::min(beyond(), room);
      case 2: return smallest();
      default: return noise_v(seq, position, head, dim);
    }
  }

 private:
  static constexpr double kShift = 8, kSpread = 1.5;  // nats

  double largest() const { return std::min(format(problem().cache).max_value(), 0x1p15); }
  double beyond() const { return largest() * (problem().op == Op::Attend ? 1 : 1.5); }
  double smallest() const { return std::max(2 * format(problem().cache).eta(), 0x1p-24); }

  std::optional<double> q_shape(int seq, int row, int head, int dim) const override {
    const int loud = std::max(1, problem().dim / 8);
    if (dim == 0) return (even(seq, row, head) ? 1 : -1) * kShift * nat(seq, head) / largest();
    if (dim % 8 != 1) return std::nullopt;
    const double unit = kSpread * nat(seq, head) / (largest() * std::sqrt(loud));
    return (below(2, seq, row, head * problem().dim + dim) ? 1 : -1) * unit;
  }
  std::optional<double> k_shape(int seq, int position, int head, int dim) const override {
    if (dim == 0) return largest();
    if (dim % 8 == 5) return (position + dim / 8) % 2 ? smallest() : -smallest();
    if (dim % 8 != 1) return std::nullopt;
    return below(2, seq, position, head * problem().dim + dim) ? beyond() : -largest();
  }
};

class SparseFill : public Fill {
 public:
  SparseFill(std::unique_ptr<Fill> whole, int keys, const FillContext& context) : whole_(std::move(whole)) {
    const Random random(context.seed, "keys");
    for (std::size_t seq = 0; seq < context.problem.seqs.size(); ++seq) {
      const int length = context.problem.seqs[seq].len_kv;
      std::vector<bool>& kept = kept_.emplace_back(static_cast<std::size_t>(length));
      std::vector<int> order = random.permutation(length, seq);
      order.insert(order.begin(), {length - 1, 0});
      for (int at = 0, left = std::min(keys, length); left > 0; ++at) {
        const auto position = static_cast<std::size_t>(order[static_cast<std::size_t>(at)]);
        left -= !kept[position];
        kept[position] = true;
      }
    }
  }

  double q(int seq, int row, int head, int dim) const override { return whole_->q(seq, row, head, dim); }
  double k(int seq, int position, int head, int dim) const override { return whole_->k(seq, position, head, dim); }
  double v(int seq, int position, int head, int dim) const override {
    const auto& kept = kept_[static_cast<std::size_t>(seq)];
    const auto at = static_cast<std::size_t>(position);
    return at < kept.size() && !kept[at] ? 0 : whole_->v(seq, position, head, dim);
  }
  std::optional<double> sink(int head) const override { return whole_->sink(head); }
  bool one_hot() const override { return whole_->one_hot(); }

 private:
  std::unique_ptr<Fill> whole_;
  std::vector<std::vector<bool>> kept_;  // by sequence and position
};

}  // namespace

std::unique_ptr<Fill> make_logit_fill(Probe probe, const FillContext& context) {
  switch (probe) {
    case Probe::Tail: return std::make_unique<TailFill>(context);
    case Probe::Sink: return std::make_unique<SinkFill>(context);
    case Probe::Cap: return std::make_unique<CapFill>(context);
    case Probe::Ties: return std::make_unique<TiesFill>(context);
    case Probe::Extreme: return std::make_unique<ExtremeFill>(context);
    default: return std::make_unique<RampFill>(context);
  }
}

std::unique_ptr<Fill> make_sparse_fill(std::unique_ptr<Fill> whole, int keys, const FillContext& context) {
  return std::make_unique<SparseFill>(std::move(whole), keys, context);
}

}  // namespace attest
