// Which scales each kind hands over, of what shape, and that they can be told apart.
#include "harness/inputs/scales.h"
#include "tests/reference/problems.h"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include <cmath>
#include <set>

namespace attest {
namespace {

Problem problem(const char* q, const char* scales) {
  return make_problem(parse_token(fmt::format(
                          "decode/test/q={}/kv=fp8_e4m3/h=16:8/d=8/page=16/seq=1x5,1x6,1x7/scales={}#1", q, scales)),
                      test::open_contract());
}

bool power_of_two(float x) {
  int exponent = 0;
  return std::frexp(x, &exponent) == 0.5F;
}

TEST(Scales, PresentAndShapedAsTheirKindSays) {
  struct Wanted {
    const char* kind;
    bool k, v, q;  // q of an FP8 q
    Dims shape;
  };
  for (const Wanted& wanted : {Wanted{"none", false, false, false, {}},
                               {"k_only", true, false, false, {1}},
                               {"v_only", false, true, false, {1}},
                               {"unit", true, true, true, {1}},
                               {"odd", true, true, true, {1}},
                               {"head", true, true, true, {8}},
                               {"seq_head", true, true, true, {3, 8}}})
    for (const char* q : {"bf16", "fp8_e4m3"}) {
      const auto scales = make_scales(problem(q, wanted.kind), 1);
      EXPECT_EQ(scales.k.present, wanted.k) << wanted.kind;
      EXPECT_EQ(scales.v.present, wanted.v) << wanted.kind;
      EXPECT_EQ(scales.q.present, wanted.q && std::string(q) == "fp8_e4m3") << wanted.kind;
      for (const ScaleSet* set : {&scales.q, &scales.k, &scales.v}) {
        if (!set->present) {
          EXPECT_EQ(set->at(2, 7), 1);
          continue;
        }
        EXPECT_EQ(set->shape, wanted.shape) << wanted.kind;
        EXPECT_EQ(static_cast<std::int64_t>(set->values.size()), element_count(wanted.shape));
        for (const float value : set->values)
          EXPECT_EQ(power_of_two(value), std::string(wanted.kind) == "unit") << wanted.kind;
      }
    }
}

TEST(Scales, AreFoundBySequenceAndHead) {
  const auto both = make_scales(problem("bf16", "seq_head"), 1);
  EXPECT_EQ(both.k.at(2, 5), both.k.values[2 * 8 + 5]);
  const auto by_head = make_scales(problem("bf16", "head"), 1);
  EXPECT_EQ(by_head.k.at(2, 5), by_head.k.values[5]);
  const auto one = make_scales(problem("bf16", "odd"), 1);
  EXPECT_EQ(one.k.at(2, 5), 0.37F);
  EXPECT_EQ(one.v.at(2, 5), 0.71F);
}

TEST(Scales, NoTwoAreAlike) {
  for (const char* kind : {"odd", "head", "seq_head"})
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
      const auto scales = make_scales(problem("fp8_e4m3", kind), seed);
      std::multiset<float> all;
      for (const ScaleSet* set : {&scales.q, &scales.k, &scales.v}) all.insert(set->values.begin(), set->values.end());
      EXPECT_EQ(std::set<float>(all.begin(), all.end()).size(), all.size()) << kind << " seed " << seed;
      for (const float value : all) EXPECT_TRUE(value >= 0.29F && value <= 1.91F);
    }
}

TEST(Scales, AreTheTensorsOfTheCall) {
  const auto made = test::make("decode/test/q=fp8_e4m3/kv=fp8_e4m3/h=4:2/d=8/page=16/seq=1x5,1x6/scales=seq_head#9");
  const auto scales = make_scales(made.problem, 9);
  for (const auto& [slot, set] :
       {std::pair{Slot::QScale, &scales.q}, {Slot::KScale, &scales.k}, {Slot::VScale, &scales.v}})
    for (int seq = 0; seq < 2; ++seq)
      for (int head = 0; head < 2; ++head) EXPECT_EQ(made.call.view(slot).value({seq, head}), set->at(seq, head));
  EXPECT_FALSE(test::make("decode/test/q=bf16/kv=auto/h=4:2/d=8/page=16/seq=1x5#9").call.has(Slot::KScale));
}

}  // namespace
}  // namespace attest
