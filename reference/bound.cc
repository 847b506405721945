#define TORCH_ASSERT_ONLY_METHOD_OPERATORS
#include "reference/bound.h"

#include "reference/deviation.h"
#include "reference/likely.h"
#include "reference/roundings.h"
#include "reference/truncation.h"

#include <ATen/ops/bmm.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/maximum.h>
#include <ATen/ops/minimum.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/special_entr.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>

#include <algorithm>
#include <cmath>

namespace attest {
namespace {

constexpr double kF32Unit = 0x1p-24;
constexpr double kLeastKept = 1e-3;  // where less of the weights is sure to be kept, there is no bound

// What P rounds to 0 from: eta / (2^offset l), f32 [b, r, 1].
at::Tensor flushed_below(const Arithmetic& a, const at::Tensor& sum) {
  return sum.to(at::kFloat).reciprocal().mul_(std::ldexp(format(a.p).eta(), -a.p_offset));
}

// E(x) = min(x, max(u x, eta / (2^offset l)))
at::Tensor cast_error(const Arithmetic& a, const at::Tensor& x, const at::Tensor& sum) {
  return at::minimum(x, at::maximum(x.mul(unit(a.p) / (1 + unit(a.p))), flushed_below(a, sum)));
}

// Merging splits with weights exp(lse_s - lse): what the roundings of the splits' log-sums change in each key's weight,
// and what those of their common one change in all.
struct Merge {
  at::Tensor of_key;  // [b, r, n], p_j times the relative change
  at::Tensor common;  // [b, r, 1]
};
Merge merge(const Arithmetic& a, const SoftmaxBlock& block) {
  const auto p = block.p.to(at::kFloat), entropy = at::special_entr(p), lse = block.lse.to(at::kFloat).abs();
  const auto flushed =
      p.masked_fill(p.mul(block.error.worst.amax(-1, true).mul(-2).exp_()).ge(std::exp(exp_floor(a))), 0);
  const double u = unit(a.sum_acc), eta = 8 * format(a.sum_acc).eta();
  return {entropy.mul(7 * u).add_(p.mul(lse.mul(3 * u).add_(eta))).add_(flushed),
          entropy.sum(-1, true).mul_(9 * u).add_(lse.mul(4 * u)).add_(flushed.sum(-1, true)).add_(a.exp_rel + eta)};
}

// What a product P_j v_j takes on its way: additions that round to nearest, its own roundings, rescales, V's cast.
at::Tensor of_products(const BoundModel& model, const at::Tensor& seen, const Cast& of_v) {
  const Arithmetic& a = model.arithmetic;
  auto additions = a.pv_acc.truncates() ? rescales(model, seen).mul_(a.promoted ? 2 : 1).add_(a.promoted ? 1 : 0)
                                        : roundings_of_sums(model, seen);
  return both(growth(unit(a.pv_acc.dtype), additions.add_(a.product_roundings)), of_v.unit);
}

// Accumulators that depend on the order: of o, and of the row sum relative to it.
struct Ordered {
  SumErrors values;
  at::Tensor row_sum_worst, row_sum_likely;  // [b, r, 1]
};
Ordered order_errors(const BoundModel& model, const at::Tensor& p, const at::Tensor& grown, const at::Tensor& cast,
                     const at::Tensor& v) {
  const Arithmetic& a = model.arithmetic;
  const auto weights = p.contiguous();
  Ordered errors{value_errors({a, model.splits, weights, grown.add(cast).contiguous(), v.contiguous(), {}}),
                 at::zeros({}, at::kFloat), at::zeros({}, at::kFloat)};
  if (a.carry == DType::F32) return errors;
  // The row sum adds ones in place of V, in binary32 within a tile, and begins with the sink.
  Arithmetic of_sum = a;
  of_sum.pv_acc = {};
  const std::int64_t keys = v.size(1) - (model.sink ? 1 : 0);
  const auto ones = at::ones({v.size(0), keys, 1}, at::kFloat);
  const auto start = model.sink ? weights.narrow(2, keys, 1).contiguous() : at::Tensor();
  const SumErrors l = value_errors({of_sum, model.splits, weights, grown.contiguous(), ones, start});
  errors.row_sum_worst = l.worst.div(l.worst.neg().add(1).clamp_min(kLeastKept)).to(at::kFloat);
  errors.row_sum_likely = l.bias.add(l.variance.sqrt().mul(kSigmas)).to(at::kFloat);
  return errors;
}

// How much more and less each key may weigh for its score's error alone.
Weights weights_of_scores(const Arithmetic& a, const SoftmaxBlock& block) {
  const auto p = block.p.to(at::kFloat);
  const at::Tensor& error = block.error.worst;
  Weights w{p.mul(error.expm1()), p.mul(error.neg().expm1_().neg_()), {}};
  const auto reached = p.mul(block.sum.to(at::kFloat)).mul_(error.neg().sub_(error.amax(-1, true)).exp_());
  w.lost = at::where(reached.lt(std::exp(exp_floor(a))), p, w.lost);
  return w;
}

// The scores' part of the output at six sigma: what they err by for sure, and the variance of the rest.
struct LikelyScores {
  at::Tensor usual, variance;
};
LikelyScores likely_scores(const Arithmetic& a, const SoftmaxBlock& block, const at::Tensor& values,
                           const at::Tensor& out, const at::Tensor& worst) {
  const bool same = !block.error.sigma.defined() && !a.row_sum_rounded;  // as `worst`, sum_j max(grown, lost) |v_j - o|
  const Weights w = same ? Weights{} : weights_of_scores(a, block);
  if (!block.error.sigma.defined())
    return {same ? worst : deviation(at::maximum(w.grown, w.lost), values, out), at::zeros_like(out, at::kDouble)};
  const auto p = block.p.to(at::kFloat), six = block.error.sigma.mul(kSigmas);
  const auto lost = at::minimum(w.lost, w.grown);  // where exp may be 0, all of p
  const auto usual = at::maximum(p.mul(block.error.usual.expm1()), w.lost.sub(lost)).add_(p.mul(six.square()));
  const auto spread =
      rounding_spread(p.mul(block.error.usual.exp()).mul_(block.error.sigma), p, {kAlike, a.tile}, values, out);
  return {deviation(usual, values, out), spread.square()};
}

// Terms that both tiers share.
struct Fixed {
  at::Tensor by_key;       // f32 [b, r, n (+1)]: weights of |v_j|, beside P's cast
  at::Tensor theta;        // f32 [1, r, 1]: growth of each product
  at::Tensor tiny;         // [b, r, 1]: what underflows in the products, weights of theta + 1
  at::Tensor of_partials;  // what underflows in the partial outputs
  at::Tensor of_row_sum;   // f32: relative error of the row sum
};
Fixed fixed_terms(const BoundModel& model, const SoftmaxBlock& block, const Weights& w) {
  const Arithmetic& a = model.arithmetic;
  const Cast of_v = cast_of(a.v_cast, model.cache, model.v_scaled);
  const auto sums = roundings_of_sums(model, block.seen);  // n + R
  const auto most = block.p.to(at::kFloat).add(w.grown);
  const std::optional<Merge> merged = a.partial ? std::optional(merge(a, block)) : std::nullopt;
  const double eta = format(a.pv_acc.dtype).eta();
  auto theta = of_products(model, block.seen, of_v);
  if (merged)
    theta = both(theta, both(both(unit(*a.partial), a.exp_rel), growth(unit(a.pv_acc.dtype), 1 + a.final_roundings)));
  Fixed fixed{.by_key = {}, .theta = theta.to(at::kFloat), .tiny = {}, .of_partials = {}, .of_row_sum = {}};
  fixed.by_key = most.mul(fixed.theta);
  fixed.tiny = most.sum(-1, true).mul_(of_v.eta).add_(sums.mul(eta * (1 + a.product_roundings)).div(block.sum));
  fixed.of_row_sum = sums.mul(-std::log1p(-unit(a.sum_acc))).expm1_().to(at::kFloat);
  fixed.of_partials = at::zeros({}, at::kDouble);
  if (!merged) return fixed;
  fixed.by_key.add_(merged->of_key.mul(block.error.worst.exp()).mul_(fixed.theta.add(1)));
  fixed.of_row_sum = fixed.of_row_sum.add(merged->common);
  fixed.of_partials = sums.add(a.final_roundings)
                          .mul_(eta)
                          .add_(format(*a.partial).eta())
                          .mul(fixed.theta.add(1))
                          .mul(merged->of_key.sum(-1, true).add_(1));
  return fixed;
}

// Terms of one tier: weights of |v_j|, what is added to them, and the row sum's relative error.
struct Tier {
  at::Tensor by_key, other, of_row_sum;
};
at::Tensor finish(const BoundModel& model, const Fixed& fixed, const Weights& w, const at::Tensor& v,
                  const at::Tensor& out, const Tier& tier) {
  const Arithmetic& a = model.arithmetic;
  const auto size = out.abs().to(at::kFloat);
  auto bound = at::bmm(tier.by_key, v.abs()).add_(fixed.tiny.mul(fixed.theta.add(1))).div_(w.kept);
  bound = bound.add_(fixed.of_partials).add(tier.other);
  bound.mul_(tier.of_row_sum.add(1)).add_(size.mul(tier.of_row_sum));
  const double final = both(both(growth(unit(a.pv_acc.dtype), a.final_roundings), a.unscaled ? unit(*a.unscaled) : 0),
                            a.carry == DType::F32 ? 0 : unit(a.carry));
  bound.add_(a.final_roundings * format(a.pv_acc.dtype).eta() + (a.unscaled ? format(*a.unscaled).eta() : 0));
  bound.add_(size.add(bound).mul_(final));
  return bound.mul_(kInflation).masked_fill_(w.kept.eq(0), INFINITY);
}

}  // namespace

Weights weigh(const BoundModel& model, const SoftmaxBlock& block) {
  const Arithmetic& a = model.arithmetic;
  const auto p = block.p.to(at::kFloat);
  Weights w = weights_of_scores(a, block);
  if (a.row_sum_rounded) {
    w.grown.add_(cast_error(a, p.add(w.grown), block.sum));
    w.lost.add_(cast_error(a, p.sub(w.lost), block.sum));
  }
  w.kept = w.lost.sum(-1, true).neg_().add_(1);
  w.kept = w.kept.masked_fill(w.kept.lt(kLeastKept), 0);
  return w;
}

Tiers output_bound(const BoundModel& model, const SoftmaxBlock& block, const Weights& w, const at::Tensor& values,
                   const at::Tensor& out, bool likely) {
  const Arithmetic& a = model.arithmetic;
  const auto v = values.to(at::kFloat), p = block.p.to(at::kFloat);
  const Fixed fixed = fixed_terms(model, block, w);
  const auto cast = cast_error(a, p.add(w.grown), block.sum);
  const auto of_scores = deviation(at::maximum(w.grown, w.lost), values, out);
  const std::optional<Ordered> ordered =
      depends_on_order(a) ? std::optional(order_errors(model, p, w.grown, cast, v)) : std::nullopt;

  auto other = of_scores.div(w.kept), of_row_sum = fixed.of_row_sum;
  if (ordered) {
    other.add_(ordered->values.worst.div(w.kept));
    of_row_sum = of_row_sum.add(ordered->row_sum_worst);
  }
  const auto with_cast = a.row_sum_rounded ? fixed.by_key : fixed.by_key.add(cast.mul(fixed.theta.add(1)));
  Tiers tiers{finish(model, fixed, w, v, out, {with_cast, other, of_row_sum}), {}};
  if (!likely) return tiers;

  const LikelyScores scores = likely_scores(a, block, values, out, of_scores);
  auto variance = scores.variance;
  other = scores.usual.div(w.kept);
  of_row_sum = fixed.of_row_sum;
  auto by_key = fixed.by_key;
  if (unit(a.p) > 0x1p-20) {
    // What may be rounded to 0 is lost for sure, all of one sign; the rest errs either way.
    const auto of_cast = a.row_sum_rounded ? cast_error(a, p, block.sum) : cast;
    const auto lost = of_cast.masked_fill(p.sub(w.lost).gt(flushed_below(a, block.sum)), 0);
    if (a.row_sum_rounded)
      other.add_(deviation(lost, values, out).div_(w.kept));
    else
      by_key = by_key.add(lost.mul(fixed.theta.add(1)));
    const auto spread = rounding_spread(of_cast.sub(lost), p, {format(a.p).precision(), a.tile}, values,
                                        a.row_sum_rounded ? out : at::Tensor());
    variance = variance.add(spread.mul(kRoundingSigma).square_());
  }
  if (ordered) {
    other.add_(ordered->values.bias);
    variance = variance.add(ordered->values.variance);
    of_row_sum = of_row_sum.add(ordered->row_sum_likely);
  }
  other.add_(variance.sqrt().mul_(kSigmas).div(w.kept));
  tiers.likely = at::minimum(tiers.worst, finish(model, fixed, w, v, out, {by_key, other, of_row_sum}));
  return tiers;
}

Tiers lse_bound(const BoundModel& model, const SoftmaxBlock& block, const Weights& w, bool likely) {
  const Arithmetic& a = model.arithmetic;
  const double u = unit(a.sum_acc);
  const auto finish = [&](at::Tensor bound) {
    if (a.partial) bound.add_(merge(a, block).common);
    bound.add_(roundings_of_sums(model, block.seen).mul_(-std::log1p(-u)));
    bound.add_(block.max.abs().add(block.sum.log()).mul_(4 * u))
        .add_(block.lse.abs().mul(kF32Unit))
        .add_(a.exp_rel + 4 * format(a.sum_acc).eta());
    return bound.mul_(kInflation).to(at::kDouble);
  };
  const auto down = w.lost.sum(-1, true).neg_().log1p_().neg_().masked_fill_(w.kept.eq(0), INFINITY);
  Tiers tiers{finish(at::maximum(w.grown.sum(-1, true).log1p_(), down)), {}};
  if (!likely || !block.error.sigma.defined() || a.row_sum_rounded) return tiers;
  // Scores err independently of each other beside their bias; the square is what exp adds.
  const auto p = block.p.to(at::kFloat), six = block.error.sigma.mul(kSigmas);
  const auto up = p.mul(block.error.usual.expm1()).sum(-1, true);
  const auto ones = at::ones({p.size(0), p.size(2), 1}, at::kDouble);
  const auto spread =
      rounding_spread(p.mul(block.error.usual.exp()).mul_(six), p, {kAlike, a.tile}, ones, {}).to(at::kFloat);
  const auto curved = p.mul(six.square()).sum(-1, true);
  const auto sum = up.add(spread).add_(curved);
  tiers.likely = at::minimum(tiers.worst, finish(sum.neg().log1p_().neg_().masked_fill_(sum.ge(0.5), INFINITY)));
  return tiers;
}

at::Tensor rounded_bound(const BoundModel& model, const at::Tensor& bound, const at::Tensor& scaled_out) {
  const FloatFormat& f = format(model.out);
  const double v_scaled = model.v_scaled ? format(model.arithmetic.pv_acc.dtype).eta() : 0;
  return bound.add(scaled_out.abs().add(bound).mul_(f.unit_roundoff()).clamp_min_(f.eta())).add_(v_scaled);
}

at::Tensor one_hot_bound(const BoundModel& model, const at::Tensor& scaled_out, double largest_value, double loudest) {
  const Arithmetic& a = model.arithmetic;
  const FloatFormat& f = format(model.out);
  // exp(0), the row sum of one term, the products with V and its scale.
  const double of_v = model.v_scaled && a.v_cast ? unit(*a.v_cast) : 0;
  const double carried = a.carry == DType::F32 ? 0 : 5 * unit(a.carry);  // P, o and l, each twice, and their quotient
  const double relative = carried + 2 * a.exp_rel + (4 + a.final_roundings) * unit(a.pv_acc.dtype) + of_v +
                          (a.unscaled ? unit(*a.unscaled) : 0);
  // Other keys are below exp(-104) each, but for the roundings of two scores.
  const double rounded = (a.score_roundings + a.product_roundings) * unit(a.qk_acc.dtype) +
                         (a.score ? unit(*a.score) : 0) + 2 * unit(a.sum_acc);
  const double others = model.len_kv * std::exp(-104 + 2 * rounded * loudest) * largest_value;
  auto bound = at::empty_like(scaled_out);
  const double* value = scaled_out.const_data_ptr<double>();
  double* to = bound.mutable_data_ptr<double>();
  for (std::int64_t i = 0; i < scaled_out.numel(); ++i) {
    const bool exact = round_to(model.out, value[i]) == value[i] && relative < f.unit_roundoff() / 2;
    to[i] = others + (exact || value[i] == 0 ? 0 : (relative + f.unit_roundoff()) * std::abs(value[i]) + f.eta());
  }
  return bound;
}

}  // namespace attest
