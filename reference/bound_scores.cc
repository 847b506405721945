// The scores' part of the bound: from casts and sums of q and K to the error d_j of each exponent.
#define TORCH_ASSERT_ONLY_METHOD_OPERATORS
#include "reference/roundings.h"
#include "reference/truncation.h"

#include <ATen/ops/minimum.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros_like.h>

namespace attest {
namespace {

// Where the scores may err so much that a bound tells nothing, there is none: e^80 is a number in binary32.
constexpr double kWorstError = 80;

// From the error of the scores, of which the largest may be any key's, to d_j.
at::Tensor exponent_errors(const BoundModel& model, const at::Tensor& error, const at::Tensor& size,
                           const at::Tensor& max, const at::Tensor& seen) {
  const Arithmetic& a = model.arithmetic;
  const auto arguments = size.add(max.to(at::kFloat).abs())
                             .add_(error)
                             .add_(error.amax(-1, true))
                             .mul_(2 * unit(a.sum_acc))
                             .add_(3 * format(a.sum_acc).eta());
  return arguments.add_(error)
      .add_(rescales(model, seen).add_(1).mul_(-std::log1p(-a.exp_rel)))
      .mul_(kInflation)
      .clamp_max_(kWorstError);
}

// Of the soft cap, the largest that a score with such an error can meet.
at::Tensor slope(const BoundModel& model, const ScoreBlock& block, const at::Tensor& error) {
  if (model.softcap == 0) return at::ones({}, at::kFloat);
  const auto tanh = block.scores.to(at::kFloat).abs_().sub_(error).clamp_min_(0).div_(model.softcap).tanh_();
  return tanh.mul(tanh).neg_().add_(1);
}

// From the error of the scaled products to d_j.
at::Tensor after_products(const BoundModel& model, const ScoreBlock& block, at::Tensor error) {
  const Arithmetic& a = model.arithmetic;
  const auto capped = block.capped.to(at::kFloat);
  const auto hidden = capped.eq(-INFINITY);
  const auto shown = capped.masked_fill(hidden, 0).abs_();
  if (model.softcap > 0) error = error.mul(slope(model, block, error)).add_(model.softcap * a.tanh_abs);
  // A rounding before the cap moves c_j by no more than one behind it: tanh is concave. The cap divides and multiplies.
  const double later =
      both(growth(unit(a.qk_acc.dtype), a.score_roundings + (model.softcap > 0 ? 2 : 0)), a.score ? unit(*a.score) : 0);
  error.add_(shown.add(error).mul_(later));
  if (a.score) error.add_(format(*a.score).eta());
  error.masked_fill_(hidden, 0);
  return exponent_errors(model, error, shown, block.max, block.seen).masked_fill_(hidden, 0);
}

}  // namespace

ScoreErrors score_errors(const BoundModel& model, const ScoreBlock& block) {
  const Arithmetic& a = model.arithmetic;
  const Cast q = cast_of(a.q_cast, model.q, model.q_scaled), k = cast_of(a.k_cast, model.cache, model.k_scaled);
  // the operands' casts
  const at::Tensor& size = block.magnitude;
  const auto of_q = at::minimum(size, size.mul(q.unit).add_(block.k_size.mul(block.factor).mul_(q.eta)));
  const auto with_q = size.add(of_q);
  const auto of_casts =
      at::minimum(with_q, with_q.mul(k.unit).add_(block.q_size.mul(block.factor).mul_(q.eta > 0 ? 2 * k.eta : k.eta)))
          .add_(of_q);
  // the sum of products
  const bool truncates = a.qk_acc.truncates();
  const double u = unit(a.qk_acc.dtype);
  auto error = of_casts.add(size.add(of_casts).mul_(growth(u, (truncates ? 0 : model.dim) + a.product_roundings)));
  error.add_(block.factor.clamp_min(1).mul_((model.dim * (1 + a.product_roundings) + a.score_roundings + 2) *
                                            format(a.qk_acc.dtype).eta()));
  if (!truncates) return {after_products(model, block, error), {}, {}};

  const SumErrors sum = product_errors(a.qk_acc, block.q, block.k);
  // Casts change every product, so every alignment, by no more than all of what they change.
  const double steps = std::ceil(static_cast<double>(model.dim) / a.qk_acc.step);
  error.add_(of_casts.mul((model.dim + 2 * steps) * std::ldexp(1.0, -a.qk_acc.fraction) +
                          steps * std::ldexp(1.0, -std::min(a.qk_acc.fraction, 23))));
  const auto scaled = [&](const at::Tensor& t) { return t.to(at::kFloat).mul_(block.factor); };
  const auto worst = error.add(scaled(sum.worst));
  const auto hidden = block.capped.eq(-INFINITY);
  return {after_products(model, block, worst), after_products(model, block, error.add(scaled(sum.bias))),
          scaled(sum.variance.sqrt()).mul_(slope(model, block, worst)).masked_fill_(hidden, 0)};
}

at::Tensor sink_errors(const BoundModel& model, const at::Tensor& sink, const at::Tensor& max, const at::Tensor& seen) {
  const auto size = sink.to(at::kFloat).abs();
  return exponent_errors(model, at::zeros_like(size), size, max, seen);
}

}  // namespace attest
