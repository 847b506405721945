// The claims of a contract: which is in force for a case, which can't be made, and that each field says something of
// its own.
#include "harness/core/claim_fields.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <set>

namespace attest {
namespace {

Case taken() { return {.backend = "b", .q = DType::BF16, .dim = 128, .seq = {{1, 5}}}; }

When when_q(const std::string& dtype) { return {{.key = "q", .any_of = {dtype}}}; }

Claim claim(const std::string& field, const std::string& value) {
  return {.field = field, .value = value, .source = "s"};
}

TEST(Claims, LaterRulesThatHoldOverrideFieldByField) {
  Contract c{.backend = "b"};
  c.arithmetic = {{{}, {claim("exp_rel", "1e-6"), claim("p", "f32"), claim("tile", "64")}},
                  {when_q("bf16"), {claim("p", "bf16")}},
                  {when_q("f16"), {claim("p", "f16"), claim("exp_rel", "1")}},
                  {{{.key = "d", .any_of = {}, .min = 128}}, {claim("tile", "32"), claim("partial", "f32")}},
                  {when_q("bf16"), {claim("partial", "none")}}};
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
  c.ran = {{{}, {claim("kernel", "any")}}, {when_q("bf16"), {claim("kernel", "hopper_*")}}};
  EXPECT_EQ(expected_kernel(c, taken()), "hopper_*");
  c.rules = {{{},
              {claim("empty_row", "nan"), claim("lse", "true"), claim("determinism", "none"), claim("unused", "finite"),
               claim("kv_enters_as", "q")}}};
  const CallRules rules = call_rules(c, taken());
  EXPECT_TRUE(rules.empty_row == EmptyRow::Nan && rules.lse && rules.determinism == Determinism::None &&
              rules.unused_finite && rules.k_to_q);
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

// Two values for each field: the second one must be read differently, or the field would be an ornament, and from any
// other field's, or they would be one.
template <typename Fields, typename Same>
void expect_read(std::span<const ClaimField<Fields>> fields, const std::vector<std::array<std::string, 3>>& values,
                 const Same& same) {
  EXPECT_EQ(values.size(), fields.size());
  std::set<std::string_view> names;
  std::vector<Fields> changed;
  for (const auto& field : fields) {
    EXPECT_TRUE(names.insert(field.name).second);
    EXPECT_FALSE(field.help.empty());
    const auto row = std::find_if(values.begin(), values.end(), [&](const auto& v) { return v[0] == field.name; });
    ASSERT_NE(row, values.end()) << field.name;
    Fields one, two;
    EXPECT_EQ(field.parse(one, (*row)[1]), std::nullopt) << field.name;
    EXPECT_EQ(field.parse(two, (*row)[2]), std::nullopt) << field.name;
    EXPECT_FALSE(same(one, two)) << field.name;
    for (const Fields& other : changed) EXPECT_FALSE(same(two, other)) << field.name;
    changed.push_back(two);
  }
}

TEST(Claims, UnsetIsTheDefault) {
  Arithmetic a;
  for (const auto& field : arithmetic_fields())
    EXPECT_EQ(field.parse(a, std::string(field.unset)), std::nullopt) << field.name;
  EXPECT_EQ(a, Arithmetic());
  WriteArithmetic w;
  for (const auto& field : write_fields()) EXPECT_EQ(field.parse(w, std::string(field.unset)), std::nullopt);
  EXPECT_TRUE(w.overflow == Overflow::Saturate && !w.by_reciprocal && w.compute == DType::F32);
  CallRules r;
  for (const auto& field : call_rule_fields()) EXPECT_EQ(field.parse(r, std::string(field.unset)), std::nullopt);
  EXPECT_TRUE(!r.out && !r.k_to_q && !r.lse && !r.unused_finite && r.determinism == Determinism::RunToRun);
}

TEST(Claims, EveryFieldIsRead) {
  expect_read(arithmetic_fields(),
              {{"q_cast", "none", "bf16"},
               {"k_cast", "none", "bf16"},
               {"v_cast", "none", "bf16"},
               {"qk_acc", "f32", "mma:13,32"},
               {"product_roundings", "0", "8"},
               {"score_roundings", "0", "8"},
               {"score", "none", "bf16"},
               {"tanh_abs", "0", "1e-7"},
               {"exp_rel", "0", "1e-7"},
               {"exp_floor", "-inf", "-87"},
               {"p", "f32", "bf16"},
               {"p_offset", "0", "8"},
               {"row_sum", "unrounded", "rounded"},
               {"sum_acc", "f32", "bf16"},
               {"pv_acc", "f32", "bf16"},
               {"tile", "0", "8"},
               {"order", "any", "descending"},
               {"promoted", "false", "true"},
               {"carry", "f32", "bf16"},
               {"rescale_threshold", "0", "8"},
               {"final_roundings", "0", "8"},
               {"unscaled", "none", "bf16"},
               {"partial", "none", "bf16"},
               {"rope", "f32", "bf16"}},
              std::equal_to<Arithmetic>());
  expect_read(write_fields(),
              {{"overflow", "saturate", "ieee"}, {"scale", "divide", "reciprocal"}, {"compute", "f32", "bf16"}},
              [](const WriteArithmetic& a, const WriteArithmetic& b) {
                return a.overflow == b.overflow && a.by_reciprocal == b.by_reciprocal && a.compute == b.compute;
              });
  expect_read(call_rule_fields(),
              {{"out", "q", "bf16"},
               {"kv_enters_as", "stored", "q"},
               {"empty_row", "zero", "nan"},
               {"lse", "false", "true"},
               {"scales", "always", "quantised_only"},
               {"unused", "anything", "finite"},
               {"determinism", "run_to_run", "none"}},
              [](const CallRules& a, const CallRules& b) {
                return a.out == b.out && a.k_to_q == b.k_to_q && a.empty_row == b.empty_row && a.lse == b.lse &&
                       a.scales == b.scales && a.unused_finite == b.unused_finite && a.determinism == b.determinism;
              });
}

}  // namespace
}  // namespace attest
