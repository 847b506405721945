#define TORCH_ASSERT_ONLY_METHOD_OPERATORS
#include "reference/likely.h"

#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
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

// Keys whose weights lie within half a unit of a precision of the largest of them, in descending order.
struct Group {
  std::vector<double> sum, squares;  // of their errors, a lane each; of the sums of groups before
  double least = INFINITY, within;

  Group(std::size_t lanes, int precision) : sum(lanes), squares(lanes), within(1 - std::ldexp(1.0, -precision - 1)) {}
  void start() { std::fill(squares.begin(), squares.end(), 0.0); }
  void close() {
    for (std::size_t c = 0; c < sum.size(); ++c) squares[c] += sum[c] * sum[c];
    std::fill(sum.begin(), sum.end(), 0.0);
    least = INFINITY;
  }
  void enter(double weight) {
    if (weight >= least) return;
    close();
    least = weight * within;
  }
};

// A weight without the bits in which those that are alike may differ. Orders as the weights do.
std::uint32_t coarse(float weight) { return std::bit_cast<std::uint32_t>(weight) >> (23 - kAlike); }

}  // namespace

at::Tensor rounding_spread(const at::Tensor& e, const at::Tensor& p, const Likeness& like, const at::Tensor& values,
                           const at::Tensor& centre) {
  const Rows all(e, p, values, centre);
  auto spread = at::zeros({all.heads, all.rows, all.width}, at::kDouble);
  double* to = spread.mutable_data_ptr<double>();
  std::vector<std::int64_t> order;
  const std::int64_t tile = like.tile > 0 ? like.tile : 64;
  const auto width = static_cast<std::size_t>(all.width);
  Group near(width, like.precision), alike(width, kAlike), alike_in_tile(width, kAlike);
  for (std::int64_t b = 0; b < all.heads; ++b)
    for (std::int64_t r = 0; r < all.rows; ++r, to += all.width) {
      const float *errors = all.errors(b, r), *weights = all.weights(b, r);
      order.clear();
      for (std::int64_t j = 0; j < all.keys; ++j)
        if (errors[j] > 0) order.push_back(j);
      std::sort(order.begin(), order.end(), [&](std::int64_t x, std::int64_t y) {
        const std::uint32_t left = coarse(weights[x]), right = coarse(weights[y]);
        return left != right ? left > right : x < y;
      });
      std::int64_t last_tile = -1;
      for (Group* group : {&near, &alike, &alike_in_tile}) group->start();
      for (const std::int64_t j : order) {
        if (j / tile != last_tile) alike_in_tile.close();
        last_tile = j / tile;
        for (Group* group : {&near, &alike, &alike_in_tile}) group->enter(weights[j]);
        const double* v = all.value(b, j);
        for (std::size_t c = 0; c < width; ++c) {
          const double part = errors[j] * (v[c] - all.centre(b, r, static_cast<std::int64_t>(c)));
          near.sum[c] += part;
          alike.sum[c] += part;
          alike_in_tile.sum[c] += part;
        }
      }
      for (Group* group : {&near, &alike, &alike_in_tile}) group->close();
      for (std::size_t c = 0; c < width; ++c)
        to[c] = std::sqrt(near.squares[c] + std::max(alike.squares[c], alike_in_tile.squares[c]));
    }
  return spread;
}

at::Tensor mean_group(const at::Tensor& p, int precision) {
  const auto weights = p.contiguous();
  const std::int64_t rows = p.size(0) * p.size(1), keys = p.size(2);
  auto mean = at::ones({p.size(0), p.size(1), 1}, at::kDouble);
  const double step = std::ldexp(1.0, -precision - 1);
  std::vector<float> sorted;
  for (std::int64_t r = 0; r < rows; ++r) {
    const float* from = weights.const_data_ptr<float>() + r * keys;
    sorted.assign(from, from + keys);
    std::erase_if(sorted, [](float weight) { return !(weight > 0); });  // rows that see no key hold NaN
    std::sort(sorted.begin(), sorted.end(), std::greater<>());
    double squares = 0;
    for (std::size_t first = 0, last = 0; first < sorted.size(); first = last) {
      while (last < sorted.size() && sorted[last] >= sorted[first] * (1 - step)) ++last;
      squares += static_cast<double>((last - first) * (last - first));
    }
    if (!sorted.empty()) mean.mutable_data_ptr<double>()[r] = squares / static_cast<double>(sorted.size());
  }
  return mean;
}

}  // namespace attest
