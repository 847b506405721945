// What a case means: which keys its rows see, held to the definition of each mask key by key; the values that
// contracts and filters ask for; the numbers that a problem makes of it.
#include "harness/core/case.h"
#include "harness/core/case_keys.h"
#include "harness/core/error.h"
#include "harness/core/problem.h"
#include "tests/core/temp_folder.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <set>

namespace attest {
namespace {

// Does the row at position i see key j?
bool sees(const Mask& mask, long i, long j) {
  switch (mask.kind) {
    case Mask::Kind::Full: return true;
    case Mask::Kind::Causal: return j <= i;
    case Mask::Kind::Window: return (mask.left < 0 || j >= i - mask.left) && (mask.right < 0 || j <= i + mask.right);
    case Mask::Kind::Chunk: return j <= i && j / mask.chunk == i / mask.chunk;
  }
  return false;
}

std::vector<Mask> masks() {
  std::vector<Mask> all{{}, {.kind = Mask::Kind::Full}};
  for (const int left : {-1, 0, 1, 3, 40})
    for (const int right : {-1, 0, 1, 2, 40}) all.push_back({.kind = Mask::Kind::Window, .left = left, .right = right});
  for (const int chunk : {1, 2, 3, 8, 40}) all.push_back({.kind = Mask::Kind::Chunk, .chunk = chunk});
  return all;
}

using Visible = std::function<KeyRange(const Mask&, const Sequence&, int)>;

// How many (mask, sequence, row, key) `visible` gets wrong, over all lengths up to 11, len_q > len_kv and empty ones
// among them.
int mistakes(const Visible& visible) {
  int wrong = 0;
  for (const Mask& mask : masks())
    for (int len_q = 1; len_q <= 11; ++len_q)
      for (int len_kv = 0; len_kv <= 11; ++len_kv)
        for (int row = 0; row < len_q; ++row) {
          const KeyRange range = visible(mask, {len_q, len_kv}, row);
          int seen = 0;
          for (int key = 0; key < len_kv; ++key) {
            const bool right = sees(mask, len_kv - len_q + row, key);
            wrong += right != (range.begin <= key && key < range.end);
            seen += right;
          }
          wrong += seen != range.size();  // nothing beyond the keys there are
        }
  return wrong;
}

TEST(VisibleKeys, AgreeWithTheDefinition) { EXPECT_EQ(mistakes(visible_keys), 0); }

TEST(VisibleKeys, TheCheckCatchesWrongMasks) {
  EXPECT_GT(mistakes([](const Mask& m, const Sequence& s, int row) {
              return visible_keys(m, {s.len_kv, s.len_kv}, row);
            }),
            0)
      << "top-left causal";
  EXPECT_GT(mistakes([](const Mask& m, const Sequence& s, int row) { return visible_keys(m, s, row + 1); }), 0)
      << "one too far";
  EXPECT_GT(mistakes([](Mask m, const Sequence& s, int row) { return m.right = 0, visible_keys(m, s, row); }), 0)
      << "right side taken as causal";
  EXPECT_GT(mistakes([](Mask m, const Sequence& s, int row) { return ++m.left, visible_keys(m, s, row); }), 0)
      << "a window one wider";
  EXPECT_GT(mistakes([](Mask m, const Sequence& s, int row) { return ++m.chunk, visible_keys(m, s, row); }), 0)
      << "a chunk one longer";
  EXPECT_GT(mistakes([](const Mask& m, const Sequence& s, int row) {
              KeyRange range = visible_keys(m, s, row);
              range.end = std::max(range.end, range.begin + 1);
              return range;
            }),
            0)
      << "empty rows made to see a key";
}

TEST(VisibleKeys, LargestNumbers) {
  constexpr int most = std::numeric_limits<int>::max();
  const Mask wide{.kind = Mask::Kind::Window, .left = most, .right = most};
  EXPECT_EQ(visible_keys(wide, {1, 10}, 0).size(), 10);
  EXPECT_EQ(visible_keys(wide, {most, 0}, 0).size(), 0);
  EXPECT_EQ(visible_keys(wide, {1, most}, 0).size(), most);
  EXPECT_EQ(visible_keys({.kind = Mask::Kind::Chunk, .chunk = most}, {1, most}, 0).size(), most);
  EXPECT_EQ(visible_keys({}, {most, 1}, most - 1).size(), 1);
  EXPECT_EQ(visible_keys({}, {most, 1}, most - 2).size(), 0);
}

TEST(CaseValues, OfKeysAndDerivedOnes) {
  const Case c{.phase = Phase::Mixed,
               .backend = "fa3",
               .q = DType::BF16,
               .k = DType::F16,
               .kv = "fp8",
               .heads_q = 14,
               .heads_kv = 2,
               .dim = 96,
               .dim_v = 64,
               .seq = {{3, 50}, {1, 70}, {7, 9}}};
  const std::vector<std::pair<std::string, std::string>> rows{
      {"phase", "mixed"},  {"backend", "fa3"},   {"group", "7"},
      {"heads_q", "14"},   {"heads_kv", "2"},    {"dim_v", "64"},
      {"k_dtype", "f16"},  {"v_dtype", "bf16"},  {"cache", "fp8_e4m3"},
      {"num_seqs", "3"},   {"min_len_q", "1"},   {"max_len_q", "7"},
      {"min_len_kv", "9"}, {"max_len_kv", "70"}, {"rotary_dim", "96"},
      {"kv", "fp8"},       {"h", "14:2"},        {"dv", "64"},
      {"k", "f16"},        {"v", "same"},        {"seq", "3x50,1x70,7x9"},
      {"mask", "causal"},  {"sink", "none"},     {"in", "gauss"}};
  for (const auto& [key, value] : rows) EXPECT_EQ(case_value(c, key), value) << key;
  EXPECT_EQ(case_value(c, "heads"), std::nullopt);
  EXPECT_EQ(case_value({.seq = {{1, 1}}, .rot = 32}, "rotary_dim"), "32");
  EXPECT_EQ(case_value({.q = DType::F32, .kv = "auto", .seq = {{1, 1}}}, "cache"), "f32");
  EXPECT_EQ(case_value({.dim = 80, .seq = {{1, 1}}}, "dim_v"), "80");
}

TEST(CaseValues, EveryNameHasOne) {
  const Case c{.backend = "b", .seq = {{1, 1}}};
  std::set<std::string> names;
  for (const auto& name : case_value_names()) {
    EXPECT_TRUE(case_value(c, name)) << name;
    EXPECT_TRUE(names.insert(name).second) << name << " is there twice";
  }
  for (const CaseKey& key : case_keys()) {
    EXPECT_EQ(find_case_key(key.name), &key);
    EXPECT_FALSE(key.help.empty());
  }
  EXPECT_EQ(find_case_key("phase"), nullptr);
  for (const auto& phase : phase_names()) EXPECT_EQ(name(*parse_phase(phase)), phase);
  EXPECT_EQ(parse_phase("decoding"), std::nullopt);
}

TEST(CaseKeys, ReadingAValueForgetsTheOneBefore) {
  Case c{.backend = "b", .k = DType::F16, .dim_v = 64, .seq = {{1, 1}, {1, 2}}};
  const auto read = [&](const char* key, const char* value) {
    EXPECT_EQ(find_case_key(key)->parse(c, value), std::nullopt);
  };
  for (const auto& [key, value] : {std::pair{"k", "same"},
                                   {"dv", "same"},
                                   {"seq", "1x1"},
                                   {"in", "file:dir"},
                                   {"in", "mass"},
                                   {"mask", "window:8,0"},
                                   {"mask", "full"},
                                   {"fault", "f"},
                                   {"fault", "none"}})
    read(key, value);
  EXPECT_EQ(c, (Case{.backend = "b", .seq = {{1, 1}}, .mask = {.kind = Mask::Kind::Full}, .probe = Probe::Mass}));
}

TEST(Case, SelectCodesTellAllPositionsApart) {
  for (int len = 1; len <= 300; ++len) {
    const int bits = select_code_bits({{1, 1}, {1, len}, {1, 2}});
    EXPECT_GE(1 << bits, len);
    EXPECT_TRUE(bits == 1 || (1 << (bits - 1)) < len) << "one bit too many for " << len;
  }
  EXPECT_EQ(select_code_bits({{1, 0}}), 1);
}

Contract plain_contract() {
  Contract contract{.backend = "b",
                    .aliases = {},
                    .file = "b.yaml",
                    .about = "",
                    .plugin = "",
                    .options = {},
                    .ops = {{Phase::Decode, Op::Attend}, {Phase::Mixed, Op::WriteAttend}}};
  const std::vector<CacheAxis> axes{CacheAxis::Page, CacheAxis::Slot, CacheAxis::Head, CacheAxis::Dim};
  contract.layouts[Strides::Dense] = {.k = {axes, axes, axes}, .v = {axes, axes, axes}};
  return contract;
}

TEST(Problem, NumbersOfACase) {
  const Case c{.phase = Phase::Mixed,
               .backend = "b",
               .q = DType::F16,
               .v = DType::F32,
               .kv = "fp8_e5m2",
               .heads_q = 6,
               .heads_kv = 2,
               .dim = 64,
               .dim_v = 32,
               .page = 16,
               .seq = {{2, 33}, {1, 0}, {4, 16}}};
  const Problem p = make_problem(c, plain_contract());
  EXPECT_EQ(p.op, Op::WriteAttend);
  EXPECT_EQ(p.cache, DType::E5M2);
  EXPECT_EQ(p.cache_name, "fp8_e5m2");
  EXPECT_EQ(p.k_new, DType::F16);
  EXPECT_EQ(p.v_new, DType::F32);
  EXPECT_EQ(p.out, DType::F16);
  EXPECT_EQ(p.dim_v, 32);
  EXPECT_EQ(p.total_q, 7);
  EXPECT_EQ(p.max_len_q, 4);
  EXPECT_EQ(p.max_len_kv, 33);
  EXPECT_EQ(p.pages_per_seq, 4) << "three pages and an entry that no sequence uses";
  EXPECT_EQ(p.num_pages, 3 + 0 + 1 + 3) << "the pool has pages that no sequence owns";
  EXPECT_EQ(p.first_row(0), 0);
  EXPECT_EQ(p.first_row(1), 2);
  EXPECT_EQ(p.first_row(2), 3);
  EXPECT_DOUBLE_EQ(p.softmax_scale, 0.125);
  EXPECT_EQ(p.rotary_dim, 64);
  EXPECT_EQ(p.group(), 3);
}

TEST(Problem, TheOutputsDtypeIsTheCasesThenTheContractsThenQs) {
  Contract contract = plain_contract();
  Case c{.backend = "b", .q = DType::F16, .seq = {{1, 5}}};
  EXPECT_EQ(make_problem(c, contract).out, DType::F16);
  contract.rules = {{.when = {}, .claims = {{.field = "out", .value = "bf16", .source = "s"}}}};
  EXPECT_EQ(make_problem(c, contract).out, DType::BF16);
  c.out = DType::F32;
  EXPECT_EQ(make_problem(c, contract).out, DType::F32);
}

TEST(Problem, ScalesMayBeInertWhereTheCacheIsNotQuantised) {
  Contract contract = plain_contract();
  const auto applies = [&](const char* kv) {
    return make_problem({.backend = "b", .kv = kv, .seq = {{1, 5}}}, contract).scales_apply;
  };
  EXPECT_TRUE(applies("bf16"));
  contract.rules = {{.when = {}, .claims = {{.field = "scales", .value = "quantised_only", .source = "s"}}}};
  EXPECT_FALSE(applies("bf16"));
  EXPECT_FALSE(applies("auto"));
  EXPECT_TRUE(applies("fp8_e4m3"));
  EXPECT_TRUE(applies("q8_0"));
}

TEST(Problem, ALayoutIsNeededForTheStrides) {
  const Contract contract = plain_contract();
  const Case c{.backend = "b", .seq = {{1, 5}}, .strides = Strides::Fused};
  const auto message = test::message_of<UsageError>([&] { make_problem(c, contract); });
  EXPECT_EQ(message, "b.yaml: no layout for the strides of " + token(c));
  EXPECT_NO_THROW(
      make_problem({.phase = Phase::Rope, .backend = "b", .seq = {{1, 5}}, .strides = Strides::Fused}, contract))
      << "rope has no cache";
}

TEST(Problem, WidensForAnotherCasesLengths) {
  const Case c{.backend = "b", .page = 16, .seq = {{1, 20}, {2, 5}}};
  const Problem before = make_problem(c, plain_contract());
  Problem p = before;
  widen_for(p, {.backend = "b", .page = 16, .seq = {{5, 100}, {1, 1}}});
  EXPECT_EQ(p.max_len_q, 5);
  EXPECT_EQ(p.max_len_kv, 100);
  EXPECT_EQ(p.pages_per_seq, 8);
  EXPECT_EQ(p.num_pages - before.num_pages, 8 - 3) << "as many spare pages as before";
  EXPECT_EQ(p.total_q, before.total_q);
  widen_for(p, {.backend = "b", .page = 16, .seq = {{1, 1}}});
  EXPECT_EQ(p.max_len_kv, 100) << "never narrower";
  EXPECT_EQ(p.num_pages - before.num_pages, 8 - 3);
}

}  // namespace
}  // namespace attest
