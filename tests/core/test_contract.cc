// Contracts: when a condition holds, which claim is in force, what is expected of a case, and which claims can't be made.
#include "harness/core/claim_fields.h"
#include "harness/core/contract.h"
#include "harness/core/case_keys.h"

#include <gtest/gtest.h>

#include <limits>
#include <set>

namespace attest {
namespace {

using Kind = Expectation::Kind;

const Case kCase{.phase = Phase::Decode, .backend = "fa3_hopper", .q = DType::BF16, .kv = "fp8_e4m3", .heads_q = 14, .heads_kv = 2, .dim = 96, .seq = {{2, 50}, {1, 70}}, .cap = 12.5};

Condition one_of(const std::string& key, std::vector<std::string> values) { return {.key = key, .any_of = std::move(values)}; }
Condition at_least(const std::string& key, double min) { return {.key = key, .any_of = {}, .min = min}; }
Condition at_most(const std::string& key, double max) { return {.key = key, .any_of = {}, .min = {}, .max = max}; }
Condition multiple_of(const std::string& key, int n) { return {.key = key, .any_of = {}, .min = {}, .max = {}, .multiple = n}; }
Condition no_multiple_of(const std::string& key, int n) { return {.key = key, .any_of = {}, .min = {}, .max = {}, .multiple = {}, .not_multiple = n}; }

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
  EXPECT_EQ((Condition{.key = "d", .any_of = {}, .min = 32, .max = 256.5, .multiple = 8, .not_multiple = 64}).text(), "d: at least 32, at most 256.5, multiple of 8, no multiple of 64");
}

Contract contract() {
  Contract c{.backend = "b", .aliases = {}, .file = "b.yaml"};
  c.ops = {{Phase::Decode, Op::Attend}, {Phase::Mixed, Op::WriteAttend}, {Phase::Write, Op::Write}};
  c.takes = {one_of("q", {"bf16", "f16"}), one_of("kv", {"auto", "fp8_e4m3"}), {.key = "d", .any_of = {}, .min = {}, .max = 256, .multiple = 32}};
  c.rejects = {{{one_of("q", {"f32"})}, "same dtype", "there"}, {{one_of("q", {"f32"}), at_least("d", 64)}, "never reached", "there"}};
  c.declines = {{{one_of("kv", {"fp8*"}), at_least("group", 8)}, "no such group", "here"}, {{at_least("d", 200)}, "too wide", "here"}};
  c.divergences = {{{at_least("d", 160)}, "differs", "issue"}};
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
  for (const char* change : {"h=7:1", "seq=3*1x100", "table=aliased", "in=mass", "in=file:dir", "poison=huge"}) expect(contract(), {{change, Kind::Take, "", ""}});
}

TEST(Expectation, AnythingElseThatIsNotNamedMustBeAtItsDefault) {
  for (const char* change : {"k=f32", "v=f32", "out=f32", "dv=64", "page=32", "mask=full", "cap=30", "sink=f32", "scales=odd", "strides=padded", "splits=2", "plan=reused", "rot=8", "style=interleaved",
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
  expect(derived, {{"h=8:2", Kind::Take, "", ""}, {"h=10:2", Kind::Decline, "group=5 is not claimed (group: at most 4)", "b.yaml"}});
}

TEST(Expectation, RejectsComeFirstThenDeclinesThenDivergences) {
  Contract c = contract();
  c.rejects = {{{at_least("d", 1)}, "no", "r"}};
  expect(c, {{"d=224", Kind::Reject, "no", "r"}, {"d=80", Kind::Reject, "no", "r"}, {"prefill", Kind::Reject, "no", "r"}});
  c.rejects.clear();
  expect(c, {{"d=224", Kind::Decline, "too wide", "here"}, {"d=160", Kind::Diverge, "differs", "issue"}});
  c.declines.clear();
  expect(c, {{"d=224", Kind::Diverge, "differs", "issue"}});
}

TEST(Expectation, NewTokensBeforeTheFirstPositionAreNoProblemOfAWrite) {
  for (const Phase phase : {Phase::Mixed, Phase::Write}) {
    Case c = taken();
    c.phase = phase;
    c.seq = {{1, 5}, {3, 3}};
    EXPECT_EQ(expectation(contract(), c).kind, Kind::Take);
    c.seq.push_back({3, 2});
    EXPECT_EQ(expectation(contract(), c).text, "3x2: its operation writes the new tokens, which begin at a negative position");
  }
  Case attends = taken();
  attends.seq = {{3, 2}};
  EXPECT_EQ(expectation(contract(), attends).kind, Kind::Take);
}

Claim claim(const std::string& field, const std::string& value) { return {.field = field, .value = value, .source = "s"}; }

TEST(Claims, LaterRulesThatHoldOverrideFieldByField) {
  Contract c = contract();
  c.arithmetic = {{{}, {claim("exp_rel", "1e-6"), claim("p", "f32"), claim("tile", "64")}},
                  {{one_of("q", {"bf16"})}, {claim("p", "bf16")}},
                  {{one_of("q", {"f16"})}, {claim("p", "f16"), claim("exp_rel", "1")}},
                  {{at_least("d", 128)}, {claim("tile", "32"), claim("partial", "f32")}},
                  {{one_of("q", {"bf16"})}, {claim("partial", "none")}}};
  const Arithmetic a = arithmetic(c, taken());
  EXPECT_EQ(a.exp_rel, 1e-6);
  EXPECT_EQ(a.p, DType::BF16);
  EXPECT_EQ(a.tile, 32);
  EXPECT_EQ(a.partial, std::nullopt);
  const auto in_force = claims_in_force(c.arithmetic, taken());
  ASSERT_EQ(in_force.size(), 4U) << "each field once";
  EXPECT_EQ(in_force[1].field, "p");
  EXPECT_EQ(in_force[1].value, "bf16");
  EXPECT_TRUE(claims_in_force({}, taken()).empty());

  EXPECT_EQ(expected_kernel(c, taken()), "*");
  c.ran = {{{}, {claim("kernel", "any")}}, {{one_of("q", {"bf16"})}, {claim("kernel", "hopper_*")}}};
  EXPECT_EQ(expected_kernel(c, taken()), "hopper_*");
  c.rules = {{{}, {claim("empty_row", "nan"), claim("lse", "true"), claim("determinism", "none"), claim("unused", "finite"), claim("kv_enters_as", "q")}}};
  const CallRules rules = call_rules(c, taken());
  EXPECT_TRUE(rules.empty_row == EmptyRow::Nan && rules.lse && rules.determinism == Determinism::None && rules.unused_finite && rules.k_to_q);
  c.write = {{{}, {claim("overflow", "ieee"), claim("scale", "reciprocal"), claim("compute", "bf16")}}};
  const WriteArithmetic write = write_arithmetic(c, taken());
  EXPECT_TRUE(write.overflow == Overflow::Ieee && write.by_reciprocal && write.compute == DType::BF16);
}

TEST(Claims, ThoseThatCantBeMade) {
  struct Bad {
    std::string section, field, value, message;
  };
  const Bad rows[]{
      {"arithmetic", "exp_re", "1", "unknown field (did you mean 'exp_rel'?)"},
      {"arithmetic", "overflow", "ieee", "unknown field"},
      {"write", "p", "f32", "unknown field (one of: overflow, scale, compute)"},
      {"rules", "empty_rows", "nan", "unknown field (did you mean 'empty_row'?)"},
      {"ran", "name", "x", "unknown field (one of: kernel)"},
      {"arithmetic", "p", "fp8", "'fp8' is no floating-point dtype"},
      {"arithmetic", "p", "none", "'none' is no floating-point dtype"},
      {"arithmetic", "partial", "q8_0", "'q8_0' is no floating-point dtype"},
      {"arithmetic", "tile", "-1", "'-1' is no count"},
      {"arithmetic", "tile", "1.5", "'1.5' is no count"},
      {"arithmetic", "exp_rel", "small", "'small' is no error: a finite number of at least 0"},
      {"arithmetic", "exp_rel", "inf", "'inf' is no error: a finite number of at least 0"},
      {"arithmetic", "exp_rel", "nan", "'nan' is no error: a finite number of at least 0"},
      {"arithmetic", "tanh_abs", "-1e-7", "'-1e-7' is no error: a finite number of at least 0"},
      {"arithmetic", "exp_floor", "nan", "'nan' is no floor: a number below 0, -inf for none"},
      {"arithmetic", "exp_floor", "87", "'87' is no floor: a number below 0, -inf for none"},
      {"arithmetic", "row_sum", "round", "'round' is unknown (did you mean 'rounded'?)"},
      {"rules", "lse", "yes", "'yes' is unknown (one of: true, false)"},
      {"rules", "empty_row", "zeros", "'zeros' is unknown (did you mean 'zero'?)"},
      {"write", "overflow", "wrap", "'wrap' is unknown (one of: saturate, ieee)"},
  };
  for (const Bad& bad : rows) {
    const auto said = check_claim(bad.section, claim(bad.field, bad.value));
    ASSERT_TRUE(said) << bad.field << " " << bad.value;
    EXPECT_EQ(said->find(bad.message), 0U) << *said;
  }
  EXPECT_EQ(check_claim("arithmetic", claim("exp_floor", "-inf")), std::nullopt);
  EXPECT_EQ(check_claim("arithmetic", claim("exp_rel", "0")), std::nullopt);
  EXPECT_EQ(check_claim("arithmetic", claim("q_cast", "none")), std::nullopt);
  EXPECT_EQ(check_claim("ran", claim("kernel", "*")), std::nullopt);
  EXPECT_THROW(static_cast<void>(check_claim("layout", claim("k", "x"))), std::logic_error);
}

// Two values for each field: the second one must be read differently, or the field would be an ornament.
template <typename Fields, typename Same>
void expect_read(std::span<const ClaimField<Fields>> fields, const std::vector<std::array<std::string, 3>>& values, const Same& same) {
  EXPECT_EQ(values.size(), fields.size());
  std::set<std::string_view> names;
  for (const auto& field : fields) {
    EXPECT_TRUE(names.insert(field.name).second);
    EXPECT_FALSE(field.help.empty());
    const auto row = std::find_if(values.begin(), values.end(), [&](const auto& v) { return v[0] == field.name; });
    ASSERT_NE(row, values.end()) << field.name;
    Fields one, two;
    EXPECT_EQ(field.parse(one, (*row)[1]), std::nullopt) << field.name;
    EXPECT_EQ(field.parse(two, (*row)[2]), std::nullopt) << field.name;
    EXPECT_FALSE(same(one, two)) << field.name;
  }
}

TEST(Claims, EveryFieldIsRead) {
  const auto same_arithmetic = [](const Arithmetic& a, const Arithmetic& b) {
    const auto tied = [](const Arithmetic& x) {
      return std::tuple(x.q_cast, x.k_cast, x.v_cast, x.qk_acc, x.product_roundings, x.score_roundings, x.score, x.tanh_abs, x.exp_rel, x.exp_floor, x.p, x.p_offset, x.row_sum_rounded, x.sum_acc, x.pv_acc, x.tile,
                        x.final_roundings, x.unscaled, x.partial, x.rope);
    };
    return tied(a) == tied(b);
  };
  expect_read(arithmetic_fields(),
              {{"q_cast", "none", "bf16"}, {"k_cast", "none", "bf16"}, {"v_cast", "none", "bf16"}, {"qk_acc", "f32", "f16"}, {"product_roundings", "0", "1"}, {"score_roundings", "0", "1"}, {"score", "none", "bf16"},
               {"tanh_abs", "0", "1e-7"}, {"exp_rel", "0", "1e-7"}, {"exp_floor", "-inf", "-87"}, {"p", "f32", "bf16"}, {"p_offset", "0", "8"}, {"row_sum", "rounded", "unrounded"}, {"sum_acc", "f32", "f64"},
               {"pv_acc", "f32", "f64"}, {"tile", "0", "64"}, {"final_roundings", "0", "1"}, {"unscaled", "none", "bf16"}, {"partial", "none", "f32"}, {"rope", "f32", "bf16"}},
              same_arithmetic);
  expect_read(write_fields(), {{"overflow", "saturate", "ieee"}, {"scale", "divide", "reciprocal"}, {"compute", "f32", "bf16"}}, [](const WriteArithmetic& a, const WriteArithmetic& b) {
    return a.overflow == b.overflow && a.by_reciprocal == b.by_reciprocal && a.compute == b.compute;
  });
  expect_read(call_rule_fields(),
              {{"out", "q", "bf16"}, {"kv_enters_as", "stored", "q"}, {"empty_row", "zero", "nan"}, {"lse", "true", "false"}, {"scales", "always", "quantised_only"}, {"unused", "anything", "finite"},
               {"determinism", "none", "run_to_run"}},
              [](const CallRules& a, const CallRules& b) {
                return a.out == b.out && a.k_to_q == b.k_to_q && a.empty_row == b.empty_row && a.lse == b.lse && a.scales == b.scales && a.unused_finite == b.unused_finite && a.determinism == b.determinism;
              });
}

}  // namespace
}  // namespace attest
