// The token is a case's name: it must say everything, and say it one way. Generated cases over every key and every
// value go to text and back; two cases that differ anywhere must differ in their tokens.
#include "harness/core/case.h"
#include "harness/core/case_keys.h"

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <random>
#include <set>

namespace attest {
namespace {

class CaseMaker {
 public:
  explicit CaseMaker(unsigned seed) : random_(seed) {}

  Case next() {
    for (;;)
      if (Case c = any(); !contradiction(c)) return c;
  }

 private:
  int below(int limit) { return static_cast<int>(random_() % static_cast<unsigned>(limit)); }
  bool coin() { return below(2) == 0; }
  template <typename Enum>
  Enum word(Enum last) {
    return static_cast<Enum>(below(static_cast<int>(last) + 1));
  }
  DType dtype() { return word(DType::E5M2FNUZ); }
  std::optional<DType> maybe_dtype() { return coin() ? std::nullopt : std::optional(dtype()); }

  std::string text() {
    const std::string parts[]{"/", "#",  "%", " ",  "%2F",  "a", "é",    "'",     "\"", "=",
                              ",", "..", "*", "\n", "\x7f", "?", "none", "file:", "\\", "Z9"};
    std::string out;
    for (int i = below(8); i >= 0; --i) out += parts[below(std::size(parts))];
    return out;
  }

