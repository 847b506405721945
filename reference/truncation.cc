#define TORCH_ASSERT_ONLY_METHOD_OPERATORS
#include "reference/truncation.h"

#include "reference/likely.h"

#include <ATen/ops/zeros.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace attest {
namespace {

constexpr double kNearest = 0.43 * 0.43;  // variance of a rounding to nearest, in units of (u |x|)^2

struct Units {
  double term, result;  // 2^-F, 2^-F'; the one is 0 where additions round to nearest (bound.cc counts those)
};
Units units(const Accumulator& a) {
  if (!a.truncates()) return {0, 0};
  return {std::ldexp(1.0, -a.fraction), std::ldexp(1.0, -std::min(a.fraction, 23))};
}

SumErrors zeros_of(at::IntArrayRef shape) {
  return {at::zeros(shape, at::kDouble), at::zeros(shape, at::kDouble), at::zeros(shape, at::kDouble)};
}

// Sums of one row, one lane a dim of V. All in units of the final maximum: rescaling changes neither ratios nor order.
struct Lanes {
  std::vector<double> sum, worst, bias, variance;  // of the sum so far
  std::vector<double> slack, likely_square;        // how much larger |sum| may be: worst, and the square of six sigma
  explicit Lanes(std::size_t n) : sum(n), worst(n), bias(n), variance(n), slack(n), likely_square(n) {}
  void clear() {
    for (auto* all : {&sum, &worst, &bias, &variance, &slack, &likely_square}) std::fill(all->begin(), all->end(), 0.0);
  }
};

// How large |sum| is at most, and how large at six sigma.
double most(const Lanes& l, std::size_t c) { return std::abs(l.sum[c]) + l.slack[c] + l.worst[c]; }
double likely(const Lanes& l, std::size_t c) {
  return std::abs(l.sum[c]) + std::sqrt(l.likely_square[c]) + l.bias[c] + 6 * std::sqrt(l.variance[c]);
}

struct Row {
  const float *p, *up, *v;  // [n], [n], [n, width]
  std::int64_t keys;
  std::size_t width;
  double alike;  // keys of equal weights in a group, on average: their terms are truncated alike
};

// Keys [begin, end) of one instruction.
void step(const Row& row, const Units& u, std::int64_t begin, std::int64_t end, Lanes& l) {
  std::vector<double> largest(row.width), usual(row.width), signs(row.width);
  for (std::size_t c = 0; c < row.width; ++c) {
    largest[c] = most(l, c);
    usual[c] = likely(l, c);
    signs[c] = l.sum[c] > 0 ? 1 : l.sum[c] < 0 ? -1 : 0;
  }
  int terms = 0;
  for (std::int64_t j = begin; j < end; ++j) {
    if (row.p[j] == 0 && row.up[j] == 0) continue;
    ++terms;
    const double p = row.p[j], up = row.up[j];
    const float* v = row.v + static_cast<std::size_t>(j) * row.width;
    for (std::size_t c = 0; c < row.width; ++c) {
      const double size = std::abs(static_cast<double>(v[c]));
      largest[c] = std::max(largest[c], (p + up) * size);
      usual[c] = std::max(usual[c], (p + up) * size);
      signs[c] += v[c] > 0 ? 1 : v[c] < 0 ? -1 : 0;
      l.sum[c] += p * v[c];
      l.slack[c] += up * size;
      l.likely_square[c] += up * size * up * size;
    }
  }
  if (terms == 0) return;
  for (std::size_t c = 0; c < row.width; ++c) {
    l.worst[c] += (terms + 1) * u.term * largest[c];
    l.worst[c] += u.result * most(l, c);
    const double after = likely(l, c);
    l.bias[c] += 0.5 * (u.term * usual[c] * std::abs(signs[c]) + u.result * after);
    const double rest = u.term * usual[c];
    l.variance[c] += (row.alike * (terms + 1) * rest * rest + u.result * after * u.result * after) / 12;
  }
}

// Between tiles the sum is rounded after its rescale and after the addition, the tile's part before it.
void carry(double u, const Lanes& of_tile, Lanes& l) {
  for (std::size_t c = 0; c < l.sum.size(); ++c) {
    const double before = most(l, c), usual = likely(l, c);
    const double part = most(of_tile, c), usual_part = likely(of_tile, c);
    l.sum[c] += of_tile.sum[c];
    l.slack[c] += of_tile.slack[c];
    l.likely_square[c] += of_tile.likely_square[c];
    l.worst[c] += of_tile.worst[c] + u * (before + part);
    l.bias[c] += of_tile.bias[c];
    l.variance[c] += of_tile.variance[c] + kNearest * u * u * (usual * usual + usual_part * usual_part);
    l.worst[c] += u * most(l, c);
    const double after = likely(l, c);
    l.variance[c] += kNearest * u * u * after * after;
  }
}

// One split: tiles [begin, end) in the declared order.
void add_split(const Row& row, const Arithmetic& a, std::int64_t begin, std::int64_t end, Lanes& l) {
  const Units u = units(a.pv_acc);
  const std::int64_t tile = a.tile > 0 ? a.tile : std::max<std::int64_t>(row.keys, 1);
  const std::int64_t each = a.pv_acc.truncates() ? a.pv_acc.step : tile;
  const bool apart = a.promoted || a.carry != DType::F32;
  // A binary32 addition of a promoted tile is among the roundings that bound.cc counts.
  const double carried = a.carry == DType::F32 ? 0 : format(a.carry).unit_roundoff();
  Lanes of_tile(row.width);
  if (a.order == TileOrder::Any) {  // any partial sum is possible, up to all terms of one sign
    for (std::int64_t j = begin * tile; j < std::min(end * tile, row.keys); ++j)
      for (std::size_t c = 0; c < row.width; ++c) {
        const double size = std::abs(static_cast<double>(row.v[static_cast<std::size_t>(j) * row.width + c]));
        l.slack[c] += (static_cast<double>(row.p[j]) + row.up[j]) * size;
      }
    for (std::size_t c = 0; c < row.width; ++c) l.likely_square[c] = l.slack[c] * l.slack[c];
  }
  for (std::int64_t i = 0; i < end - begin; ++i) {
    const std::int64_t index = a.order == TileOrder::Descending ? end - 1 - i : begin + i;
    const std::int64_t from = index * tile, to = std::min(from + tile, row.keys);
    if (std::all_of(row.up + from, row.up + to, [](float x) { return x == 0; }) &&
        std::all_of(row.p + from, row.p + to, [](float x) { return x == 0; }))
      continue;
    Lanes& sums = apart ? of_tile : l;
    if (apart) of_tile.clear();
    for (std::int64_t at = from; at < to; at += each) step(row, u, at, std::min(at + each, to), sums);
    if (apart) carry(carried, of_tile, l);
  }
}

}  // namespace

