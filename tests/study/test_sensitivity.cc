// How small a fault is still seen: near the output's rounding where the kernel is exact, and nothing where nothing is.
#include <gtest/gtest.h>

#include "harness/study/selftest/sensitivity.h"
#include "tests/study/subjects.h"

namespace attest {
namespace {

using test::liar;
using test::subject;

HealthyCase measured(const Subject& s) {
  HealthyCase healthy;
  measure_sensitivity(s, liar(), healthy);
  return healthy;
}

TEST(Sensitivity, GainsNearTheOutputsRoundingAreSeen) {
  const double u = format(DType::BF16).unit_roundoff();
  const auto bf16 = measured(subject("decode/liar/q=bf16/kv=auto/h=4:2/d=64/page=16/seq=1x15,1x70#3"));
  ASSERT_TRUE(bf16.gain);
  EXPECT_GT(*bf16.gain, u / 8);
  EXPECT_LT(*bf16.gain, 4 * u);
  EXPECT_EQ(bf16.longest, 70);
  const auto f16 = measured(subject("decode/liar/q=f16/kv=auto/h=4:2/d=64/page=16/seq=1x15,1x70#3"));
  ASSERT_TRUE(f16.gain);
  EXPECT_LT(*f16.gain, *bf16.gain / 4) << "f16 rounds eight times finer";
}

TEST(Sensitivity, OneWrongKeyIsSeenByAnExactKernel) {
  EXPECT_EQ(measured(subject("decode/liar/q=f32/kv=auto/h=4:2/d=64/page=16/seq=1x15,1x70#3")).keys, 1);
}

TEST(Sensitivity, ALooserBoundSeesLess) {
  Subject s = subject("decode/liar/q=bf16/kv=auto/h=4:2/d=64/page=16/seq=1x15,1x70#3");
  const double tight = measured(s).gain.value();
  for (double& bound : s.right.values.out.bound) bound *= 16;
  for (double& bound : s.right.values.out.likely) bound *= 16;
  EXPECT_GT(measured(s).gain.value(), 4 * tight);
  for (double& bound : s.right.values.out.bound) bound = 1e30;
  for (double& bound : s.right.values.out.likely) bound = 1e30;
  for (double& bound : s.right.values.lse.bound) bound = 1e30;
  EXPECT_FALSE(measured(s).gain);
  EXPECT_FALSE(measured(s).keys);
}

TEST(Sensitivity, TheSameCaseGivesTheSameAnswer) {
  const Subject s = subject("decode/liar/q=bf16/kv=auto/h=4:2/d=64/page=16/seq=1x15,1x70#3");
  const HealthyCase twice[]{measured(s), measured(s)};
  EXPECT_EQ(twice[0].gain, twice[1].gain);
  EXPECT_EQ(twice[0].keys, twice[1].keys);
}

TEST(Sensitivity, AGainLeavesInfinityAsItIs) {
  const auto special = measured(subject("decode/liar/q=bf16/kv=auto/h=6:2/d=32/page=16/seq=1x15,1x33/in=special#3"));
  ASSERT_TRUE(special.gain);
  EXPECT_GT(*special.gain, format(DType::BF16).unit_roundoff() / 8);
}

TEST(Sensitivity, WritesAreNotMeasured) {
  EXPECT_FALSE(measured(subject("mixed/liar/q=bf16/kv=auto/h=6:2/d=32/page=16/seq=5x15,3x70#3")).gain);
}

}  // namespace
}  // namespace attest
