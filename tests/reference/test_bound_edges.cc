// The error bound where it has nothing to add up: exact casts, one-hot rows, rows without keys, kernels of which
// nothing can be promised; and that it is a number everywhere.
#include "tests/reference/held.h"

#include <gtest/gtest.h>

#include <fmt/format.h>

namespace attest {
namespace {

using D = DType;
using test::exact_arithmetic;
using test::make;

std::vector<double> bounds(const std::string& token, const Arithmetic& arithmetic) {
  const auto made = make(token);
  return attend(made.problem, made.call, arithmetic, {}).out.bound;
}

TEST(BoundEdges, IsAFiniteNumberForEveryProbe) {
  for (const char* probe : {"gauss", "peaky", "outlier", "select", "sentinel", "identity", "mass", "special"})
    for (const char* options : {"", "/sink=bf16", "/mask=window:3,0", "/scales=seq_head"}) {
      const std::string token = fmt::format(
          "prefill/test/q=bf16/kv=fp8_e5m2/h=4:2/d=32/page=8/seq=3x5,4x40,1x1,2x0{}/in={}#2", options, probe);
      const auto made = make(token);
      const Expected expected = attend(made.problem, made.call, {}, {});
      for (const auto* tensor : {&expected.out, &expected.lse})
        for (const double bound : tensor->bound) ASSERT_TRUE(bound >= 0 && bound < INFINITY) << token;
    }
}

TEST(BoundEdges, ACastIsExactWhereTheFormatHoldsTheOperandAndNoScaleComesFirst) {
  Arithmetic cast = exact_arithmetic();
  cast.q_cast = cast.k_cast = cast.v_cast = D::BF16;
  const std::string token = "decode/test/q=bf16/kv=fp8_e4m3/h=2:1/d=16/page=8/seq=1x20";
  for (const char* scales : {"", "/scales=unit"})
    EXPECT_EQ(bounds(token + scales + "#1", cast), bounds(token + scales + "#1", exact_arithmetic()));
  for (const char* scales : {"/scales=k_only", "/scales=v_only"}) {
    const auto wide = bounds(token + scales + "#1", cast), narrow = bounds(token + scales + "#1", exact_arithmetic());
    for (std::size_t i = 0; i < wide.size(); ++i) EXPECT_GT(wide[i], narrow[i]) << scales;
  }
}

TEST(BoundEdges, OneHotRowsMustBeBitwiseWhereTheOutputHoldsThem) {
  const auto exact = make("decode/test/q=bf16/kv=fp8_e4m3/h=2:1/d=64/page=8/seq=1x20/in=select#1");
  const Expected expected = attend(exact.problem, exact.call, {}, {});
  for (const double bound : expected.out.bound) EXPECT_LT(bound, 1e-42);
  // 0.71 v is no number of bf16: half a unit in the last place, and a little.
  const auto scaled = make("decode/test/q=bf16/kv=fp8_e4m3/h=2:1/d=64/page=8/seq=1x20/in=select/scales=v_only#1");
  const Expected rounded = attend(scaled.problem, scaled.call, {}, {});
  for (std::size_t i = 0; i < rounded.out.value.size(); ++i) {
    const double size = std::abs(rounded.out.value[i]);
    if (size == 0) continue;
    EXPECT_GE(rounded.out.bound[i], size * 0x1p-8);
    EXPECT_LE(rounded.out.bound[i], size * 0x1.01p-8);
  }
}

TEST(BoundEdges, ScoresStoredCoarselyLeaveOtherKeysAShare) {
  const auto made = make("decode/test/q=f32/kv=f32/h=2:1/d=64/page=8/seq=1x300/in=select#1");
  Arithmetic coarse;
  coarse.score = D::BF16;  // of scores near 470: two may err by 3.7 nats together
  const Expected fine = attend(made.problem, made.call, {}, {}), wide = attend(made.problem, made.call, coarse, {});
  EXPECT_GT(wide.out.bound[0], 10 * fine.out.bound[0]);
  EXPECT_LT(wide.out.bound[0], 1e-38);
}

TEST(BoundEdges, NothingIsPromisedWhereScoresMayErrByMuch) {
  Arithmetic bf16;
  bf16.qk_acc.dtype = D::BF16;
  int without = 0;
  for (const double bound : bounds("decode/test/q=f32/kv=f32/h=4:2/d=64/page=8/seq=1x40,1x9/in=outlier#1", bf16)) {
    EXPECT_FALSE(std::isnan(bound));
    without += bound == INFINITY;
  }
  EXPECT_GT(without, 0);
}

TEST(BoundEdges, WithoutKeysOnlyTheSinkIsLeft) {
  const auto made = make("decode/test/q=bf16/kv=bf16/h=2:1/d=8/page=8/seq=1x0,1x3/sink=f32#1");
  const Expected expected = attend(made.problem, made.call, {}, {});
  for (int head = 0; head < 2; ++head) {
    const double sink = made.call.view(Slot::Sinks).value({head});
    EXPECT_EQ(expected.lse.value[static_cast<std::size_t>(head)], sink);
    EXPECT_GE(expected.lse.bound[static_cast<std::size_t>(head)], std::abs(sink) * 0x1p-24);
    EXPECT_LE(expected.lse.bound[static_cast<std::size_t>(head)], std::abs(sink) * 0x1p-19 + 0x1p-21);
    for (int dim = 0; dim < 8; ++dim) EXPECT_EQ(expected.out.bound[expected.out.index(0, head, dim)], 0);
  }
}

TEST(BoundEdges, HiddenKeysCostNothing) {
  // The same keys are seen: a row's last four, of 4 or of 400.
  Arithmetic arithmetic;
  arithmetic.pv_acc.dtype = D::F16;
  const auto few = bounds("decode/test/q=f32/kv=f32/h=1:1/d=16/page=8/seq=1x4/in=mass#1", arithmetic);
  const auto many =
      bounds("decode/test/q=f32/kv=f32/h=1:1/d=16/page=8/seq=1x400/mask=window:3,0/in=mass#1", arithmetic);
  EXPECT_LT(many[0], 1.2 * few[0]);
}

}  // namespace
}  // namespace attest