bool depends_on_order(const Arithmetic& a) { return a.pv_acc.truncates() || a.carry != DType::F32; }

SumErrors product_errors(const Accumulator& accumulator, const at::Tensor& q, const at::Tensor& k) {
  const std::int64_t heads = q.size(0), rows = q.size(1), keys = k.size(1), dim = q.size(2), each = accumulator.step;
  SumErrors errors = zeros_of({heads, rows, keys});
  const Units u = units(accumulator);
  const float *q_data = q.const_data_ptr<float>(), *k_data = k.const_data_ptr<float>();
  double *worst = errors.worst.mutable_data_ptr<double>(), *bias = errors.bias.mutable_data_ptr<double>(),
         *variance = errors.variance.mutable_data_ptr<double>();
  for (std::int64_t b = 0; b < heads; ++b)
    for (std::int64_t r = 0; r < rows; ++r)
      for (std::int64_t j = 0; j < keys; ++j, ++worst, ++bias, ++variance) {
        const float *x = q_data + (b * rows + r) * dim, *y = k_data + (b * keys + j) * dim;
        double sum = 0;
        for (std::int64_t from = 0; from < dim; from += each) {
          double largest = std::abs(sum), added = 0;
          int signs = sum > 0 ? 1 : sum < 0 ? -1 : 0, terms = sum != 0;
          for (std::int64_t i = from; i < std::min(from + each, dim); ++i) {
            const double product = static_cast<double>(x[i]) * y[i];
            largest = std::max(largest, std::abs(product));
            added += product;
            signs += (product > 0) - (product < 0);
            terms += product != 0;
          }
          if (terms == 0) continue;
          *worst += terms * u.term * (largest + *worst);
          sum += added;
          *worst += u.result * (std::abs(sum) + *worst);
          const double rest = u.term * largest, last = u.result * std::abs(sum);
          *bias += 0.5 * (rest * std::abs(signs) + last);
          *variance += (terms * rest * rest + last * last) / 12;
        }
      }
  return errors;
}

SumErrors value_errors(const ValueSum& sum) {
  const std::int64_t heads = sum.p.size(0), rows = sum.p.size(1), stride = sum.p.size(2), keys = sum.v.size(1),
                     width = sum.v.size(2);
  SumErrors errors = zeros_of({heads, rows, width});
  const std::int64_t tile = sum.arithmetic.tile > 0 ? sum.arithmetic.tile : std::max<std::int64_t>(keys, 1);
  const std::int64_t tiles = (keys + tile - 1) / tile, splits = std::max(sum.splits, 1),
                     each = (tiles + splits - 1) / splits;
  const at::Tensor alike = mean_group(sum.p.narrow(2, 0, keys), kAlike);
  Lanes l(static_cast<std::size_t>(width));
  for (std::int64_t b = 0; b < heads; ++b)
    for (std::int64_t r = 0; r < rows; ++r) {
      const std::int64_t at = (b * rows + r) * stride, to = (b * rows + r) * width;
      const Row row{sum.p.const_data_ptr<float>() + at,
                    sum.up.const_data_ptr<float>() + at,
                    sum.v.const_data_ptr<float>() + b * keys * width,
                    keys,
                    static_cast<std::size_t>(width),
                    alike.const_data_ptr<double>()[b * rows + r]};
      for (std::int64_t begin = 0; begin < tiles; begin += each) {
        l.clear();
        if (sum.start.defined() && begin == 0)
          std::fill(l.sum.begin(), l.sum.end(), sum.start.const_data_ptr<float>()[b * rows + r]);
        add_split(row, sum.arithmetic, begin, std::min(begin + each, tiles), l);
        for (std::int64_t c = 0; c < width; ++c) {
          const auto lane = static_cast<std::size_t>(c);
          errors.worst.mutable_data_ptr<double>()[to + c] += l.worst[lane];
          errors.bias.mutable_data_ptr<double>()[to + c] += l.bias[lane];
          errors.variance.mutable_data_ptr<double>()[to + c] += l.variance[lane];
        }
      }
    }
  return errors;
}

}  // namespace attest
