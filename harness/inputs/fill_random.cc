#include "harness/inputs/fill.h"
#include "harness/inputs/random.h"

#include <limits>

namespace attest {
namespace {

// GAUSS: q, K, V ~ N(0,1) in real units, so that the logits have variance 1. PEAKY: q three times that, so that a
// handful of keys carry the row. OUTLIER: one channel of q and K stands out by a factor of 48, logits of |s| ~ 1e3.
class RandomFill : public Fill {
 public:
  RandomFill(const FillContext& context, double gain, double outlier)
      : context_(context),
        gain_(gain),
        outlier_(outlier),
        q_(context.seed, "q"),
        k_(context.seed, "k"),
        v_(context.seed, "v"),
        channel_(static_cast<int>(
            Random(context.seed, "channel").below(static_cast<std::uint64_t>(context.problem.dim), 0))) {}

  double q(int seq, int row, int head, int dim) const override {
    const double scale = context_.scales.q.at(seq, head / context_.problem.group());
    return gain_ * stand_out(dim) * at(q_, seq, row, head, dim) / scale;
  }
  double k(int seq, int position, int head, int dim) const override {
    return stand_out(dim) * at(k_, seq, position, head, dim) / context_.k_scale(seq, head);
  }
  double v(int seq, int position, int head, int dim) const override {
    return at(v_, seq, position, head, dim) / context_.v_scale(seq, head);
  }

 protected:
  const FillContext& context() const { return context_; }

 private:
  static double at(const Random& random, int seq, int i, int head, int dim) {
    return random.gauss(coordinate_index(static_cast<std::uint64_t>(seq), static_cast<std::uint64_t>(i),
                                         static_cast<std::uint64_t>(head), static_cast<std::uint64_t>(dim)));
  }
  double stand_out(int dim) const { return dim == channel_ ? outlier_ : 1; }

  FillContext context_;
  double gain_, outlier_;
  Random q_, k_, v_;
  int channel_;
};

// SPECIAL: GAUSS with a NaN and, where the cache's format has one, an Inf in V, at keys that every row of the
// sequence sees. The output must hold NaN and Inf in those dims, and numbers in the others.
class SpecialFill : public RandomFill {
 public:
  explicit SpecialFill(const FillContext& context) : RandomFill(context, 1, 1), random_(context.seed, "special") {
    for (std::size_t s = 0; s < context.problem.seqs.size(); ++s)
      ranges_.push_back(visible_to_all(context.problem, static_cast<int>(s)));
  }

  double v(int seq, int position, int head, int dim) const override {
    const Problem& p = context().problem;
    const KeyRange range = ranges_[static_cast<std::size_t>(seq)];
    const auto index = coordinate_index(static_cast<std::uint64_t>(seq), static_cast<std::uint64_t>(head), 0);
    if (range.size() > 0 &&
        position == range.begin + static_cast<int>(random_.below(static_cast<std::uint64_t>(range.size()), index))) {
      const auto nan_dim = random_.below(static_cast<std::uint64_t>(p.dim_v), index + 1);
      const auto inf_dim = random_.below(static_cast<std::uint64_t>(p.dim_v), index + 2);
      if (static_cast<std::uint64_t>(dim) == nan_dim) return std::numeric_limits<double>::quiet_NaN();
      if (static_cast<std::uint64_t>(dim) == inf_dim && format(p.cache).infinity)
        return std::numeric_limits<double>::infinity();
    }
    return RandomFill::v(seq, position, head, dim);
  }

 private:
  Random random_;
  std::vector<KeyRange> ranges_;
};

}  // namespace

std::unique_ptr<Fill> make_random_fill(Probe probe, const FillContext& context) {
  switch (probe) {
    case Probe::Peaky: return std::make_unique<RandomFill>(context, 3, 1);
    case Probe::Outlier: return std::make_unique<RandomFill>(context, 1, 48);
    case Probe::Special: return std::make_unique<SpecialFill>(context);
    default: return std::make_unique<RandomFill>(context, 1, 1);
  }
}

}  // namespace attest
