// The scalar form: what the operations are.
#include "backends/tile/exponential.h"
#include "backends/tile/ops.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

namespace attest::tile {
namespace {

constexpr int kNone = -100'000;

int exponent(float x) { return static_cast<int>(std::bit_cast<std::uint32_t>(x) >> 23 & 255) - 127; }
double power_of_two(int n) { return std::bit_cast<double>(static_cast<std::uint64_t>(n + 1023) << 52); }
float float_power_of_two(int n) { return std::bit_cast<float>(static_cast<std::uint32_t>(n + 127) << 23); }

// Toward zero, to `bits` fraction bits.
float truncate(double x, int bits) {
  return static_cast<float>(std::bit_cast<double>(std::bit_cast<std::uint64_t>(x) >> (52 - bits) << (52 - bits)));
}

// One instruction: products first..last-1 and the sum so far.
float matrix_step(const Product& p, int lane, int first, int last, float acc) {
  int largest = acc == 0 ? kNone : exponent(acc);
  bool finite = std::isfinite(acc);
  float plain = acc;
  for (int i = first; i < last; ++i) {
    const float a = p.a[i], b = p.b[i * p.stride + lane];
    plain += a * b;
    finite = finite && std::isfinite(a) && std::isfinite(b);
    if (a != 0 && b != 0) largest = std::max(largest, exponent(a) + exponent(b));
  }
  if (!finite) return plain;
  largest = std::max(largest, kLeastExponent);
  const double scale = power_of_two(p.how.fraction - largest);
  double sum = std::trunc(acc * scale);
  for (int i = first; i < last; ++i) sum += std::trunc(static_cast<double>(p.a[i]) * p.b[i * p.stride + lane] * scale);
  return truncate(sum * power_of_two(largest - p.how.fraction), std::min(p.how.fraction, 23));
}

void accumulate(const Product& p, float* acc) {
  for (int lane = 0; lane < p.lanes; ++lane) {
    if (p.how.fraction > 0) {
      for (int i = -p.skipped; i < p.count; i += p.how.step)
        acc[lane] = matrix_step(p, lane, std::max(i, 0), std::min(i + p.how.step, p.count), acc[lane]);
      continue;
    }
    for (int i = 0; i < p.count; ++i) {
      const float product = p.a[i] * p.b[i * p.stride + lane];
      acc[lane] = p.how.dtype == DType::F32
                      ? acc[lane] + product
                      : static_cast<float>(round_to(p.how.dtype, static_cast<double>(acc[lane]) + product));
    }
  }
}

template <std::size_t N>
float polynomial(const float (&coefficients)[N], float x) {
  float sum = coefficients[0];
  for (std::size_t i = 1; i < N; ++i) sum = sum * x + coefficients[i];
  return sum;
}

float exp_one(Exp kind, float x) {
  if (std::isnan(x)) return x;
  const float t = std::min(std::max(x, kLowest), kHighest), y = t * kLog2e;
  const float n = kind == Exp::Full ? std::floor(y + 0.5F) : std::floor(y);
  const float of_rest =
      kind == Exp::Full ? polynomial(kTaylor, (t - n * kLn2High) - n * kLn2Low) : polynomial(kCubic, y - n);
  const int half = static_cast<int>(n) >> 1;
  return of_rest * float_power_of_two(half) * float_power_of_two(static_cast<int>(n) - half);
}

void exp(Exp kind, const float* x, int count, float* to) {
  for (int i = 0; i < count; ++i) to[i] = exp_one(kind, x[i]);
}

// (1 - e^-2|x|) / (1 + e^-2|x|) with x's sign.
void tanh(Tanh kind, const float* x, int count, float* to) {
  for (int i = 0; i < count; ++i) {
    const float e = exp_one(Exp::Full, -2 * std::abs(x[i]));
    float t = (1 - e) / (1 + e);
    if (kind == Tanh::Approximate) t = std::bit_cast<float>(std::bit_cast<std::uint32_t>(t) & 0xFFFF'FF00U);
    to[i] = std::copysign(t, x[i]);
  }
}

}  // namespace

const Ops kScalar{accumulate, exp, tanh};

}  // namespace attest::tile
