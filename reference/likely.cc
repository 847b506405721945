#define TORCH_ASSERT_ONLY_METHOD_OPERATORS
#include "reference/likely.h"

#include <ATen/ops/zeros.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace attest {
namespace {

// Walks the rows of one spread.
struct Rows {
  at::Tensor e, p, v, o;
  std::int64_t heads, rows, keys, width;

  Rows(const at::Tensor& errors, const at::Tensor& weights, const at::Tensor& values, const at::Tensor& centre)
      : e(errors.contiguous()),
        p(weights.defined() ? weights.contiguous() : e),
        v(values.to(at::kDouble).contiguous()),
        o(centre.defined() ? centre.to(at::kDouble).contiguous() : at::Tensor()),
        heads(e.size(0)),
        rows(e.size(1)),
        keys(e.size(2)),
        width(v.size(2)) {}
  const float* errors(std::int64_t b, std::int64_t r) const {
    return e.const_data_ptr<float>() + (b * rows + r) * keys;
  }
  const float* weights(std::int64_t b, std::int64_t r) const {
    return p.const_data_ptr<float>() + (b * rows + r) * keys;
  }
  const double* value(std::int64_t b, std::int64_t j) const {
    return v.const_data_ptr<double>() + (b * keys + j) * width;
  }
  double centre(std::int64_t b, std::int64_t r, std::int64_t c) const {
    return o.defined() ? o.const_data_ptr<double>()[(b * rows + r) * width + c] : 0;
  }
};

}  // namespace

at::Tensor rounding_spread(const at::Tensor& e, const at::Tensor& p, int precision, const at::Tensor& values,
                           const at::Tensor& centre) {
  const Rows all(e, p, values, centre);
  auto spread = at::zeros({all.heads, all.rows, all.width}, at::kDouble);
  double* to = spread.mutable_data_ptr<double>();
  const double step = std::ldexp(1.0, -precision - 1);
  std::vector<std::int64_t> order;
  std::vector<double> together(static_cast<std::size_t>(all.width)), squares(together.size());
  for (std::int64_t b = 0; b < all.heads; ++b)
    for (std::int64_t r = 0; r < all.rows; ++r, to += all.width) {
      const float *errors = all.errors(b, r), *weights = all.weights(b, r);
      order.clear();
      for (std::int64_t j = 0; j < all.keys; ++j)
        if (errors[j] > 0) order.push_back(j);
      std::sort(order.begin(), order.end(), [&](std::int64_t x, std::int64_t y) { return weights[x] > weights[y]; });
      std::fill(squares.begin(), squares.end(), 0.0);
      for (std::size_t first = 0, last = 0; first < order.size(); first = last) {
        std::fill(together.begin(), together.end(), 0.0);
        const double least = weights[order[first]] * (1 - step);
        for (; last < order.size() && weights[order[last]] >= least; ++last) {
          const double* v = all.value(b, order[last]);
          const double error = errors[order[last]];
          for (std::int64_t c = 0; c < all.width; ++c) {
            const double part = error * (v[c] - all.centre(b, r, c));
            together[static_cast<std::size_t>(c)] += part;
            squares[static_cast<std::size_t>(c)] += part * part;
          }
        }
        for (std::size_t c = 0; c < together.size(); ++c) squares[c] += together[c] * together[c];
      }
      for (std::size_t c = 0; c < squares.size(); ++c) to[c] = std::sqrt(squares[c]);
    }
  return spread;
}

at::Tensor independent_spread(const at::Tensor& e, const at::Tensor& values, const at::Tensor& centre) {
  const Rows all(e, {}, values, centre);
  auto spread = at::zeros({all.heads, all.rows, all.width}, at::kDouble);
  double* to = spread.mutable_data_ptr<double>();
  for (std::int64_t b = 0; b < all.heads; ++b)
    for (std::int64_t r = 0; r < all.rows; ++r, to += all.width)
      for (std::int64_t j = 0; j < all.keys; ++j) {
        const double error = all.errors(b, r)[j];
        if (error == 0) continue;
        const double* v = all.value(b, j);
        for (std::int64_t c = 0; c < all.width; ++c) {
          const double part = error * (v[c] - all.centre(b, r, c));
          to[c] += part * part;
        }
      }
  return spread.sqrt_();
}

}  // namespace attest
