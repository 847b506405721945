// What is no contract or no list of waivers, with file and line.
#include "harness/matrix/waiver_file.h"
#include "tests/matrix/files.h"

#include <gtest/gtest.h>

namespace attest::test {
namespace {

std::string without(std::string text, const std::string& part) {
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part)) text.erase(at, part.size());
  return text;
}

std::string complaint(const std::string& text) {
  const TempFolder folder;
  return without(message_of<UsageError>([&] { read_contracts(folder.write("c.yaml", text), ""); }), folder.path(""));
}

struct Wrong {
  std::string text, message;  // after kLeastContract, so from line 5 on
};

void expect(const std::vector<Wrong>& rows) {
  for (const auto& [text, message] : rows) {
    const std::string said = complaint(kLeastContract + text + "\n");
    EXPECT_EQ(said.find("c.yaml:" + message), 0U) << text << "\n" << said;
  }
}

TEST(ContractErrors, ItsFrame) {
  EXPECT_EQ(complaint(kLeastContract), "");
  for (const std::string key : {"backend", "about", "plugin", "ops"}) {
    std::string text = kLeastContract;
    const auto begin = text.find(key + ": ");
    text.erase(begin, text.find('\n', begin) + 1 - begin);
    EXPECT_EQ(complaint(text), "c.yaml:1: a contract needs '" + key + "'");
  }
  EXPECT_EQ(complaint("backend: 'a/b'\nabout: x\nplugin: x\nops: {decode: attend}\n"),
            "c.yaml:1: 'a/b' is no backend's name: letters, digits and _ - . +");
  EXPECT_EQ(complaint("backend: 'a*'\nabout: x\nplugin: x\nops: {decode: attend}\n"),
            "c.yaml:1: 'a*' is no backend's name: letters, digits and _ - . +");
  expect({
      {"arithmatic: []", "5: key 'arithmatic' is unknown (did you mean 'arithmetic'?)"},
      {"about: again", "5: key 'about' is given twice"},
      {"aliases: {a: b}", "5: aliases: expected a list"},
      {"options: [a]", "5: expected a mapping (key: value)"},
      {"options: {a: [b]}", "5: a: expected one value"},
      {"variants:\n  mine: {a: b}\n  'm#2': {a: c}", "1: 'm#2' is no backend's name: letters, digits and _ - . +"},
      {"variants:\n  mine:", "6: key 'mine' has no value"},
      {"variants: [a]", "5: expected a mapping (key: value)"},
      {"takes: [q]", "5: expected a mapping (key: value)"},
      {"takes:\n  q: bf61", "6: q: 'bf61' is no dtype (did you mean 'bf16'?)"},
      {"takes:\n  headdim: 64", "6: key 'headdim' is unknown"},
      {"takes:\n  d: {multiple: 0}", "6: d.multiple: '0' is no positive integer"},
  });
  EXPECT_EQ(complaint("backend: x\nabout: x\nplugin: x\nops: {decod: attend}\n"),
            "c.yaml:4: key 'decod' is unknown (did you mean 'decode'?)");
  EXPECT_EQ(complaint("backend: x\nabout: x\nplugin: x\nops: {decode: atend}\n"),
            "c.yaml:4: decode: 'atend' is no operation (did you mean 'attend'?)");
}

TEST(ContractErrors, Rules) {
  expect({
      {"rejects: {kv: fp8}", "5: expected a list of rules"},
      {"rejects:\n  - {message: m, source: s}", "6: a rule needs 'when'"},
      {"rejects:\n  - {when: {}, message: m, source: s}", "6: a rule needs 'when'"},
      {"rejects:\n  - {when: {kv: fp8}, source: s}", "6: a rule needs 'message'"},
      {"rejects:\n  - {when: {kv: fp8}, message: m}", "6: a rule needs its 'source'"},
      {"rejects:\n  - {when: {kv: fp8}, because: m, source: s}",
       "6: key 'because' is unknown (one of: when, message, source)"},
      {"rejects:\n  - when: {kv: fp9}\n    message: m\n    source: s",
       "6: kv: 'fp9' is no KV cache (did you mean 'fp8'?)"},
      {"declines:\n  - {when: {kv: fp8}, reason: m}", "6: key 'reason' is unknown"},
      {"declines:\n  - {when: {kv: fp8}}", "6: a rule needs 'because'"},
      {"divergences:\n  - {when: {kv: fp8}, what: m}", "6: a rule needs its 'source'"},
      {"divergences:\n  - {when: {kv: fp8}, source: m}", "6: a rule needs 'what'"},
  });
}

