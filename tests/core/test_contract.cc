// Contracts: when a condition holds, and what is expected of a case.
#include "harness/core/case_keys.h"
#include "harness/core/contract.h"

#include <gtest/gtest.h>

namespace attest {
namespace {

using Kind = Expectation::Kind;

const Case kCase{.phase = Phase::Decode,
                 .backend = "fa3_hopper",
                 .q = DType::BF16,
                 .kv = "fp8_e4m3",
                 .heads_q = 14,
                 .heads_kv = 2,
                 .dim = 96,
                 .seq = {{2, 50}, {1, 70}},
                 .cap = 12.5};

Condition one_of(const std::string& key, std::vector<std::string> values) {
  return {.key = key, .any_of = std::move(values)};
}
Condition at_least(const std::string& key, double min) { return {.key = key, .any_of = {}, .min = min}; }
Condition at_most(const std::string& key, double max) { return {.key = key, .any_of = {}, .min = {}, .max = max}; }
Condition multiple_of(const std::string& key, int n) {
  return {.key = key, .any_of = {}, .min = {}, .max = {}, .multiple = n};
}
Condition no_multiple_of(const std::string& key, int n) {
  return {.key = key, .any_of = {}, .min = {}, .max = {}, .multiple = {}, .not_multiple = n};
}

TEST(Condition, HoldsOrNot) {
  struct Row {
    Condition condition;
    bool holds;
  };
  const Row rows[]{
      {one_of("kv", {"fp8_e4m3"}), true},
      {one_of("kv", {"fp8"}), false},
      {one_of("kv", {"fp8*"}), true},
      {one_of("kv", {"auto", "fp8_e?m?"}), true},
      {one_of("cache", {"fp8_e4m3"}), true},
      {one_of("backend", {"fa3*"}), true},
      {one_of("backend", {"fa4*"}), false},
      {one_of("phase", {"decode"}), true},
      {one_of("phase", {"prefill", "mixed"}), false},
      {one_of("h", {"14:2"}), true},
      {one_of("dv", {"same"}), true},
      {one_of("dim_v", {"96"}), true},
      {at_least("d", 96), true},
      {at_least("d", 97), false},
      {at_most("d", 96), true},
      {at_most("d", 95), false},
      {at_least("cap", 12.5), true},
      {at_least("cap", 12.6), false},
      {at_least("group", 7), true},
      {at_most("group", 6), false},
      {at_most("max_len_kv", 70), true},
      {at_most("max_len_kv", 69), false},
      {at_least("min_len_kv", 51), false},
      {at_most("num_seqs", 2), true},
      {multiple_of("d", 32), true},
      {multiple_of("d", 64), false},
      {no_multiple_of("d", 64), true},
      {no_multiple_of("d", 32), false},
      {at_least("kv", 0), false},
  };
  for (const Row& row : rows) EXPECT_EQ(row.condition.holds(kCase), row.holds) << row.condition.text();
  EXPECT_THROW(one_of("headz", {"*"}).holds(kCase), std::logic_error);
}

TEST(Condition, AllOfThemMustHold) {
  EXPECT_TRUE(holds({}, kCase));
  EXPECT_TRUE(holds({at_least("d", 64), at_most("d", 128)}, kCase));
  EXPECT_FALSE(holds({at_least("d", 64), at_most("d", 95)}, kCase));
  EXPECT_FALSE(holds({at_least("d", 97), at_most("d", 128)}, kCase));
  const Condition range{.key = "d", .any_of = {}, .min = 64, .max = 95, .multiple = 32};
  EXPECT_FALSE(range.holds(kCase)) << "each test of one condition too";
}

TEST(Condition, SaysWhatItAsks) {
  EXPECT_EQ(one_of("kv", {"auto", "fp8*"}).text(), "kv: auto, fp8*");
  EXPECT_EQ((Condition{.key = "d", .any_of = {}, .min = 32, .max = 256.5, .multiple = 8, .not_multiple = 64}).text(),
            "d: at least 32, at most 256.5, multiple of 8, no multiple of 64");
}

Contract contract() {
  Contract c{.backend = "b", .aliases = {}, .file = "b.yaml"};
  c.ops = {{Phase::Decode, Op::Attend}, {Phase::Mixed, Op::WriteAttend}, {Phase::Write, Op::Write}};
  c.takes = {one_of("q", {"bf16", "f16"}),
             one_of("kv", {"auto", "fp8_e4m3"}),
             {.key = "d", .any_of = {}, .min = {}, .max = 256, .multiple = 32}};
  c.rejects = {{{one_of("q", {"f32"})}, "same dtype", "there"},
               {{one_of("q", {"f32"}), at_least("d", 64)}, "never reached", "there"}};
  c.declines = {{{one_of("kv", {"fp8*"}), at_least("group", 8)}, "no such group", "here"},
                {{at_least("d", 200)}, "too wide", "here"}};
  c.divergences = {{{at_least("d", 160)}, "differs", "issue"}};
  using enum CacheAxis;
  const CacheSpec apart{{Page, Slot, Head, Dim}, {Page, Slot, Head, Dim}, {Page, Slot, Head, Dim}};
  const CacheSpec shared{{Page, Slot, Head, Dim}, {Page, Slot, Head, Kv, Dim}, {Page, Slot, Head, Kv, Dim}};
  c.layouts = {{Strides::Dense, {apart, apart}}, {Strides::Padded, {apart, apart}}, {Strides::Fused, {shared, shared}}};
  return c;
}

Case taken() { return {.phase = Phase::Decode, .backend = "b", .q = DType::BF16, .dim = 128, .seq = {{1, 5}}}; }

struct Row {
  std::string change;
  Kind kind;
  std::string text, source;
};

void expect(const Contract& c, const std::vector<Row>& rows) {
  for (const Row& row : rows) {
    std::string text = token(taken());
    if (!row.change.empty()) text = token_without_seed(taken()) + "/" + row.change + "#0";
    Case changed = taken();
    if (const auto equal = row.change.find('='); equal != std::string::npos) {
      ASSERT_EQ(find_case_key(row.change.substr(0, equal))->parse(changed, row.change.substr(equal + 1)), std::nullopt);
    } else if (!row.change.empty()) {
      changed.phase = *parse_phase(row.change);
    }
    const Expectation e = expectation(c, changed);
    EXPECT_EQ(e.kind, row.kind) << row.change << ": " << e.text;
    EXPECT_EQ(e.text, row.text) << row.change;
    EXPECT_EQ(e.source, row.source) << row.change;
  }
}

TEST(Expectation, OfEachPartOfAContract) {
  expect(contract(), {
                         {"", Kind::Take, "", ""},
                         {"q=f16", Kind::Take, "", ""},
                         {"q=fp8_e4m3", Kind::Decline, "q=fp8_e4m3 is not claimed (q: bf16, f16)", "b.yaml"},
                         {"q=f32", Kind::Reject, "same dtype", "there"},
                         {"kv=fp8", Kind::Decline, "kv=fp8 is not claimed (kv: auto, fp8_e4m3)", "b.yaml"},
                         {"d=80", Kind::Decline, "d=80 is not claimed (d: at most 256, multiple of 32)", "b.yaml"},
                         {"prefill", Kind::Decline, "phase prefill is not claimed", "b.yaml"},
                         {"d=160", Kind::Diverge, "differs", "issue"},
                         {"d=224", Kind::Decline, "too wide", "here"},
                     });
}

TEST(Expectation, HeadsLengthsTablesInputsAndPoisonAreFree) {
  for (const char* change : {"h=7:1", "seq=3*1x100", "table=aliased", "in=mass", "in=file:dir", "poison=huge"})
    expect(contract(), {{change, Kind::Take, "", ""}});
}

TEST(Expectation, AnythingElseThatIsNotNamedMustBeAtItsDefault) {
  for (const char* change : {"k=f32", "v=f32", "out=f32", "dv=64", "page=32", "mask=full", "cap=30", "sink=f32",
                             "scales=odd", "strides=padded", "splits=2", "plan=reused", "rot=8", "style=interleaved",
                             "offsets=on", "graph=full", "fault=f"}) {
    expect(contract(), {{change, Kind::Decline, std::string(change) + " is not claimed", "b.yaml"}});
    Contract c = contract();
    const std::string key = std::string(change).substr(0, std::string(change).find('='));
    c.takes.push_back(one_of(key, {"*"}));
    expect(c, {{change, Kind::Take, "", ""}});
    c.takes.back() = one_of(key, {"nothing"});
    EXPECT_EQ(expectation(c, taken()).kind, Kind::Decline) << "what is named must hold, the default too";
  }
  Contract derived = contract();
  derived.takes.push_back(at_most("group", 4));
  expect(derived, {{"h=8:2", Kind::Take, "", ""},
                   {"h=10:2", Kind::Decline, "group=5 is not claimed (group: at most 4)", "b.yaml"}});
}

TEST(Expectation, RejectsComeFirstThenDeclinesThenDivergences) {
  Contract c = contract();
  c.rejects = {{{at_least("d", 1)}, "no", "r"}};
  expect(c, {{"d=224", Kind::Reject, "no", "r"}, {"d=80", Kind::Reject, "no", "r"}});
  expect(c, {{"prefill", Kind::Decline, "phase prefill is not claimed", "b.yaml"}});  // nothing to reject it
  c.rejects.clear();
  expect(c, {{"d=224", Kind::Decline, "too wide", "here"}, {"d=160", Kind::Diverge, "differs", "issue"}});
  c.declines.clear();
  expect(c, {{"d=224", Kind::Diverge, "differs", "issue"}});
}

TEST(Expectation, ALayoutIsNeeded) {
  Contract c = contract();
  c.takes.push_back(one_of("strides", {"*"}));
  c.takes.push_back(one_of("dv", {"*"}));
  expect(c, {{"strides=padded_out", Kind::Decline, "strides=padded_out has no layout", "b.yaml"},
             {"strides=fused", Kind::Take, "", ""},
             {"dv=64", Kind::Take, "", ""}});
  Case unequal = taken();
  unequal.strides = Strides::Fused;
  unequal.dim_v = 64;
  EXPECT_EQ(expectation(c, unequal).text, "dv=64: K and V share one storage, so their dims must be equal");
}

TEST(Expectation, NewTokensBeforeTheFirstPositionAreNoProblemOfAWrite) {
  for (const Phase phase : {Phase::Mixed, Phase::Write}) {
    Case c = taken();
    c.phase = phase;
    c.seq = {{1, 5}, {3, 3}};
    EXPECT_EQ(expectation(contract(), c).kind, Kind::Take);
    c.seq.push_back({3, 2});
    EXPECT_EQ(expectation(contract(), c).text,
              "3x2: its operation writes the new tokens, which begin at a negative position");
  }
  Case attends = taken();
  attends.seq = {{3, 2}};
  EXPECT_EQ(expectation(contract(), attends).kind, Kind::Take);
}

}  // namespace
}  // namespace attest
