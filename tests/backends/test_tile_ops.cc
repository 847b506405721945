// The engine's inner operations: both forms give the same bits, and those are what is declared.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include "backends/tile/ops.h"

namespace attest::tile {
namespace {

using Random = std::mt19937_64;

// Numbers of a narrow format, spread over `octaves`, some of them 0.
std::vector<float> numbers(Random& random, DType dtype, int count, int octaves) {
  std::vector<float> all;
  std::normal_distribution<double> normal;
  for (int i = 0; i < count; ++i) {
    const double size =
        std::ldexp(normal(random), static_cast<int>(random() % static_cast<unsigned>(octaves)) - octaves / 2);
    all.push_back(random() % 9 == 0 ? 0 : static_cast<float>(round_to(dtype, size, Overflow::Saturate)));
  }
  return all;
}

TEST(TileOps, BothFormsAddTheSameBits) {
  Random random(1);
  for (const Accumulator how : {Accumulator{}, Accumulator{DType::F32, 25, 16}, Accumulator{DType::F32, 13, 32},
                                Accumulator{DType::F32, 9, 32}, Accumulator{DType::BF16}, Accumulator{DType::F16}})
    for (int round = 0; round < 40; ++round) {
      const int count = 1 + static_cast<int>(random() % 150), lanes = 1 + static_cast<int>(random() % 150),
                stride = lanes + static_cast<int>(random() % 9);
      const DType dtype = round % 2 ? DType::BF16 : DType::E4M3FN;
      const auto a = numbers(random, dtype, count, 1 + round), b = numbers(random, dtype, count * stride, 1 + round);
      auto scalar = numbers(random, DType::F32, lanes, 8), vector = scalar;
      if (round == 39) const_cast<float&>(b[static_cast<std::size_t>(count / 2 * stride)]) = NAN;
      const Product product{a.data(), b.data(), stride, count, lanes, round % 7, how};
      kScalar.accumulate(product, scalar.data());
      kVector.accumulate(product, vector.data());
      ASSERT_EQ(std::memcmp(scalar.data(), vector.data(), scalar.size() * sizeof(float)), 0)
          << how.fraction << " " << round;
    }
}

// By hand: 1 + 3 * 2^-13 + (2^-13 + 2^-14) on 13 bits loses the half that lies below, and each product's own rest.
TEST(TileOps, AMatrixInstructionTruncates) {
  const std::vector<float> a{1, 3, 1, -1}, b{1, 0x1p-13F, 0x1.8p-13F, 0x1.8p-13F};
  float acc = 0;
  kScalar.accumulate({a.data(), b.data(), 1, 3, 1, 0, {DType::F32, 13, 32}}, &acc);
  EXPECT_EQ(acc, 1 + 4 * 0x1p-13F);
  acc = 0;
  kScalar.accumulate({a.data(), b.data(), 1, 4, 1, 0, {DType::F32, 13, 32}}, &acc);
  EXPECT_EQ(acc, 1 + 3 * 0x1p-13F) << "toward zero, whatever the sign";
  acc = 0;  // two instructions: the sum so far is a term of the second
  kScalar.accumulate({a.data(), b.data(), 1, 3, 1, 0, {DType::F32, 13, 2}}, &acc);
  EXPECT_EQ(acc, 1 + 4 * 0x1p-13F);
  acc = 0;
  kScalar.accumulate({a.data(), b.data(), 1, 3, 1, 0, {DType::F32, 25, 16}}, &acc);
  EXPECT_EQ(acc, 1 + 4.5F * 0x1p-13F);
}

void expect_exp(Exp kind, double within, float least) {
  std::vector<float> x, scalar, vector;
  float at = 0;
  double worst = 0;
  const auto flush = [&] {
    scalar.resize(x.size());
    vector.resize(x.size());
    kScalar.exp(kind, x.data(), static_cast<int>(x.size()), scalar.data());
    kVector.exp(kind, x.data(), static_cast<int>(x.size()), vector.data());
    ASSERT_EQ(std::memcmp(scalar.data(), vector.data(), x.size() * sizeof(float)), 0);
    for (std::size_t i = 0; i < x.size(); ++i)
      if (x[i] > least) worst = std::max(worst, std::abs(vector[i] / std::exp(static_cast<double>(x[i])) - 1));
    x.clear();
  };
  // Every 61st float from -2^-30 to -106.
  for (std::uint32_t code = std::bit_cast<std::uint32_t>(0x1p-30F); at > -106; code += 61) {
    at = -std::bit_cast<float>(code);
    x.push_back(at);
    if (x.size() == 100'000) flush();
  }
  flush();
  EXPECT_LT(worst, within);
  EXPECT_GT(worst, within / 2) << "what is declared is not more than it needs";
}

TEST(TileOps, ExpIsAsGoodAsDeclared) {
  expect_exp(Exp::Full, 1.1e-7, -87);
  expect_exp(Exp::Cubic, 1e-4, -87);
  for (const Ops* ops : {&kScalar, &kVector}) {
    const std::vector<float> x{0, -INFINITY, -104.5F, -103.9F, NAN, 1, INFINITY};
    std::vector<float> y(x.size());
    ops->exp(Exp::Full, x.data(), 7, y.data());
    EXPECT_EQ(y[0], 1);
    EXPECT_EQ(y[1], 0);
    EXPECT_EQ(y[2], 0);
    EXPECT_EQ(y[3], 0x1p-149F);
    EXPECT_TRUE(std::isnan(y[4]));
    EXPECT_NEAR(y[5], std::exp(1.0), 4e-7);
    EXPECT_EQ(y[6], INFINITY);
    ops->exp(Exp::Cubic, x.data(), 1, y.data());
    EXPECT_EQ(y[0], 1);
  }
}

TEST(TileOps, TanhIsAsGoodAsDeclared) {
  std::vector<float> x, full, approximate, scalar;
  for (float at = -12; at < 12; at += 0.0001F) x.push_back(at);
  full = approximate = scalar = x;
  const int count = static_cast<int>(x.size());
  kVector.tanh(Tanh::Full, x.data(), count, full.data());
  kScalar.tanh(Tanh::Full, x.data(), count, scalar.data());
  EXPECT_EQ(std::memcmp(scalar.data(), full.data(), full.size() * sizeof(float)), 0);
  kVector.tanh(Tanh::Approximate, x.data(), count, approximate.data());
  double worst = 0, worst_approximate = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    worst = std::max(worst, std::abs(full[i] - std::tanh(static_cast<double>(x[i]))));
    worst_approximate = std::max(worst_approximate, std::abs(approximate[i] - std::tanh(static_cast<double>(x[i]))));
  }
  EXPECT_LT(worst, 1e-7);
  EXPECT_LT(worst_approximate, 1.6e-5);
  EXPECT_GT(worst_approximate, 5e-6);
}

}  // namespace
}  // namespace attest::tile
