// The vector form, with Eigen over the lanes. Every operation rounds where the scalar form's does.
#include "backends/tile/exponential.h"
#include "backends/tile/ops.h"

#include <Eigen/Core>

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace attest::tile {
namespace {

constexpr int kChunk = 64;  // lanes at once
constexpr int kNone = -100'000;

template <typename Scalar>
using Lanes = Eigen::Array<Scalar, Eigen::Dynamic, 1, 0, kChunk, 1>;
using Floats = Lanes<float>;
using Ints = Lanes<std::int32_t>;
using Doubles = Lanes<double>;
using Longs = Lanes<std::int64_t>;
using In = Eigen::Map<const Eigen::ArrayXf>;
using Out = Eigen::Map<Eigen::ArrayXf>;

Ints bits(const float* x, int count) {
  Ints all(count);
  std::memcpy(all.data(), x, static_cast<std::size_t>(count) * sizeof *x);
  return all;
}
Ints exponents(const float* x, int count) {
  return bits(x, count).unaryExpr([](std::int32_t code) { return (code >> 23 & 255) - 127; });
}
Floats powers_of_two(const Ints& n) {
  const Ints code = n.unaryExpr([](std::int32_t of) { return (of + 127) << 23; });
  Floats all(n.size());
  std::memcpy(all.data(), code.data(), static_cast<std::size_t>(n.size()) * sizeof(float));
  return all;
}
Doubles wide_powers_of_two(const Ints& n) {
  const Longs code = n.unaryExpr([](std::int32_t of) { return static_cast<std::int64_t>(of + 1023) << 52; });
  Doubles all(n.size());
  std::memcpy(all.data(), code.data(), static_cast<std::size_t>(n.size()) * sizeof(double));
  return all;
}
Floats truncated(const Doubles& x, int fraction) {
  Longs code(x.size());
  std::memcpy(code.data(), x.data(), static_cast<std::size_t>(x.size()) * sizeof(double));
  const auto mask = static_cast<std::int64_t>(~std::uint64_t{0} << (52 - fraction));
  code = code.unaryExpr([mask](std::int64_t of) { return of & mask; });
  Doubles all(x.size());
  std::memcpy(all.data(), code.data(), static_cast<std::size_t>(x.size()) * sizeof(double));
  return all.cast<float>();
}

// As ops_scalar.cc's matrix_step(), which also takes the steps that hold NaN or Inf.
void matrix_step(const Product& p, int first, int last, float* acc) {
  const In sum_so_far(acc, p.lanes);
  Ints largest = (sum_so_far == 0).select(kNone, exponents(acc, p.lanes));
  std::int32_t most = exponents(acc, p.lanes).maxCoeff();
  for (int i = first; i < last; ++i) {
    if (p.a[i] == 0 && most < 128) {
      most = std::max(most, exponents(p.b + i * p.stride, p.lanes).maxCoeff());
      continue;
    }
    const std::int32_t of_a = exponents(p.a + i, 1)[0];
    const Ints of_b = exponents(p.b + i * p.stride, p.lanes);
    most = std::max({most, of_a, of_b.maxCoeff()});
    largest = largest.max((In(p.b + i * p.stride, p.lanes) == 0).select(kNone, of_b + of_a));
  }
  if (most == 128) {
    Product one = p;
    one.a += first, one.b += first * p.stride, one.count = last - first, one.skipped = 0;
    return kScalar.accumulate(one, acc);
  }
  largest = largest.max(kLeastExponent);
  const Doubles scale = wide_powers_of_two(p.how.fraction - largest);
  Doubles sum = (sum_so_far.cast<double>() * scale).cast<std::int32_t>().cast<double>();
  for (int i = first; i < last; ++i) {
    const double a = p.a[i];
    sum += (a * In(p.b + i * p.stride, p.lanes).cast<double>() * scale).cast<std::int32_t>().cast<double>();
  }
  Out(acc, p.lanes) = truncated(sum * wide_powers_of_two(largest - p.how.fraction), std::min(p.how.fraction, 23));
}

void accumulate_chunk(const Product& p, float* acc) {
  if (p.how.fraction > 0) {
    for (int i = -p.skipped; i < p.count; i += p.how.step)
      matrix_step(p, std::max(i, 0), std::min(i + p.how.step, p.count), acc);
  } else if (p.how.dtype == DType::F32) {
    Out sum(acc, p.lanes);
    for (int i = 0; i < p.count; ++i) sum += p.a[i] * In(p.b + i * p.stride, p.lanes);
  } else {
    kScalar.accumulate(p, acc);  // narrow accumulators are rare
  }
}

void accumulate(const Product& p, float* acc) {
  for (int lane = 0; lane < p.lanes; lane += kChunk) {
    Product chunk = p;
    chunk.b += lane;
    chunk.lanes = std::min(kChunk, p.lanes - lane);
    accumulate_chunk(chunk, acc + lane);
  }
}

template <std::size_t N>
Floats polynomial(const float (&coefficients)[N], const Floats& x) {
  Floats sum = Floats::Constant(x.size(), coefficients[0]);
  for (std::size_t i = 1; i < N; ++i) sum = sum * x + coefficients[i];
  return sum;
}

Floats exp_chunk(Exp kind, const Floats& x) {
  const Floats t = x.isNaN().select(0.0F, x.max(kLowest).min(kHighest)), y = t * kLog2e;
  const Floats n = kind == Exp::Full ? Floats((y + 0.5F).floor()) : Floats(y.floor());
  const Floats rest = kind == Exp::Full ? Floats((t - n * kLn2High) - n * kLn2Low) : Floats(y - n);
  const Floats of_rest = kind == Exp::Full ? polynomial(kTaylor, rest) : polynomial(kCubic, rest);
  const Ints whole = n.cast<std::int32_t>(), half = whole.unaryExpr([](std::int32_t of) { return of >> 1; });
  const Floats result = of_rest * powers_of_two(half) * powers_of_two(whole - half);
  return x.isNaN().select(x, result);
}

void exp(Exp kind, const float* x, int count, float* to) {
  for (int i = 0; i < count; i += kChunk) {
    const int lanes = std::min(kChunk, count - i);
    Out(to + i, lanes) = exp_chunk(kind, In(x + i, lanes));
  }
}

void tanh(Tanh kind, const float* x, int count, float* to) {
  for (int i = 0; i < count; i += kChunk) {
    const int lanes = std::min(kChunk, count - i);
    const Floats given = In(x + i, lanes), e = exp_chunk(Exp::Full, -2 * given.abs());
    Floats t = (1 - e) / (1 + e);
    if (kind == Tanh::Approximate) {
      const Ints code = bits(t.data(), lanes).unaryExpr([](std::int32_t of) { return of & ~255; });
      std::memcpy(t.data(), code.data(), static_cast<std::size_t>(lanes) * sizeof(float));
    }
    for (int lane = 0; lane < lanes; ++lane) to[i + lane] = std::copysign(t[lane], given[lane]);
  }
}

}  // namespace

const Ops kVector{accumulate, exp, tanh};

}  // namespace attest::tile
