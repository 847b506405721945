// The reference of RoPE against pairs turned by hand, and its bound against real arithmetic.
#include "reference/rope.h"
#include "tests/reference/problems.h"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include <cmath>

namespace attest {
namespace {

using test::Made;
using test::put;

// Dims hold 1, 2, 3, ... in q and 10 times that in k; every position turns by (0.6, 0.8), but position 2 by (0, 1).
Made numbered(const std::string& options) {
  Made made = test::make("rope/test/" + options + "#1");
  for (const Slot slot : {Slot::Q, Slot::KNew}) {
    const Dims shape = made.call.view(slot).shape;
    for (int t = 0; t < shape[0]; ++t)
      for (int h = 0; h < shape[1]; ++h)
        for (int d = 0; d < shape[2]; ++d) put(made.call, slot, {t, h, d}, (d + 1) * (slot == Slot::Q ? 1 : 10));
  }
  const int half = made.problem.rotary_dim / 2;
  for (int position = 0; position < made.call.view(Slot::CosSin).shape[0]; ++position)
    for (int i = 0; i < half; ++i) {
      put(made.call, Slot::CosSin, {position, i}, position == 2 ? 0 : 0.6);
      put(made.call, Slot::CosSin, {position, half + i}, position == 2 ? 1 : 0.8);
    }
  return made;
}

std::vector<double> row(const ExpectedTensor& tensor, int at, int head) {
  const auto first = tensor.value.begin() + static_cast<std::ptrdiff_t>(tensor.index(at, head, 0));
  return {first, first + tensor.dim};
}

TEST(Rope, NeoxTurnsHalves) {
  const auto made =
      numbered("q=f64/k=f32/h=1:1/d=4/seq=1x3");  // position 2: (x1, x2) -> (-x2, x1), pairs (1, 3) and (2, 4)
  const Expected got = rotate(made.problem, made.call, {});
  EXPECT_EQ(row(got.out, 0, 0), (std::vector<double>{-3, -4, 1, 2}));
  EXPECT_EQ(row(got.k_out, 0, 0), (std::vector<double>{-30, -40, 10, 20}));
}

TEST(Rope, InterleavedTurnsNeighbours) {
  const auto made = numbered("q=f64/h=1:1/d=4/style=interleaved/seq=1x3");  // pairs (1, 2) and (3, 4)
  EXPECT_EQ(row(rotate(made.problem, made.call, {}).out, 0, 0), (std::vector<double>{-2, 1, -4, 3}));
}

TEST(Rope, DimsBehindTheRotaryDimPass) {
  const auto made = numbered("q=f64/h=1:1/d=6/rot=2/seq=1x3");
  const Expected got = rotate(made.problem, made.call, {});
  EXPECT_EQ(row(got.out, 0, 0), (std::vector<double>{-2, 1, 3, 4, 5, 6}));
  for (int dim = 2; dim < 6; ++dim) EXPECT_EQ(got.out.bound[got.out.index(0, 0, dim)], 0);
}

TEST(Rope, PositionsAreBottomRightAndOffsetsAddToThem) {
  // 2x4: rows at positions 2 and 3. Offsets 0 and 1 put the row at 2 at 2, then at 3.
  auto made = numbered("q=f64/h=1:1/d=2/offsets=on/seq=2x4,1x2");
  const TensorView offsets = made.call.view(Slot::Offsets);
  const auto turned = [&](std::int64_t row_offset) {
    for (int token = 0; token < 3; ++token) std::memcpy(offsets.data + token * 8, &row_offset, 8);
    const Expected got = rotate(made.problem, made.call, {});
    return std::vector<std::vector<double>>{row(got.out, 0, 0), row(got.out, 1, 0), row(got.out, 2, 0)};
  };
  const std::vector<double> quarter{-2, 1};
  const double c = 0.6F, s = 0.8F;
  const std::vector<double> by_table{1 * c - 2 * s, 2 * c + 1 * s};
  EXPECT_EQ(turned(0), (std::vector<std::vector<double>>{quarter, by_table, by_table}));
  EXPECT_EQ(turned(1), (std::vector<std::vector<double>>{by_table, by_table, quarter}));  // 1x2 stands at position 1
}

TEST(Rope, EachTensorKeepsItsDtype) {
  const auto made = test::make("rope/test/q=f32/k=bf16/h=2:1/d=8/seq=3x5#1");
  const Expected got = rotate(made.problem, made.call, {});
  EXPECT_EQ(made.call.ref(Slot::QOut).dtype, DType::F32);
  EXPECT_EQ(made.call.ref(Slot::KOut).dtype, DType::BF16);
  // A result rounded to the other's format is outside its bound.
  int coarse = 0, fine = 0;
  for (std::size_t i = 0; i < got.out.value.size(); ++i)
    coarse += std::abs(round_to(DType::BF16, got.out.value[i]) - got.out.value[i]) > got.out.bound[i];
  for (std::size_t i = 0; i < got.k_out.value.size(); ++i)
    fine += std::abs(round_to(DType::BF16, got.k_out.value[i]) - got.k_out.value[i]) > got.k_out.bound[i];
  EXPECT_GT(coarse, 20);
  EXPECT_EQ(fine, 0);
}

// Cosine, sine, products and sums each rounded to `format`, the result to the tensor's dtype.
double largest_ratio(const std::string& options, DType format) {
  const auto made = test::make("rope/test/" + options + "#3");
  Arithmetic arithmetic;
  arithmetic.rope = format;
  const Expected right = rotate(made.problem, made.call, arithmetic);
  const auto in = [&](double x) { return round_to(format, x); };
  const TensorView table = made.call.view(Slot::CosSin), positions = made.call.view(Slot::Positions);
  double most = 0;
  for (const Slot slot : {Slot::Q, Slot::KNew}) {
    const TensorView x = made.call.view(slot);
    const ExpectedTensor& expected = slot == Slot::Q ? right.out : right.k_out;
    const int half = made.problem.dim / 2;
    for (int t = 0; t < x.shape[0]; ++t)
      for (int h = 0; h < x.shape[1]; ++h)
        for (int i = 0; i < half; ++i) {
          const auto position = positions.integer({t});
          const double x1 = x.value({t, h, i}), x2 = x.value({t, h, half + i}), c = in(table.value({position, i})),
                       s = in(table.value({position, half + i}));
          const double turned[]{in(in(x1 * c) - in(x2 * s)), in(in(x2 * c) + in(x1 * s))};
          for (int side = 0; side < 2; ++side) {
            const std::size_t at = expected.index(t, h, side * half + i);
            most = std::max(most, std::abs(round_to(x.dtype, turned[side]) - expected.value[at]) / expected.bound[at]);
          }
        }
  }
  return most;
}

TEST(Rope, RealArithmeticIsWithinTheBoundAndNearIt) {
  for (const auto& [options, format] : {std::pair{"q=f32/h=2:1/d=64/seq=40x60", DType::F32},
                                        {"q=bf16/k=f16/h=2:1/d=64/seq=40x60", DType::F32},
                                        {"q=bf16/h=2:1/d=64/seq=40x60", DType::BF16},
                                        {"q=f16/h=2:1/d=64/seq=40x60", DType::F16}}) {
    EXPECT_LE(largest_ratio(options, format), 1) << options;
    EXPECT_GE(largest_ratio(options, format), 0.4) << options;
  }
  // Turned in bf16, where f32 is declared.
  const auto made = test::make("rope/test/q=f32/h=2:1/d=64/seq=40x60#3");
  const Expected right = rotate(made.problem, made.call, {});
  EXPECT_GT(std::abs(round_to(DType::BF16, right.out.value[0]) - right.out.value[0]), right.out.bound[0]);
}

TEST(Rope, UnderflowInF16IsPartOfTheBound) {
  const auto made = test::make("rope/test/q=f16/h=1:1/d=2/seq=1x1#1");
  put(made.call, Slot::Q, {0, 0, 0}, 0x1p-14);
  put(made.call, Slot::Q, {0, 0, 1}, 0);
  put(made.call, Slot::CosSin, {0, 0}, 0x1.8p-11);
  Arithmetic f16;
  f16.rope = DType::F16;
  const Expected got = rotate(made.problem, made.call, f16);
  EXPECT_GE(got.out.bound[0], std::abs(round_to(DType::F16, 0x1.8p-25) - 0x1.8p-25));  // rounds to 2^-24
}

}  // namespace
}  // namespace attest
