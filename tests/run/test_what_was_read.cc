// A wrong row of in=select says which key it came from, whatever scale it came with.
#include "harness/inputs/select_address.h"
#include "harness/run/what_was_read.h"
#include "tests/reference/problems.h"

#include <gtest/gtest.h>

#include <cmath>

namespace attest {
namespace {

// The output that a kernel leaves which reads, for the place, the key of another address under another head's scale.
class WhatWasRead : public ::testing::Test {
 protected:
  test::Made made_ =
      test::make("decode/test/q=bf16/kv=fp8_e4m3/h=6:3/d=64/page=16/seq=1x70,1x90/scales=head/in=select#5");
  ExpectedTensor right_{2, 6, 64};
  Place place_{.seq = 0, .head = 4, .row = 0, .dim = 0};  // KV head 2

  double scale(int head_kv) const { return made_.call.view(Slot::VScale).value({head_kv}); }

  std::optional<std::string> words(const SelectAddress& read, double scale_read) {
    std::vector<float> out(2 * 6 * 64);
    for (int dim = 0; dim < 64; ++dim) {
      const auto at = right_.index(0, 4, dim);
      right_.value[at] = select_digit({.position = 37, .head_kv = 2, .seq = 0, .seed = 5}, dim) * scale(2);
      out[static_cast<std::size_t>(4 * 64 + dim)] =
          static_cast<float>(round_to(DType::BF16, select_digit(read, dim) * scale_read));
    }
    const TensorView view{reinterpret_cast<std::byte*>(out.data()), DType::F32, {2, 6, 64}, {6 * 64, 64, 1}};
    return what_was_read(made_.problem, made_.call, right_, view, place_);
  }
};

TEST_F(WhatWasRead, NamesTheKey) {
  const std::string wanted = " instead of sequence 0, position 37, head 2";
  EXPECT_EQ(words({.position = 38, .head_kv = 2, .seq = 0, .seed = 5}, scale(2)),
            "read sequence 0, position 38, head 2" + wanted);
  EXPECT_EQ(words({.position = 37, .head_kv = 1, .seq = 1, .seed = 5}, scale(2)),
            "read sequence 1, position 37, head 1" + wanted);
  EXPECT_EQ(words({.position = 37, .head_kv = 1, .seq = 0, .seed = 5}, scale(1)),
            "read sequence 0, position 37, head 1" + wanted);
  EXPECT_EQ(words({.position = 12, .head_kv = 2, .seq = 0, .seed = 5}, 1),
            "read sequence 0, position 12, head 2" + wanted);
  EXPECT_EQ(words({.position = 37, .head_kv = 2, .seq = 0, .seed = 4}, scale(2)),
            "read of other inputs sequence 0, position 37, head 2" + wanted);
}

TEST_F(WhatWasRead, SaysNothingOfWhatIsNoAddress) {
  EXPECT_EQ(words({.position = 37, .head_kv = 2, .seq = 0, .seed = 5}, scale(2)), std::nullopt) << "it is right";
  EXPECT_EQ(words({.position = 37, .head_kv = 2, .seq = 0, .seed = 5}, 0.123 * scale(2)), std::nullopt);
  EXPECT_EQ(words({.position = 38, .head_kv = 2, .seq = 0, .seed = 5}, NAN), std::nullopt);
  EXPECT_EQ(words({.position = 38, .head_kv = 2, .seq = 0, .seed = 5}, 0), "the row holds zeros");
}

}  // namespace
}  // namespace attest
