#define TORCH_ASSERT_ONLY_METHOD_OPERATORS
#include "reference/bound.h"

#include "reference/likely.h"
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

constexpr double kInflation = 1 + 0x1p-10;
constexpr double kF32Unit = 0x1p-24;
// Where the scores may err so much that a bound tells nothing, there is none: d_j past this (e^80 is a number in
// binary32), or less than this share of the weights that is sure to be kept.
constexpr double kWorstError = 80, kLeastKept = 1e-3;

double unit(DType dtype) { return format(dtype).unit_roundoff(); }
double growth(double u, double roundings) { return std::expm1(roundings * std::log1p(u)); }  // (1 + u)^k - 1
at::Tensor growth(double u, const at::Tensor& roundings) { return roundings.mul(std::log1p(u)).expm1_(); }

// (1 + x) (1 + y) - 1, exact where x and y are small.
double both(double x, double y) { return x + y + x * y; }
at::Tensor both(const at::Tensor& x, double y) { return x.mul(1 + y).add_(y); }

// Every finite value of `from` is one of `to`.
bool holds_exactly(DType from, DType to) {
  const FloatFormat &a = format(from), &b = format(to);
  return a.precision() <= b.precision() && a.max_value() <= b.max_value() && a.eta() >= b.eta();
}

// Below this, exp's result may be 0 or subnormal, and carries no relative accuracy.
double exp_floor(const Arithmetic& a) {
  return std::max(a.exp_floor, std::log(std::ldexp(1.0, 1 - format(a.sum_acc).bias)));
}

struct Cast {
  double unit = 0, eta = 0;
};
Cast cast_of(const std::optional<DType>& to, DType from, bool scaled) {
  if (!to || (!scaled && holds_exactly(from, *to))) return {};
  return {unit(*to), format(*to).eta()};
}

// R: rescales between the tiles that hold keys of the row, and one for a sink. A rescale by exp(0) is exact.
at::Tensor rescales(const BoundModel& model, const at::Tensor& seen) {
  const int tile = model.arithmetic.tile > 0 ? model.arithmetic.tile : std::max(model.len_kv, 1);
  const int tiles = (model.len_kv + tile - 1) / tile;
  return seen.sub(1).div_(tile).ceil_().clamp_(0, std::max(tiles - 1, 0)).add_(model.sink ? 1 : 0);
}

at::Tensor roundings_of_sums(const BoundModel& model, const at::Tensor& seen) {
  return rescales(model, seen).add_(seen).add_(model.sink ? 1 : 0);
}

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

// E(x) = min(x, max(u x, eta / (2^offset l)))
at::Tensor cast_error(const Arithmetic& a, const at::Tensor& x, const at::Tensor& sum) {
  const auto tiny = sum.to(at::kFloat).reciprocal().mul_(std::ldexp(format(a.p).eta(), -a.p_offset));
  return at::minimum(x, at::maximum(x.mul(unit(a.p) / (1 + unit(a.p))), tiny));
}

