// What a matrix file makes: products, ranges, pages, merges, exclusions, tiers, seeds, covers, another backend.
#include "tests/matrix/files.h"

#include "harness/core/contract.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace attest::test {
namespace {

using Tokens = std::vector<std::string>;

TEST_F(MatrixTest, OneBlockOneCase) {
  const Matrix matrix = read({kLeastBlock});
  ASSERT_EQ(matrix.cases.size(), 1U);
  const ListedCase& listed = matrix.cases[0];
  EXPECT_EQ(listed.token, decode("h=8:2/d=64/page=16/seq=1x5#1"));
  EXPECT_EQ(listed.token, token(listed.c));
  EXPECT_EQ(listed.block, "one");
  EXPECT_EQ(listed.place, folder_.path("m0.yaml:2"));
  EXPECT_TRUE(matrix.left_out.empty());
  EXPECT_TRUE(matrix.unreached.empty());
}

TEST_F(MatrixTest, ABlockIsTheProductOfItsLists) {
  const auto all =
      tokens("blocks: [{name: n, phase: decode, backend: native, seq: [1x5, 1x6], d: [64, 128], page: [16, 32, 48]}]");
  Tokens right;
  for (const char* seq : {"1x5", "1x6"})
    for (const char* d : {"64", "128"})
      for (const char* page : {"16", "32", "48"})
        right.push_back(decode("h=8:2/d=" + std::string(d) + "/page=" + page + "/seq=" + seq + "#1"));
  EXPECT_EQ(all, right) << "in the order of the file, the last key fastest";
}

TEST_F(MatrixTest, EveryKeyIsAnAxis) {
  const Matrix matrix =
      read({"blocks:\n  - {name: n, phase: mixed, backend: fa3, q: f16, k: f32, v: bf16, kv: fp8, out: f32, h: 6:2, d: "
            "64, dv: 32, page: 32, seq: 2x5, table: ordered, mask: 'window:4,0', cap: 20, sink: f32,\n"
            "     scales: odd, strides: padded, splits: 2, plan: reused, rot: 8, style: interleaved, offsets: on, "
            "graph: full, in: mass, poison: huge, fault: f, seed: 9}\n"});
  EXPECT_EQ(matrix.cases.at(0).token,
            "mixed/fa3/q=f16/k=f32/v=bf16/kv=fp8/out=f32/h=6:2/d=64/dv=32/page=32/seq=2x5/table=ordered/"
            "mask=window:4,0/cap=20/sink=f32/scales=odd/strides=padded/splits=2/plan=reused/rot=8/"
            "style=interleaved/offsets=on/graph=full/in=mass/poison=huge/fault=f#9");
}

TEST_F(MatrixTest, RangesNestedListsAndSeeds) {
  const auto all = tokens(
      "define:\n  - &wide [192, [256]]\nblocks:\n  - {name: n, phase: decode, backend: native, seq: 1x5, d: "
      "[64..128..32, *wide], seed: [1..2, 7]}\n");
  std::set<std::string> right;
  for (const char* d : {"64", "96", "128", "192", "256"})
    for (const char* seed : {"1", "2", "7"})
      right.insert(decode("h=8:2/d=" + std::string(d) + "/page=16/seq=1x5#" + seed));
  EXPECT_EQ(all.size(), right.size());
  EXPECT_EQ(std::set(all.begin(), all.end()), right);
  EXPECT_EQ(tokens(kLeastBlock, {.seed = 42}), Tokens{decode("h=8:2/d=64/page=16/seq=1x5#42")});
  EXPECT_EQ(tokens(kLeastBlock + "    seed: 3\n", {.seed = 42}), Tokens{decode("h=8:2/d=64/page=16/seq=1x5#3")})
      << "the option fills a seed, it replaces none";
}

TEST_F(MatrixTest, LengthsFollowThePage) {
  const auto all = tokens(
      "blocks: [{name: n, phase: prefill, backend: native, seq: ['1xp-1,px2p+1', 2xp-2], d: 64, page: [16, 32]}]");
  const std::string begin = "prefill/native/q=bf16/kv=auto/h=8:2/d=64/page=";
  EXPECT_EQ(all, (Tokens{begin + "16/seq=1x15,16x33#1", begin + "32/seq=1x31,32x65#1", begin + "16/seq=2x14#1",
                         begin + "32/seq=2x30#1"}));
}

TEST_F(MatrixTest, OfMergedMappingsTheFirstWins) {
  const auto all = tokens(
      "define:\n  - &base {phase: decode, backend: native, seq: 1x5, d: 64}\n  - &fp8 {kv: fp8, d: 96}\nblocks:\n  - "
      "{name: a, <<: *base}\n  - {name: b, <<: [*fp8, *base]}\n  - {<<: *base, name: c, d: 128}\n"
      "  - {d: 256, <<: *base, name: d}\n");
  EXPECT_EQ(all,
            (Tokens{decode("h=8:2/d=64/page=16/seq=1x5#1"), "decode/native/q=bf16/kv=fp8/h=8:2/d=96/page=16/seq=1x5#1",
                    decode("h=8:2/d=128/page=16/seq=1x5#1"), decode("h=8:2/d=256/page=16/seq=1x5#1")}))
      << "what a block says itself wins, wherever the merge stands";
}

TEST_F(MatrixTest, Excludes) {
  const std::string block =
      "define:\n  - &why {because: shared}\n  - &list\n    - {kv: fp8, because: c}\nblocks:\n  - {name: n, phase: "
      "decode, backend: [fa3, fa4], seq: [1x5, 1x50, '2*1x7'], kv: [auto, bf16, fp8], d: [64, 80], exclude: EXCLUDE}\n";
  const auto left = [&](const std::string& exclude) {
    std::string text = block;
    text.replace(text.find("EXCLUDE"), 7, exclude);
    return read({text}).cases;
  };
  EXPECT_EQ(left("[{kv: none*, because: x}]").size(), 36U);
  EXPECT_EQ(left("[{kv: fp8, because: x}]").size(), 24U);
  EXPECT_EQ(left("[*list]").size(), 24U) << "a list within the list";
  EXPECT_EQ(left("[{kv: [fp8, bf16], d: {not_multiple: 32}, because: x}]").size(), 24U)
      << "all conditions of one exclude";
  EXPECT_EQ(left("[{kv: fp8, because: x}, {d: 80, because: y}]").size(), 12U) << "any of several";
  EXPECT_EQ(left("[{max_len_kv: {min: 7}, backend: fa4, because: x}]").size(), 24U) << "derived values";
  EXPECT_EQ(left("[{cache: bf16, because: x}]").size(), 12U) << "auto stores q's dtype";
  EXPECT_EQ(left("[{<<: *why, d: 80}]").size(), 18U) << "a reason that is merged in";
  EXPECT_EQ(left("[{d: '080', because: x}]").size(), 18U) << "however the value is spelt";
  EXPECT_EQ(left("[{seq: '1x7,1x7', because: x}]").size(), 24U) << "however the value is spelt";
  for (const auto& listed : left("[{backend: fa3, phase: decode, because: x}]")) EXPECT_EQ(listed.c.backend, "fa4");
}

TEST_F(MatrixTest, ContradictionsMayBeExcluded) {
  const std::string block =
      "blocks: [{name: n, phase: decode, backend: native, seq: 1x5, in: [gauss, select], cap: [0, 20], exclude: [{in: "
      "select, cap: 20, because: no key wins}]}]";
  EXPECT_EQ(tokens(block).size(), 3U);
}

TEST_F(MatrixTest, Tiers) {
  const std::string text =
      "blocks:\n  - {name: a, tier: smoke, phase: decode, backend: native, seq: 1x1}\n  - {name: b, phase: decode, "
      "backend: native, seq: 1x2}\n"
      "  - {name: c, tier: nightly, phase: decode, backend: native, seq: 1x3}\n  - {name: d, tier: full, phase: "
      "decode, backend: native, seq: 1x4}\n";
  const auto names = [&](Tier tier) {
    std::string all;
    for (const auto& listed : read({text}, {.tier = tier}).cases) all += listed.block;
    return all;
  };
  EXPECT_EQ(names(Tier::Smoke), "a");
  EXPECT_EQ(names(Tier::Ci), "ab") << "ci is a block's own tier when it names none";
  EXPECT_EQ(names(Tier::Nightly), "abc");
  EXPECT_EQ(names(Tier::Full), "abcd");
  const auto left_out = read({text}, {.tier = Tier::Ci}).left_out;
  EXPECT_EQ(left_out, (Tokens{folder_.path("m0.yaml:4: block 'c' is of tier nightly"),
                              folder_.path("m0.yaml:5: block 'd' is of tier full")}));
  for (const auto& tier : tier_names()) EXPECT_EQ(name(*tier_from_name(tier)), tier);
  EXPECT_EQ(tier_from_name("daily"), std::nullopt);
}

TEST_F(MatrixTest, BackendsByAliasAndByOption) {
  const std::string text = "blocks:\n  - {name: a, phase: decode, backend: [torch_native, fa3], seq: 1x5}\n";
  EXPECT_EQ(tokens(text),
            (Tokens{decode("h=8:2/d=128/page=16/seq=1x5#1"), decode("h=8:2/d=128/page=16/seq=1x5#1", "fa3")}));
  EXPECT_EQ(tokens(text, {.only_backend = "fa4"}), Tokens{decode("h=8:2/d=128/page=16/seq=1x5#1", "fa4")})
      << "the same case of two backends is one";
}

TEST_F(MatrixTest, SeveralFiles) {
  const Matrix matrix = read({kLeastBlock, "blocks:\n  - {name: two, phase: write, backend: fa3, seq: 1x5}\n"});
  ASSERT_EQ(matrix.cases.size(), 2U);
  EXPECT_EQ(matrix.cases[1].place, folder_.path("m1.yaml:2"));
}

TEST_F(MatrixTest, PairwiseCoversAndNamesWhatItCanNot) {
  const std::string text =
      "blocks:\n  - name: n\n    cover: pairwise\n    phase: decode\n    backend: [fa3, fa4]\n    seq: [1x5, 1x6, "
      "1x7]\n    d: [64, 80, 96, 128]\n    page: [16, 32, 48]\n    kv: [auto, bf16, fp8, fp8_e5m2]\n"
      "    exclude:\n      - {kv: 'fp8*', d: 80, because: not built}\n      - {kv: fp8_e5m2, backend: fa4, page: [16, "
      "32], because: not built either}\n";
  const Matrix matrix = read({text});
  EXPECT_LT(matrix.cases.size(), 30U) << "of 288";
  EXPECT_EQ(matrix.unreached,
            (Tokens{folder_.path("m0.yaml:2: block 'n' has no case with both d=80 and kv=fp8"),
                    folder_.path("m0.yaml:2: block 'n' has no case with both d=80 and kv=fp8_e5m2")}));
  std::set<std::pair<std::string, std::string>> pairs;
  for (const auto& listed : matrix.cases) {
    EXPECT_FALSE(listed.c.kv.starts_with("fp8") && listed.c.dim == 80);
    EXPECT_FALSE(listed.c.kv == "fp8_e5m2" && listed.c.backend == "fa4" && listed.c.page != 48);
    pairs.emplace(listed.c.kv, std::to_string(listed.c.dim));
    pairs.emplace(listed.c.backend, listed.c.kv);
  }
  EXPECT_EQ(pairs.size(), 16U - 2 + 8);
  EXPECT_TRUE(pairs.contains({"fa4", "fp8_e5m2"})) << "on one page only, yet it can be had";
  EXPECT_EQ(tokens(text), tokens(text));
}

}  // namespace
}  // namespace attest::test
