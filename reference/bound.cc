#define TORCH_ASSERT_ONLY_METHOD_OPERATORS
#include "reference/bound.h"

#include <ATen/ops/bmm.h>
#include <ATen/ops/clamp.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/full_like.h>
#include <ATen/ops/maximum.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros_like.h>

#include <algorithm>
#include <cmath>

namespace attest {
namespace {

constexpr double kInflation = 1 + 0x1p-10;
constexpr double kF32Unit = 0x1p-24;

double unit(DType dtype) { return format(dtype).unit_roundoff(); }

// Every finite value of `from` is one of `to`.
bool holds_exactly(DType from, DType to) {
  const FloatFormat &a = format(from), &b = format(to);
  return a.precision() <= b.precision() && a.max_value() <= b.max_value() && a.eta() >= b.eta();
}

double cast_unit(const std::optional<DType>& cast, DType from) { return cast && !holds_exactly(from, *cast) ? unit(*cast) : 0; }

// Below this, exp's result may be flushed or subnormal, and carries no relative accuracy.
double exp_floor(const Arithmetic& a) {
  const FloatFormat& f = format(a.sum_acc);
  return std::max(a.exp_floor, std::log(std::ldexp(1.0, 1 - f.bias)));
}

}  // namespace

double BoundModel::score_unit() const { return unit(arithmetic.qk_acc); }
double BoundModel::sum_unit() const { return unit(arithmetic.sum_acc); }
double BoundModel::operand_units() const { return cast_unit(arithmetic.q_cast, q) + cast_unit(arithmetic.k_cast, cache); }
double BoundModel::value_unit() const { return cast_unit(arithmetic.v_cast, cache); }

at::Tensor score_errors(const BoundModel& model, const ScoreBlock& block) {
  const Arithmetic& a = model.arithmetic;
  const double product = (model.dim + a.product_roundings) * model.score_unit() + model.operand_units();
  const auto score = block.scores.to(at::kFloat);
  auto error = block.magnitude.mul(product).add_(score.abs().mul_(a.score_roundings * model.score_unit()));
  const auto capped = block.capped.to(at::kFloat);
  const auto hidden = capped.eq(-INFINITY);
  const auto shown = capped.masked_fill(hidden, 0);
  if (model.softcap > 0) {
    const auto tanh = shown.div(model.softcap);
    error.mul_(tanh.mul(tanh).neg_().add_(1)).add_(model.softcap * a.tanh_abs + kF32Unit * model.softcap);
  }
  const auto size = shown.abs();
  if (a.score) error.add_(size.mul(unit(*a.score)).add_(format(*a.score).eta()));
  error.add_(size.add_(block.max.to(at::kFloat).abs()).mul_(2 * model.sum_unit())).add_(a.exp_rel);
  return error.mul_(kInflation).masked_fill_(hidden, 0);
}

at::Tensor sink_errors(const BoundModel& model, const at::Tensor& sink, const at::Tensor& max) {
  return sink.abs().add(max.abs()).mul_(2 * model.sum_unit()).add_(model.arithmetic.exp_rel).mul_(kInflation).to(at::kFloat);
}

at::Tensor output_bound(const BoundModel& model, const SoftmaxBlock& block, const at::Tensor& values, const at::Tensor& out, const at::Tensor& lse) {
  const Arithmetic& a = model.arithmetic;
  const auto p = block.p.to(at::kFloat);
  const auto v = values.to(at::kFloat);
  const auto magnitude = v.abs();
  const auto out_size = out.abs().to(at::kFloat);
  const auto grown = block.error.expm1();
  const auto kept = p.mul(block.error.neg().exp()).sum(-1, true);

  // sqrt(sum p (e^d - 1)^2) sqrt(var): V centred per dim, so that the subtraction below loses little.
  const auto centre = values.mean(1, true);
  const auto spread = values.sub(centre).to(at::kFloat);
  const auto square = at::bmm(p, spread.mul(spread));
  const auto offset = out.sub(centre).to(at::kFloat);
  const auto variance = square.sub(offset.mul(offset)).clamp_min_(0).add_(square, 8 * kF32Unit);
  auto logits = p.mul(grown).mul_(grown).sum(-1, true).sqrt_().mul(variance.sqrt()).div_(kept);

  const auto mass = at::bmm(p, magnitude);  // sum p |v|
  const double u_p = unit(a.p) / (1 + unit(a.p));
  const auto tiny = block.sum.to(at::kFloat).reciprocal().mul_(std::ldexp(format(a.p).eta(), -a.p_offset));  // eta_p / (2^offset l)
  at::Tensor cast;
  if (format(a.p).eta() > 1e-30 || a.row_sum_rounded) {
    const auto each = at::maximum(p.mul(u_p), tiny).masked_fill_(p.eq(0), 0);
    cast = a.row_sum_rounded ? at::bmm(each, spread.abs()).add_(each.sum(-1, true).mul(offset.abs())) : at::bmm(each, magnitude);
  } else {
    cast = mass.mul(u_p).add_(tiny.mul(magnitude.sum(1, true)));
  }

  const double u_pv = unit(a.pv_acc);
  const double tiles = a.tile > 0 ? (model.keys + a.tile - 1) / a.tile : 1;
  const double sums = (model.keys + a.product_roundings) * u_pv + tiles * (u_pv + a.exp_rel) + model.value_unit();
  auto later = cast.add_(mass.mul(sums)).add_(out_size.mul(model.keys * model.sum_unit() + a.final_roundings * u_pv));
  if (a.unscaled) later.add_(out_size.mul(unit(*a.unscaled))).add_(format(*a.unscaled).eta());
  if (a.partial) later.add_(lse.to(at::kFloat).abs().mul_(2 * model.sum_unit()).add_(model.sum_unit() + unit(*a.partial)).mul(mass));
  const auto flushed = p.masked_fill(p.div(p.amax(-1, true)).ge(std::exp(exp_floor(a))), 0).sum(-1, true);
  later.add_(flushed.mul(magnitude.amax(1, true).add(out_size)));

  const auto carried = block.error.amax(-1, true).exp_().div_(kept);
  return logits.add_(later.mul_(carried)).mul_(kInflation).to(at::kDouble);
}

at::Tensor lse_bound(const BoundModel& model, const SoftmaxBlock& block, const at::Tensor& lse) {
  const auto grown = block.p.mul(block.error.to(block.p.scalar_type()).expm1()).sum(-1, true).log1p();
  return grown.to(at::kDouble).mul_(kInflation).add_(lse.abs().mul(4 * model.sum_unit() + kF32Unit)).add_(model.keys * model.sum_unit());
}

at::Tensor rounded_bound(const BoundModel& model, const at::Tensor& bound, const at::Tensor& scaled_out) {
  const FloatFormat& f = format(model.out);
  return bound.add(scaled_out.abs().add(bound).mul_(f.unit_roundoff())).add_(f.eta());
}

at::Tensor one_hot_bound(const BoundModel& model, const at::Tensor& scaled_out, double largest_value) {
  const Arithmetic& a = model.arithmetic;
  const FloatFormat& f = format(model.out);
  // exp(0), the row sum of one term, the products with V and its scale; other keys are below exp(-104) each.
  const double relative = 2 * a.exp_rel + (4 + a.final_roundings) * unit(a.pv_acc) + model.value_unit() + (a.unscaled ? unit(*a.unscaled) : 0);
  const double others = model.keys * std::exp(-104.0) * largest_value;
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
