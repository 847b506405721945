// A failing case of 8 sequences of 4,096 keys comes down to at most 2 sequences of 64 keys in under 30 s, and the token
// that comes out fails in the same way; a case that does not fail is a usage error.
#include "tests/cli/command.h"

#include "harness/study/shrink.h"

#include <algorithm>
#include <chrono>
#include <sstream>

namespace attest {
namespace {

class ShrinkLiar : public test::Cli {
 protected:
  static std::string last_line(const std::string& text) {
    std::stringstream lines(text);
    std::string line, last;
    while (std::getline(lines, line)) last = line;
    return last;
  }

  void shrinks(const std::string& options, const std::string& fault, const std::string& says) const {
    const std::string large =
        "decode/liar/q=bf16/kv=fp8_e4m3/h=8:2/d=128/page=16/seq=8*1x4096/" + options + "/fault=" + fault + "#3";
    const auto begin = std::chrono::steady_clock::now();
    const test::Ran shrunk = run("shrink '" + large + "'");
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(30)) << fault;
    ASSERT_EQ(shrunk.exit_code, 0) << shrunk.output;
    const std::string small = last_line(shrunk.output);
    const Case c = parse_token(small);
    EXPECT_LE(c.seq.size(), 2U) << small;
    EXPECT_LE(std::ranges::max(c.seq, {}, &Sequence::len_kv).len_kv, 64) << small;
    EXPECT_EQ(c.fault, fault);
    const test::Ran again = run("run --timeout-case 1 '" + small + "'");
    EXPECT_EQ(again.exit_code, 1);
    EXPECT_TRUE(again.says(says)) << again.output;
  }
};

TEST_F(ShrinkLiar, DroppedScale) { shrinks("scales=odd", "dropped_k_scale", "FAIL(numeric)"); }
TEST_F(ShrinkLiar, Mask) { shrinks("mask=window:1023,0", "mask_off_by_one", "FAIL(numeric)"); }
TEST_F(ShrinkLiar, Heads) { shrinks("scales=head", "swapped_heads", "FAIL(numeric)"); }
TEST_F(ShrinkLiar, FrozenLength) { shrinks("plan=reused", "frozen_length", "FAIL(numeric)"); }
TEST_F(ShrinkLiar, Lse) { shrinks("cap=30", "lse_base_2", "FAIL(lse)"); }
TEST_F(ShrinkLiar, Guard) { shrinks("scales=odd", "writes_past_end", "FAIL(guard)"); }
TEST_F(ShrinkLiar, Nondeterministic) { shrinks("scales=odd", "drifting", "FAIL(nondeterministic)"); }
TEST_F(ShrinkLiar, Crash) { shrinks("scales=odd", "crash", "CRASH"); }
TEST_F(ShrinkLiar, Hang) { shrinks("scales=odd", "hang", "TIMEOUT"); }

TEST_F(ShrinkLiar, ACaseThatPassesIsAUsageError) {
  const test::Ran ran = run("shrink " + test::kHealthy);
  EXPECT_EQ(ran.exit_code, 2);
  EXPECT_TRUE(ran.says("does not fail")) << ran.output;
}

}  // namespace
}  // namespace attest