// sum_j w_j |v_j - o|, f64: a key that carries nearly all the weight has v_j - o nearly 0. No product of matrices gives
// this: Cauchy-Schwarz is loose by sqrt(n) / 2 where V is sparse.
at::Tensor deviation(const at::Tensor& weights, const at::Tensor& values, const at::Tensor& out) {
  const auto w = weights.contiguous(), v = values.to(at::kDouble).contiguous(), o = out.to(at::kDouble).contiguous();
  const std::int64_t heads = w.size(0), rows = w.size(1), keys = w.size(2), width = v.size(2);
  auto sums = at::zeros({heads, rows, width}, at::kDouble);
  const float* from = w.const_data_ptr<float>();
  for (std::int64_t b = 0; b < heads; ++b)
    for (std::int64_t r = 0; r < rows; ++r)
      for (std::int64_t j = 0; j < keys; ++j) {
        const double weight = *from++;
        if (weight == 0) continue;
        const double* value = v.const_data_ptr<double>() + (b * keys + j) * width;
        const double* centre = o.const_data_ptr<double>() + (b * rows + r) * width;
        double* sum = sums.mutable_data_ptr<double>() + (b * rows + r) * width;
        for (std::int64_t c = 0; c < width; ++c) sum[c] += weight * std::abs(value[c] - centre[c]);
      }
  return sums;
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
  const std::int64_t keys = v.size(1);
  // P's cast moves each product by up to `cast`; six sigma of that is 6 * 0.43 of it, and not more than all.
  const ValueSum sum{
      a, model.splits, p.contiguous(), grown.add(cast).contiguous(), grown.add(cast).contiguous(), v.contiguous()};
  Ordered errors{value_errors(sum), at::zeros({}, at::kFloat), at::zeros({}, at::kFloat)};
  if (a.carry == DType::F32) return errors;
  const ValueSum row{
      a, model.splits, sum.p, grown.contiguous(), grown.contiguous(), at::zeros({v.size(0), keys, 1}, at::kFloat)};
  const SumErrors l = carried_sum_errors(row);
  errors.row_sum_worst = l.worst.div(l.worst.neg().add(1).clamp_min(kLeastKept)).to(at::kFloat);
  errors.row_sum_likely = l.bias.add(l.variance.sqrt().mul(kSigmas)).to(at::kFloat);
  return errors;
}

// The scores' part of the output at six sigma: `usual` undefined where it is the worst case.
struct LikelyScores {
  at::Tensor usual, variance;
};
LikelyScores likely_scores(const SoftmaxBlock& block, const Weights& w, const at::Tensor& values,
                           const at::Tensor& out) {
  if (!block.error.sigma.defined()) return {{}, at::zeros_like(out, at::kDouble)};
  const auto p = block.p.to(at::kFloat), six = block.error.sigma.mul(kSigmas);
  const auto lost = at::minimum(w.lost, w.grown);  // where exp may be 0, all of p
  const auto usual = at::maximum(p.mul(block.error.usual.expm1()), w.lost.sub(lost)).add_(p.mul(six.square()));
  const auto spread = independent_spread(p.mul(block.error.usual.exp()).mul_(block.error.sigma), values, out);
  return {deviation(usual, values, out), spread.square()};
}

