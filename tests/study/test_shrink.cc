// The search alone, against faults that are conditions on a case: what each needs must survive, all else must go.
#include <gtest/gtest.h>

#include "harness/study/shrink.h"
#include "harness/study/shrink_moves.h"

#include <algorithm>

namespace attest {
namespace {

const Case& large() {
  static const Case c = parse_token(
      "decode/liar/q=bf16/kv=fp8_e4m3/h=32:8/d=128/page=16/seq=8*1x4096/mask=window:1023,0/cap=30/scales=head/"
      "strides=padded/splits=4/poison=huge#3");
  return c;
}

Case smallest(const Case& c, const StillFails& still_fails) {
  const Shrunk shrunk = shrink(c, still_fails, {});
  EXPECT_FALSE(shrunk.out_of_time);
  for (const ShrinkStep& step : shrunk.steps) EXPECT_TRUE(still_fails(step.c)) << step.what;
  return shrunk.steps.empty() ? c : shrunk.steps.back().c;
}

int longest(const Case& c) { return std::ranges::max(c.seq, {}, &Sequence::len_kv).len_kv; }

TEST(Shrink, WhatAlwaysFailsBecomesTheSmallestCaseThereIs) {
  const Case c = smallest(large(), [](const Case&) { return true; });
  EXPECT_EQ(token(c), "decode/liar/q=bf16/kv=fp8_e4m3/h=1:1/d=8/page=8/seq=1x1#3");
}

TEST(Shrink, KeepsThePageEdgeThatTheFaultNeeds) {
  // One key more than full pages of 16.
  const Case c =
      smallest(large(), [](const Case& t) { return t.page == 16 && longest(t) > 16 && longest(t) % 16 <= 1; });
  EXPECT_EQ(longest(c), 17);
  EXPECT_EQ(c.seq.size(), 1U);
}

TEST(Shrink, ALengthNoLadderHoldsIsComeNearTo) {
  const Case c = smallest(large(), [](const Case& t) { return longest(t) >= 37; });
  EXPECT_GE(longest(c), 37);
  EXPECT_LE(longest(c), 48);
}

TEST(Shrink, TheWindowIsCutWithTheLengths) {
  const Case c = smallest(large(), [](const Case& t) {
    return t.mask.kind == Mask::Kind::Window && t.mask.left >= 0 && longest(t) > t.mask.left + 1;
  });
  EXPECT_LE(longest(c), 3);
  EXPECT_EQ(c.mask.left, 1);
}

TEST(Shrink, TwoSequencesThatTheFaultNeedsStay) {
  Case c = large();
  c.seq[2].len_kv = 77;
  c.seq[6].len_kv = 99;
  c = smallest(c, [](const Case& t) {
    const auto of = [&](int length) {
      return std::ranges::any_of(t.seq, [&](const Sequence& s) { return s.len_kv == length; });
    };
    return of(77) && of(99);
  });
  EXPECT_EQ(c.seq, (std::vector<Sequence>{{1, 77}, {1, 99}}));
}

TEST(Shrink, HeadsKeepTheirRatioUntilItCanGo) {
  const Case grouped = smallest(large(), [](const Case& t) { return t.group() == 4 && t.heads_kv >= 2; });
  EXPECT_EQ(grouped.heads_q, 8);
  EXPECT_EQ(grouped.heads_kv, 2);
}

TEST(Shrink, AnOptionThatTheFaultNeedsStaysAndOthersGo) {
  const Case c = smallest(large(), [](const Case& t) { return t.cap > 0 && t.scales != Scales::None; });
  EXPECT_EQ(token(c), "decode/liar/q=bf16/kv=fp8_e4m3/h=1:1/d=8/page=8/seq=1x1/cap=30/scales=odd#3");
}

TEST(Shrink, RowsShrinkWithTheirKeys) {
  const Case prefill = parse_token("prefill/liar/q=bf16/kv=auto/h=4:2/d=64/page=16/seq=128x512,64x64#3");
  const Case c = smallest(prefill, [](const Case& t) { return t.seq.front().len_q >= 3; });
  EXPECT_EQ(c.seq, (std::vector<Sequence>{{3, 3}}));
}

TEST(Shrink, StopsWhenItsTimeIsOver) {
  const Shrunk shrunk = shrink(large(), [](const Case&) { return true; }, {.budget = std::chrono::milliseconds(-1)});
  EXPECT_TRUE(shrunk.out_of_time);
  EXPECT_TRUE(shrunk.steps.empty());
}

TEST(Shrink, NoCandidateIsRunTwice) {
  std::vector<std::string> seen;
  shrink(large(), [&](const Case& t) { return seen.push_back(token(t)), longest(t) >= 5; }, {});
  std::ranges::sort(seen);
  EXPECT_TRUE(std::ranges::adjacent_find(seen) == seen.end());
}

TEST(Shrink, SameFailureIsOutcomeAndKind) {
  const Verdict numeric{.outcome = Outcome::Fail, .kind = FailKind::Numeric};
  EXPECT_TRUE(same_failure(numeric, numeric));
  EXPECT_FALSE(same_failure(numeric, {.outcome = Outcome::Fail, .kind = FailKind::Lse}));
  EXPECT_FALSE(same_failure(numeric, {.outcome = Outcome::Vacuous}));
}

}  // namespace
}  // namespace attest
