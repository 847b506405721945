// How often a value is rounded on its way, and by how much: shared by the parts of the bound.
#pragma once

#include "reference/bound.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace attest {

constexpr double kInflation = 1 + 0x1p-10;  // of terms that are computed in binary32

inline double unit(DType dtype) { return format(dtype).unit_roundoff(); }
inline double growth(double u, double roundings) { return std::expm1(roundings * std::log1p(u)); }  // (1 + u)^k - 1
inline at::Tensor growth(double u, const at::Tensor& roundings) { return roundings.mul(std::log1p(u)).expm1_(); }

// (1 + x) (1 + y) - 1, exact where x and y are small.
inline double both(double x, double y) { return x + y + x * y; }
inline at::Tensor both(const at::Tensor& x, double y) { return x.mul(1 + y).add_(y); }

// Every finite value of `from` is one of `to`.
inline bool holds_exactly(DType from, DType to) {
  const FloatFormat &a = format(from), &b = format(to);
  return a.precision() <= b.precision() && a.max_value() <= b.max_value() && a.eta() >= b.eta();
}

// Below this, exp's result may be 0 or subnormal, and carries no relative accuracy.
inline double exp_floor(const Arithmetic& a) {
  return std::max(a.exp_floor, std::log(std::ldexp(1.0, 1 - format(a.sum_acc).bias)));
}

struct Cast {
  double unit = 0, eta = 0;
};
inline Cast cast_of(const std::optional<DType>& to, DType from, bool scaled) {
  if (!to || (!scaled && holds_exactly(from, *to))) return {};
  return {unit(*to), format(*to).eta()};
}

// R: rescales between the tiles that hold keys of the row, and one for a sink. A rescale by exp(0) is exact.
inline at::Tensor rescales(const BoundModel& model, const at::Tensor& seen) {
  const int tile = model.arithmetic.tile > 0 ? model.arithmetic.tile : std::max(model.len_kv, 1);
  const int tiles = (model.len_kv + tile - 1) / tile;
  return seen.sub(1).div_(tile).ceil_().clamp_(0, std::max(tiles - 1, 0)).add_(model.sink ? 1 : 0);
}

inline at::Tensor roundings_of_sums(const BoundModel& model, const at::Tensor& seen) {
  return rescales(model, seen).add_(seen).add_(model.sink ? 1 : 0);
}

}  // namespace attest