// The weights' errors without P's cast, which row_sum: rounded puts into them.
at::Tensor without_cast(const BoundModel& model, const SoftmaxBlock& block, const Weights& w) {
  if (!model.arithmetic.row_sum_rounded) return at::maximum(w.grown, w.lost);
  Arithmetic plain = model.arithmetic;
  plain.row_sum_rounded = false;
  BoundModel same{plain,          model.q,   model.cache,  model.out,    model.q_scaled, model.k_scaled,
                  model.v_scaled, model.dim, model.len_kv, model.splits, model.softcap,  model.sink};
  const Weights unrounded = weigh(same, block);
  return at::maximum(unrounded.grown, unrounded.lost);
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

Weights weigh(const BoundModel& model, const SoftmaxBlock& block) {
  const Arithmetic& a = model.arithmetic;
  const auto p = block.p.to(at::kFloat);
  const at::Tensor& error = block.error.worst;
  Weights w{p.mul(error.expm1()), p.mul(error.neg().expm1_().neg_()), {}};
  const auto reached = p.mul(block.sum.to(at::kFloat)).mul_(error.neg().sub_(error.amax(-1, true)).exp_());
  w.lost = at::where(reached.lt(std::exp(exp_floor(a))), p, w.lost);
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
  const Cast of_v = cast_of(a.v_cast, model.cache, model.v_scaled);
  const auto v = values.to(at::kFloat), size = out.abs().to(at::kFloat);
  const auto sums = roundings_of_sums(model, block.seen);  // n + R
  const auto p = block.p.to(at::kFloat), most = p.add(w.grown);
  const std::optional<Merge> merged = a.partial ? std::optional(merge(a, block)) : std::nullopt;
  const double eta = format(a.pv_acc.dtype).eta();

  // T_n: what happens to the products alone
  auto theta = of_products(model, block.seen, of_v);
  if (merged)
    theta = both(theta, both(both(unit(*a.partial), a.exp_rel), growth(unit(a.pv_acc.dtype), 1 + a.final_roundings)));
  const auto theta_f32 = theta.to(at::kFloat);
  const auto cast = cast_error(a, most, block.sum);
  auto always = most.mul(theta_f32);  // by key, beside P's cast
  if (merged) always.add_(merged->of_key.mul(block.error.worst.exp()).mul_(theta_f32.add(1)));
  const auto tiny = most.sum(-1, true).mul_(of_v.eta).add_(sums.mul(eta * (1 + a.product_roundings)).div(block.sum));
  auto of_partials = at::zeros({}, at::kDouble);
  if (merged)
    of_partials = sums.add(a.final_roundings)
                      .mul_(eta)
                      .add_(format(*a.partial).eta())
                      .mul(theta_f32.add(1))
                      .mul(merged->of_key.sum(-1, true).add_(1));
  // T_s, the accumulators that depend on the order, and the row sum's own error
  const auto of_scores = deviation(at::maximum(w.grown, w.lost), values, out).div_(w.kept);
  const std::optional<Ordered> ordered =
      depends_on_order(a) ? std::optional(order_errors(model, p, w.grown, cast, v)) : std::nullopt;
  auto of_sum = sums.mul(-std::log1p(-unit(a.sum_acc))).expm1_().to(at::kFloat);
  if (merged) of_sum = of_sum.add(merged->common);

  // `spread`: six sigma of what is independent, `other`: the sum of the rest
  const auto finish = [&](const at::Tensor& of_keys, const at::Tensor& other, const at::Tensor& of_row_sum) {
    auto bound = at::bmm(of_keys, v.abs()).add_(tiny.mul(theta_f32.add(1))).div_(w.kept).add_(of_partials).add(other);
    bound.mul_(of_row_sum.add(1)).add_(size.mul(of_row_sum));
    const double final = both(both(growth(unit(a.pv_acc.dtype), a.final_roundings), a.unscaled ? unit(*a.unscaled) : 0),
                              a.carry == DType::F32 ? 0 : unit(a.carry));
    bound.add_(a.final_roundings * eta + (a.unscaled ? format(*a.unscaled).eta() : 0));
    bound.add_(size.add(bound).mul_(final));
    return bound.mul_(kInflation).masked_fill_(w.kept.eq(0), INFINITY);
  };
  const auto with_cast = a.row_sum_rounded ? always : always.add(cast.mul(theta_f32.add(1)));
  auto other = of_scores, of_row_sum = of_sum;
  if (ordered) {
    other = other.add(ordered->values.worst.div(w.kept));
    of_row_sum = of_row_sum.add(ordered->row_sum_worst);
  }
  Tiers tiers{finish(with_cast, other, of_row_sum), {}};
  if (!likely) return tiers;

  const LikelyScores scores = likely_scores(block, w, values, out);
  auto variance = scores.variance;
  auto usual =
      (scores.usual.defined() ? scores.usual : deviation(without_cast(model, block, w), values, out)).div(w.kept);
  if (unit(a.p) > 0x1p-20) {
    const auto spread = rounding_spread(a.row_sum_rounded ? cast_error(a, p, block.sum) : cast, p,
                                        format(a.p).precision(), values, a.row_sum_rounded ? out : at::Tensor());
    variance = variance.add(spread.mul(kRoundingSigma).square_());
  }
  of_row_sum = of_sum;
  if (ordered) {
    usual.add_(ordered->values.bias);
    variance = variance.add(ordered->values.variance);
    of_row_sum = of_row_sum.add(ordered->row_sum_likely);
  }
  usual.add_(variance.sqrt().mul_(kSigmas).div(w.kept));
  tiers.likely = at::minimum(tiers.worst, finish(always, usual, of_row_sum));
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
  const auto spread = p.mul(block.error.usual.exp()).mul_(six).square_().sum(-1, true).sqrt_();
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
