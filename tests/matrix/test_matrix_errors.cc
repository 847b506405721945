// What is no matrix: each complaint has its file, its line, the value, and what would be right.
#include "tests/matrix/files.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace attest::test {
namespace {

struct Wrong {
  std::string line, message;  // of line 7, after kLeastBlock
};

class MatrixErrors : public MatrixTest {
 protected:
  void expect(const std::vector<Wrong>& rows) const {
    for (const auto& [line, message] : rows) {
      const std::string said = complaint({kLeastBlock + "    " + line + "\n"});
      EXPECT_EQ(said.find("m0.yaml:7: " + message), 0U) << line << "\n" << said;
    }
  }
};

TEST_F(MatrixErrors, KeysAndValues) {
  expect({
      {"headz: 8", "key 'headz' is unknown (one of: name, tier, cover, exclude, phase, backend, seed, q, k,"},
      {"scale: odd", "key 'scale' is unknown (did you mean 'scales'?)"},
      {"backends: fa3", "key 'backends' is unknown (did you mean 'backend'?)"},
      {"seq: 1x6", "key 'seq' is given twice"},
      {"kv: fp8_e4m4", "kv: 'fp8_e4m4' is no KV cache (did you mean 'fp8_e4m3'?)"},
      {"kv: [auto, fp7]", "kv: 'fp7' is no KV cache (did you mean 'fp8'?)"},
      {"q: bf61", "q: 'bf61' is no dtype (did you mean 'bf16'?)"},
      {"graph: ful", "graph: 'ful' is unknown (did you mean 'full'?)"},
      {"page: [16, 0]", "page: '0' is no integer of at least 1"},
      {"page: 16..8", "page: '16..8' is no range FROM..TO or FROM..TO..STEP"},
      {"page: 1..16..0", "page: '1..16..0' is no range FROM..TO or FROM..TO..STEP"},
      {"page: 0..2", "page: '0' is no integer of at least 1"},
      {"splits: {min: 1}", "splits: expected a list"},
      {"splits: [[1, {a: 2}]]", "splits: expected one value"},
      {"splits:", "key 'splits' has no value"},
      {"kv: []", "kv: an empty list makes an empty product"},
      {"kv: [[], []]", "kv: an empty list makes an empty product"},
      {"seed: many", "seed: 'many' is no number"},
      {"seed: -1", "seed: '-1' is no number"},
      {"tier: daily", "tier: 'daily' is unknown (one of: smoke, ci, nightly, full)"},
      {"tier: nightli", "tier: 'nightli' is unknown (did you mean 'nightly'?)"},
      {"tier: [ci]", "tier: expected one value"},
      {"cover: pair", "cover: 'pair' is unknown"},
      {"cover: pairwize", "cover: 'pairwize' is unknown (did you mean 'pairwise'?)"},
      {"h: 8:2:1", "h: '8:2:1' is no pair HEADS_Q:HEADS_KV"},
      {"<<: none", "expected a mapping (key: value)"},
  });
}

TEST_F(MatrixErrors, PhaseBackendAndSeq) {
  const auto with = [&](const std::string& phase, const std::string& backend, const std::string& seq) {
    return complaint(
        {"blocks:\n  - name: one\n    phase: " + phase + "\n    backend: " + backend + "\n    seq: " + seq + "\n"});
  };
  EXPECT_EQ(with("decode", "native", "1x5"), "");
  EXPECT_EQ(with("decoding", "native", "1x5"), "m0.yaml:3: phase: 'decoding' is unknown (did you mean 'decode'?)");
  EXPECT_EQ(with("decode", "nativ", "1x5"), "m0.yaml:4: backend: backend 'nativ' is unknown (did you mean 'native'?)");
  EXPECT_EQ(with("decode", "[fa3, flash]", "1x5"),
            "m0.yaml:4: backend: backend 'flash' is unknown (one of: fa3, fa4, native)");
  EXPECT_EQ(with("decode", "native", "[1x5, 5]"),
            "m0.yaml:5: seq: '5' is no sequence: LEN_QxLEN_KV, or N*LEN_QxLEN_KV");
  EXPECT_EQ(with("decode", "native", "1xq"), "m0.yaml:5: seq: '1xq' is no sequence: LEN_QxLEN_KV, or N*LEN_QxLEN_KV");
  EXPECT_EQ(with("decode", "native", "1xp+"), "m0.yaml:5: seq: '1xp+' is no sequence: LEN_QxLEN_KV, or N*LEN_QxLEN_KV");
  EXPECT_EQ(with("decode", "native", "1xp-20"), "m0.yaml:5: seq: '1xp-20' makes no lengths with page=16");
  EXPECT_EQ(with("decode", "native", "0*1xp"), "m0.yaml:5: seq: in '0*1x1': '0' is no integer of at least 1");
}

TEST_F(MatrixErrors, WhatABlockNeeds) {
  const std::vector<std::string> lines{"name: one", "phase: decode", "backend: native", "seq: 1x5"};
  const std::vector<std::string> messages{"a block needs 'name'", "block 'one' needs 'phase'",
                                          "block 'one' needs 'backend'", "block 'one' needs 'seq'"};
  for (std::size_t missing = 0; missing < lines.size(); ++missing) {
    std::string text = "blocks:\n  - q: bf16\n";
    for (std::size_t i = 0; i < lines.size(); ++i)
      if (i != missing) text += "    " + lines[i] + "\n";
    EXPECT_EQ(complaint({text}), "m0.yaml:2: " + messages[missing]);
  }
}

TEST_F(MatrixErrors, Excludes) {
  expect({
      {"exclude: [{kv: fp8}]", "an exclude needs its 'because'"},
      {"exclude: [{kv: fp8, because: ''}]", "an exclude needs its 'because'"},
      {"exclude: [{because: x}]", "an exclude needs a condition"},
      {"exclude: {kv: fp8, because: x}", "exclude: expected a list"},
      {"exclude: [fp8]", "expected a mapping (key: value)"},
      {"exclude: [{kb: fp8, because: x}]", "key 'kb' is unknown (did you mean 'k'?)"},
      {"exclude: [{kv: fp9, because: x}]", "kv: 'fp9' is no KV cache (did you mean 'fp8'?)"},
      {"exclude: [{kv: [], because: x}]", "kv: an empty list matches nothing"},
      {"exclude: [{phase: decod, because: x}]", "phase: 'decod' is unknown (did you mean 'decode'?)"},
      {"exclude: [{cache: fp8, because: x}]", "cache: 'fp8' is unknown"},
      {"exclude: [{k_dtype: bf61, because: x}]", "k_dtype: 'bf61' is unknown (did you mean 'bf16'?)"},
      {"exclude: [{group: many, because: x}]", "group: 'many' is no integer"},
      {"exclude: [{d: {mn: 3}, because: x}]", "key 'mn' is unknown (did you mean 'min'?)"},
      {"exclude: [{d: {min: wide}, because: x}]", "d.min: 'wide' is no number"},
      {"exclude: [{d: {min: nan}, because: x}]", "d.min: 'nan' is no number"},
      {"exclude: [{d: {multiple: 0}, because: x}]", "d.multiple: '0' is no positive integer"},
      {"exclude: [{d: {not_multiple: 32.5}, because: x}]", "d.not_multiple: '32.5' is no positive integer"},
      {"exclude: [{d: {}, because: x}]", "d: expected values, or min, max, multiple or not_multiple"},
      {"exclude: [{kv: {min: 1}, because: x}]", "kv: its values are no numbers: list those that are meant"},
      {"exclude: [{h: {min: 8}, because: x}]", "h: its values are no numbers: list those that are meant"},
  });
}

TEST_F(MatrixErrors, WhatTheBlockMakes) {
  EXPECT_EQ(complaint({kLeastBlock + "    h: 8:3\n"}),
            "m0.yaml:2: block 'one' makes " + decode("h=8:3/d=64/page=16/seq=1x5#1") +
                ": h=8:3: 8 query heads are no multiple of 3 KV heads (exclude it, with a because)");
  EXPECT_EQ(complaint({kLeastBlock + "    in: select\n    cap: [0, 20]\n    cover: pairwise\n"}),
            "m0.yaml:2: block 'one' makes " + decode("h=8:2/d=64/page=16/seq=1x5/cap=20/in=select#1") +
                ": in=select: under cap=20 no key can win by 104 nats (exclude it, with a because)");
  EXPECT_EQ(complaint({kLeastBlock + "    exclude: [{d: 64, because: x}]\n"}),
            "m0.yaml:2: block 'one' is empty: every combination is excluded");
  EXPECT_EQ(complaint({kLeastBlock + "    exclude: [{d: 64, because: x}]\n    cover: pairwise\n"}),
            "m0.yaml:2: block 'one' is empty: every combination is excluded");
  EXPECT_EQ(complaint({kLeastBlock + "    seed: 1..5000\n    page: 1..50\n"}),
            "m0.yaml:2: block 'one' multiplies to more than 200000 cases: split it, or say cover: pairwise");
}

TEST_F(MatrixErrors, CasesMadeTwice) {
  const std::string token = decode("h=8:2/d=64/page=16/seq=1x5#1");
  EXPECT_EQ(complaint({kLeastBlock + "    cap: [0, 0.0]\n"}),
            "m0.yaml:2: block 'one' makes " + token + " again, which m0.yaml:2 already makes");
  EXPECT_EQ(complaint({kLeastBlock + "  - {name: two, phase: decode, backend: torch_native, seq: 1x5, d: 64}\n"}),
            "m0.yaml:7: block 'two' makes " + token + " again, which m0.yaml:2 already makes");
  EXPECT_EQ(complaint({kLeastBlock, "# a comment\n" + kLeastBlock}),
            "m1.yaml:3: block 'one' makes " + token + " again, which m0.yaml:2 already makes");
  EXPECT_EQ(complaint({kLeastBlock + "    page: 16\n", kLeastBlock + "    page: 16\n"}, {.only_backend = "fa3"}), "")
      << "with --plugin several backends become one";
}

TEST_F(MatrixErrors, AliasesThatStandForMoreThanMemoryHolds) {
  std::string text = "define:\n  - &a0 [1, 2, 3, 4, 5, 6, 7, 8, 9]\n";
  std::string merges = "define:\n  - &a0 {q: bf16}\n";
  for (int i = 1; i < 12; ++i) {
    std::string aliases;
    for (int n = 0; n < 9; ++n) aliases += fmt::format("{}*a{}", n ? ", " : "", i - 1);
    text += fmt::format("  - &a{} [{}]\n", i, aliases);
    merges += fmt::format("  - &a{} {{<<: [{}]}}\n", i, aliases);
  }
  for (const auto& bomb : {text, merges})
    EXPECT_NE(complaint({bomb + kLeastBlock}).find("values, aliases written out"), std::string::npos);
  EXPECT_NE(complaint({kLeastBlock + "    page: " + std::string(200'000, '9') + "..3\n"}), "");
}

TEST_F(MatrixErrors, WhatIsNoMatrixFile) {
  EXPECT_EQ(complaint({"blocks: [\n"}).find("m0.yaml:2: no YAML: "), 0U) << complaint({"blocks: [\n"});
  EXPECT_EQ(complaint({"a: b: c\n"}).find("m0.yaml:1: no YAML: "), 0U);
  EXPECT_EQ(complaint({"blocks: *nowhere\n"}).find("m0.yaml:1: no YAML: "), 0U);
  EXPECT_EQ(complaint({""}), "m0.yaml:1: expected a mapping (key: value) at the top");
  EXPECT_EQ(complaint({"- a\n"}), "m0.yaml:1: expected a mapping (key: value) at the top");
  EXPECT_EQ(complaint({"# nothing yet\n\ndefine: []\n"}), "m0.yaml:3: a matrix needs 'blocks'");
  EXPECT_EQ(complaint({"block:\n  - {}\n"}), "m0.yaml:1: key 'block' is unknown (did you mean 'blocks'?)");
  EXPECT_EQ(complaint({"define: 1\nblocks: []\n"}), "m0.yaml:2: blocks: expected a list of blocks");
  EXPECT_EQ(complaint({"blocks: {name: one}\n"}), "m0.yaml:1: blocks: expected a list of blocks");
  EXPECT_EQ(complaint({"blocks:\n  - one\n"}), "m0.yaml:2: expected a mapping (key: value)");
  EXPECT_EQ(complaint({kLeastBlock + "---\n" + kLeastBlock}), "m0.yaml:8: holds 2 YAML documents (---), expected one");
  EXPECT_EQ(complaint({"blocks:\n  - &self {name: n, <<: *self}\n"}), "m0.yaml:2: merges itself");
  EXPECT_EQ(complaint({kLeastBlock + "    page: &self [16, *self]\n"}), "m0.yaml:7: page: a list that holds itself");
  EXPECT_EQ(message_of<UsageError>([&] { read_matrix({folder_.path("none.yaml")}, contracts_, {}); }),
            folder_.path("none.yaml") + ": can't be read: No such file or directory");
}

}  // namespace
}  // namespace attest::test