  std::vector<Sequence> sequences() {
    std::vector<Sequence> all;
    for (int i = below(5); i >= 0; --i) {
      const Sequence one{below(9), coin() ? below(70) : below(100'000)};
      all.insert(all.end(), static_cast<std::size_t>(coin() ? 1 : 1 + below(12)), one);
    }
    return all;
  }

  Mask mask() {
    switch (word(Mask::Kind::Chunk)) {
      case Mask::Kind::Causal: return {};
      case Mask::Kind::Full: return {.kind = Mask::Kind::Full};
      case Mask::Kind::Window: return {.kind = Mask::Kind::Window, .left = below(40) - 1, .right = below(5) - 1};
      case Mask::Kind::Chunk: return {.kind = Mask::Kind::Chunk, .chunk = 1 + below(5000)};
    }
    return {};
  }

  Case any() {
    Case c;
    c.phase = word(Phase::Rope);
    c.backend = coin() ? "native" : "fa3_vllm-0.9+x";
    c.q = dtype();
    c.k = maybe_dtype();
    c.v = maybe_dtype();
    c.kv = cache_names()[static_cast<std::size_t>(below(static_cast<int>(cache_names().size())))];
    c.out = maybe_dtype();
    c.heads_kv = 1 + below(9);
    c.heads_q = c.heads_kv * (1 + below(8));
    c.dim = 1 + below(300);
    if (coin()) c.dim_v = 1 + below(300);
    c.page = 1 + below(300);
    c.seq = sequences();
    c.table = word(Table::Interleaved);
    c.mask = mask();
    const double caps[]{0, 30, 0.1, 1.0 / 3, 50.123456789, 1e-7, 1e22};
    c.cap = caps[below(std::size(caps))];
    c.sink = maybe_dtype();
    c.scales = word(Scales::Wide);
    c.strides = word(Strides::Fused);
    c.splits = coin() ? 0 : below(64);
    c.plan = word(PlanUse::Reused);
    c.rot = coin() ? 0 : 2 * below(40);
    c.style = word(RopeStyle::Interleaved);
    c.offsets = coin();
    c.graph = word(Graph::Compile);
    c.probe = word(Probe::File);
    if (c.probe == Probe::File) c.directory = text();
    c.keys = coin() ? 0 : below(64);
    c.poison = word(Poison::Zero);
    c.rel = word(Relation::PrefillAsDecode);
    if (coin()) c.fault = "f" + text();
    c.seed = random_() >> below(64);
    return c;
  }

  std::mt19937_64 random_;
};

TEST(Token, EveryCaseParsesBack) {
  CaseMaker maker(1);
  std::map<std::string, std::set<std::string>> values;
  std::set<std::string> phases;
  for (int i = 0; i < 4000; ++i) {
    const Case c = maker.next();
    const std::string text = token(c);
    ASSERT_EQ(parse_token(text), c) << text;
    ASSERT_EQ(token(parse_token(text)), text);
    for (const char byte : text) ASSERT_TRUE(byte > ' ' && byte <= '~' && byte != '\'') << text;
    ASSERT_EQ(text, token_without_seed(c) + "#" + std::to_string(c.seed));
    phases.emplace(name(c.phase));
    for (const CaseKey& key : case_keys())
      values[std::string(key.name)].insert(c.probe == Probe::File && key.name == "in" ? "file" : key.print(c));
  }
  // Every value of every key was among them.
  EXPECT_EQ(phases.size(), phase_names().size());
  const std::map<std::string, std::size_t> words{
      {"q", 8},       {"k", 9},     {"v", 9},     {"kv", cache_names().size()},
      {"out", 9},     {"table", 4}, {"sink", 9},  {"scales", 8},
      {"strides", 4}, {"plan", 2},  {"style", 2}, {"offsets", 2},
      {"graph", 6},   {"in", 16},   {"poison", 3}};
  for (const auto& [key, count] : words) EXPECT_EQ(values[key].size(), count) << key;
  for (const auto& [key, seen] : values) EXPECT_GT(seen.size(), 1U) << key << " has no second value in the generator";
}

TEST(Token, BigSeeds) {
  Case c{.backend = "b", .seq = {{1, 1}}};
  for (const std::uint64_t seed : {std::uint64_t{0}, std::uint64_t{1} << 63, ~std::uint64_t{0}}) {
    c.seed = seed;
    EXPECT_EQ(parse_token(token(c)).seed, seed);
  }
}

TEST(Token, ShowsOnlyWhatIsNoDefault) {
  const Case plain{.backend = "native", .seq = {{1, 15}}};
  EXPECT_EQ(token(plain), "decode/native/q=bf16/kv=auto/h=8:2/d=128/page=16/seq=1x15#0");
  Case rope = plain;
  rope.phase = Phase::Rope;
  EXPECT_EQ(token(rope), "rope/native/q=bf16/h=8:2/d=128/seq=1x15#0") << "rope has no cache";
  rope.kv = "fp8";
  rope.page = 32;
  EXPECT_EQ(parse_token(token(rope)), rope) << "but what differs from the default is said";
}

TEST(Token, KeysComeInOneOrder) {
  Case c{.phase = Phase::Mixed,
         .backend = "fa3",
         .q = DType::F16,
         .k = DType::F32,
         .v = DType::E4M3FN,
         .kv = "fp8_e5m2",
         .out = DType::BF16,
         .heads_q = 6,
         .heads_kv = 3,
         .dim = 64,
         .dim_v = 32,
         .page = 24,
         .seq = {{1, 2}, {3, 4}, {3, 4}, {1, 2}},
         .table = Table::Ordered,
         .mask = {.kind = Mask::Kind::Window, .left = 4, .right = -1},
         .cap = 0.1,
         .sink = DType::F32,
         .scales = Scales::SeqHead,
         .strides = Strides::PaddedOut,
         .splits = 3,
         .plan = PlanUse::Reused,
         .rot = 8,
         .style = RopeStyle::Interleaved,
         .offsets = true,
         .graph = Graph::Full,
         .probe = Probe::File,
         .directory = "/a b/c#1/50%",
         .keys = 5,
         .poison = Poison::Huge,
         .fault = "skip_last",
         .seed = 9};
  const std::string text =
      "mixed/fa3/q=f16/k=f32/v=fp8_e4m3/kv=fp8_e5m2/out=bf16/h=6:3/d=64/dv=32/page=24/seq=1x2,2*3x4,1x2/table=ordered/"
      "mask=window:4,-1/cap=0.1/"
      "sink=f32/scales=seq_head/strides=padded_out/splits=3/plan=reused/rot=8/style=interleaved/offsets=on/graph=full/"
      "in=file:%2Fa%20b%2Fc%231%2F50%25/keys=5/poison=huge/fault=skip_last#9";
  EXPECT_EQ(token(c), text);
  EXPECT_EQ(parse_token(text), c);
}

// Each changes one thing; none may be lost in the token.
TEST(Token, TellsAllCasesApart) {
  const Case base{.backend = "b", .q = DType::F16, .seq = {{2, 40}, {2, 40}}};
  const std::vector<std::function<void(Case&)>> changes{
      [](Case& c) { c.phase = Phase::Prefill; },
      [](Case& c) { c.backend = "b2"; },
      [](Case& c) { c.q = DType::F32; },
      [](Case& c) { c.k = DType::F16; },
      [](Case& c) { c.v = DType::F16; },
      [](Case& c) { c.kv = "f16"; },
      [](Case& c) { c.kv = "float16"; },
      [](Case& c) { c.out = DType::F16; },
      [](Case& c) { c.heads_q = 4; },
      [](Case& c) { c.heads_kv = 4; },
      [](Case& c) { c.dim = 64; },
      [](Case& c) { c.dim_v = 128; },
      [](Case& c) { c.page = 32; },
      [](Case& c) { c.seq.pop_back(); },
      [](Case& c) { c.seq[1].len_kv = 41; },
      [](Case& c) { c.table = Table::Aliased; },
      [](Case& c) { c.mask.kind = Mask::Kind::Full; },
      [](Case& c) { c.mask = {.kind = Mask::Kind::Window, .left = 8, .right = 0}; },
      [](Case& c) { c.mask = {.kind = Mask::Kind::Window, .left = 8, .right = 1}; },
      [](Case& c) { c.mask = {.kind = Mask::Kind::Chunk, .chunk = 8}; },
      [](Case& c) { c.cap = 30; },
      [](Case& c) { c.cap = 30.0000001; },
      [](Case& c) { c.sink = DType::F16; },
      [](Case& c) { c.scales = Scales::Odd; },
      [](Case& c) { c.strides = Strides::Fused; },
      [](Case& c) { c.splits = 1; },
      [](Case& c) { c.plan = PlanUse::Reused; },
      [](Case& c) { c.rot = 128; },
      [](Case& c) { c.style = RopeStyle::Interleaved; },
      [](Case& c) { c.offsets = true; },
      [](Case& c) { c.graph = Graph::Compile; },
      [](Case& c) { c.probe = Probe::Mass; },
      [](Case& c) { c.keys = 1; },
      [](Case& c) { c.poison = Poison::Zero; },
      [](Case& c) { c.rel = Relation::PagesMoved; },
      [](Case& c) { c.fault = "x"; },
      [](Case& c) { c.seed = 1; },
      [](Case& c) { c.probe = Probe::File, c.directory = "x"; },
      [](Case& c) { c.probe = Probe::File, c.directory = "x/"; },
  };
  std::set<std::string> tokens{token(base)};
  for (const auto& change : changes) {
    Case c = base;
    change(c);
    EXPECT_TRUE(tokens.insert(token(c)).second) << token(c);
  }
}

TEST(Token, CachesKeepTheNameTheyWereAskedBy) {
  for (const auto& kv : cache_names()) {
    const Case c{.backend = "b", .kv = kv, .seq = {{1, 1}}};
    EXPECT_NE(token(c).find("/kv=" + kv + "/"), std::string::npos);
    EXPECT_EQ(parse_token(token(c)).kv, kv);
  }
  EXPECT_EQ(cache_dtype("bfloat16", DType::F32), DType::BF16);
  EXPECT_EQ(cache_dtype("auto", DType::F32), DType::F32);
  EXPECT_EQ(cache_dtype("fp8", DType::F32), DType::E4M3FN);
  EXPECT_EQ(cache_dtype("q8_0", DType::F32), DType::Q8_0);
  EXPECT_EQ(cache_dtype("f64", DType::F32), std::nullopt);
}

TEST(Token, WhatPeopleTypeIsReadAndPrintedOneWay) {
  const auto canonical = [](const std::string& text) { return token(parse_token(text)); };
  const std::string right = "decode/b/q=f32/kv=auto/h=8:2/d=64/page=16/seq=2*1x5,1x6/cap=30#7";
  EXPECT_EQ(canonical("decode/b/cap=30.0/seq=1x5,1*1x5,1x6/d=64/q=f32#7"), right);
  EXPECT_EQ(canonical("decode/b/cap=3e1/seq=2*1x5,1x6/d=064/q=f32/k=same/sink=none/fault=none/out=contract/dv=same#07"),
            right);
  EXPECT_EQ(canonical("decode/b/seq=1x1/cap=-0#1"), canonical("decode/b/seq=1x1#1"));
  EXPECT_EQ(parse_token("decode/b/seq=1x1/in=file:a#b#3").directory, "a#b") << "only the last # ends the token";
  EXPECT_EQ(parse_token("decode/b/seq=1x1/in=file:100%#3").directory, "100%");
  EXPECT_EQ(parse_token("decode/b/seq=1x1/in=file:%2f%zz%4#3").directory, "/%zz%4");
}

}  // namespace
}  // namespace attest