TEST(ContractErrors, Claims) {
  expect({
      {"arithmetic: {exp_rel: {is: 1, source: s}}",
       "5: arithmetic: expected a list of claims, each with an optional 'when'"},
      {"arithmetic:\n  - exp_rel: {is: 1e-6}",
       "6: arithmetic.exp_rel: a claim needs its 'source', or 'assumed' with the reason"},
      {"arithmetic:\n  - exp_rel: {is: 1e-6, source: ''}",
       "6: arithmetic.exp_rel: a claim needs its 'source', or 'assumed' with the reason"},
      {"arithmetic:\n  - exp_rel: {is: 1e-6, assumed: ''}",
       "6: arithmetic.exp_rel: a claim needs its 'source', or 'assumed' with the reason"},
      {"arithmetic:\n  - exp_rel: {is: 1e-6, assumed:}", "6: key 'assumed' has no value"},
      {"arithmetic:\n  - exp_rel: {source: s}", "6: arithmetic.exp_rel: a claim needs 'is'"},
      {"arithmetic:\n  - exp_rel: 1e-6", "6: expected a mapping (key: value)"},
      {"arithmetic:\n  - exp_rel: {is: 1e-6, sorce: s}", "6: key 'sorce' is unknown (did you mean 'source'?)"},
      {"arithmetic:\n  - p: {is: f32, source: s}\n    exp_real: {is: 1e-6, source: s}",
       "7: arithmetic.exp_real: unknown field (did you mean 'exp_rel'?)"},
      {"arithmetic:\n  - exp_rel: {is: inf, source: s}",
       "6: arithmetic.exp_rel: 'inf' is no error: a finite number of at least 0"},
      {"arithmetic:\n  - when: {q: bf61}\n    p: {is: f32, source: s}",
       "6: q: 'bf61' is no dtype (did you mean 'bf16'?)"},
      {"arithmetic:\n  - p: {is: f32, source: s}\n    p: {is: bf16, source: s}", "7: key 'p' is given twice"},
      {"write:\n  - overflow: {is: wrap, source: s}", "6: write.overflow: 'wrap' is unknown (one of: saturate, ieee)"},
      {"rules:\n  - lse: {is: maybe, source: s}", "6: rules.lse: 'maybe' is unknown (one of: true, false)"},
      {"ran:\n  - name: {is: k, source: s}", "6: ran.name: unknown field (one of: kernel)"},
  });
}

TEST(ContractErrors, Layouts) {
  const std::string v = "v: {shape: [page, slot, head, dim]}";
  expect({
      {"layout: {loose: {k: {shape: [page, slot, head, dim]}, " + v + "}}", "5: 'loose' is unknown"},
      {"layout:\n  dense: {" + v + "}", "6: a layout needs 'k' and 'v'"},
      {"layout:\n  dense: {q: {}, " + v + "}", "6: key 'q' is unknown (one of: k, v, indexed_by)"},
      {"layout:\n  dense:\n    indexed_by: me\n    " + v, "7: indexed_by can only be 'plugin'"},
      {"layout:\n  dense:\n    k: {shape: [page, slot, heads, dim]}\n    " + v,
       "7: 'heads' is no axis of a cache (did you mean 'head'?)"},
      {"layout:\n  dense:\n    k: {shape: [page, slot, dim]}\n    " + v, "7: shape must name the axis 'head' once"},
      {"layout:\n  dense:\n    k: {storage: [page, slot, head, dim]}\n    " + v,
       "7: shape must name the axis 'page' once"},
      {"layout:\n  dense:\n    k: {shape: [page, slot, head, dim], order: [page, kv, slot, head, dim]}\n    " + v,
       "7: storage and order must both name the axis 'kv' once, or neither"},
      {"layout:\n  fused:\n    k: {shape: [page, slot, head, dim], storage: [page, kv, slot, head, dim]}\n    " + v,
       "6: k and v must nest the same axes inside 'kv', or both have a storage without it"},
  });
}

class WaiverFile : public testing::Test {
 protected:
  std::vector<Waiver> read(const std::string& text) const { return read_waivers(folder_.write("w.yaml", text)); }
  std::string complaint(const std::string& text) const {
    return without(message_of<UsageError>([&] { read(text); }), folder_.path(""));
  }
  TempFolder folder_;
};

const std::string kShared =
    "define:\n  - &all {backend: 'vllm*', version: '0.32.0', reference: found here 2026-12-01, expires: "
    "2027-06-01}\nwaivers:\n";

TEST_F(WaiverFile, Reads) {
  const auto all = read(kShared +
                        "  - {<<: *all, cases: 'decode/*', seen: special}\n  - {<<: *all, backend: native, cases: "
                        "'*/kv=fp8*', seen: crash}\n");
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].backend, "vllm*");
  EXPECT_EQ(all[0].version, "0.32.0");
  EXPECT_EQ(all[0].cases, "decode/*");
  EXPECT_EQ(all[0].seen, "special");
  EXPECT_EQ(all[0].reference, "found here 2026-12-01");
  EXPECT_EQ(all[0].expires, "2027-06-01");
  EXPECT_EQ(all[0].place, folder_.path("w.yaml:4"));
  EXPECT_EQ(all[1].backend, "native");
  EXPECT_EQ(all[1].place, folder_.path("w.yaml:5"));
  EXPECT_TRUE(read("waivers: []\n").empty());
}

TEST_F(WaiverFile, Refuses) {
  EXPECT_EQ(complaint(kShared + "  - {<<: *all, cases: x}\n"), "w.yaml:4: a waiver needs 'seen'");
  EXPECT_EQ(complaint(kShared + "  - {<<: *all, cases: x, seen: wrong}\n"),
            "w.yaml:4: seen: 'wrong' is no kind of failure");
  EXPECT_EQ(complaint(kShared + "  - {<<: *all, cases: x, seen: special, expires: never}\n"),
            "w.yaml:4: expires: 'never' is no date YYYY-MM-DD");
  EXPECT_EQ(complaint(kShared + "  - {<<: *all, case: x, seen: special}\n"),
            "w.yaml:4: key 'case' is unknown (did you mean 'cases'?)");
  EXPECT_EQ(complaint(kShared + "  - {<<: *all, cases: [a, b], seen: special}\n"),
            "w.yaml:4: cases: expected one value");
  EXPECT_EQ(complaint("waivers: {a: b}\n"), "w.yaml:1: expected a list of waivers");
  EXPECT_EQ(complaint("waiver: []\n"), "w.yaml:1: key 'waiver' is unknown (did you mean 'waivers'?)");
  EXPECT_EQ(message_of<UsageError>([&] { read_waivers(folder_.path("none")); }),
            folder_.path("none") + ": can't be read: No such file or directory");
}

}  // namespace
}  // namespace attest::test
