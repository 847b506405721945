// The tensors of a rope call: rotations that are rotations, positions of the tokens, a table that holds all of them,
// and outputs that each have their input's dtype.
#include "tests/reference/problems.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

namespace attest {
namespace {

TEST(RopeInputs, RotationsLieOnTheCircle) {
  const auto made = test::make("rope/test/q=bf16/h=2:1/d=64/rot=32/offsets=on/seq=3x40,5x90#1");
  const TensorView table = made.call.view(Slot::CosSin);
  ASSERT_EQ(table.shape, (Dims{94, 32}));  // 90 positions and offsets up to 3 beyond
  std::set<double> cosines;
  int left = 0, below = 0;
  for (int position = 0; position < 94; ++position)
    for (int i = 0; i < 16; ++i) {
      const double c = table.value({position, i}), s = table.value({position, 16 + i});
      ASSERT_NEAR(c * c + s * s, 1, 0x1p-23);
      cosines.insert(c);
      left += c < 0;
      below += s < 0;
    }
  EXPECT_GT(cosines.size(), 94U * 16U * 9 / 10);  // positions and pairs turn differently
  EXPECT_GT(left, 300);
  EXPECT_GT(below, 600);
}

TEST(RopeInputs, PositionsFollowTheLengthsAndOffsetsStayInTheTable) {
  const auto made = test::make("rope/test/q=bf16/h=2:1/d=8/offsets=on/seq=3x40,1x1,5x90#1");
  const std::int64_t wanted[]{37, 38, 39, 0, 85, 86, 87, 88, 89};
  std::set<std::int64_t> offsets;
  for (int token = 0; token < 9; ++token) {
    EXPECT_EQ(made.call.view(Slot::Positions).integer({token}), wanted[token]);
    const auto offset = made.call.view(Slot::Offsets).integer({token});
    EXPECT_GE(offset, 0);
    EXPECT_LT(wanted[token] + offset, made.call.view(Slot::CosSin).shape[0]);
    offsets.insert(offset);
  }
  EXPECT_GT(offsets.size(), 1U);
  EXPECT_FALSE(test::make("rope/test/q=bf16/h=2:1/d=8/seq=3x40#1").call.has(Slot::Offsets));
}

TEST(RopeInputs, EachOutputHasItsInputsDtypeAndShape) {
  const auto made = test::make("rope/test/q=f32/k=fp8_e4m3/h=6:2/d=8/seq=3x40#1");
  for (const auto& [in, out] : {std::pair{Slot::Q, Slot::QOut}, {Slot::KNew, Slot::KOut}}) {
    EXPECT_EQ(made.call.ref(in).dtype, made.call.ref(out).dtype);
    EXPECT_EQ(made.call.ref(in).shape, made.call.ref(out).shape);
    EXPECT_NE(made.call.ref(in).storage, made.call.ref(out).storage);
  }
  EXPECT_EQ(made.call.ref(Slot::Q).dtype, DType::F32);
  EXPECT_EQ(made.call.ref(Slot::KNew).dtype, DType::E4M3FN);
}

}  // namespace
}  // namespace attest
