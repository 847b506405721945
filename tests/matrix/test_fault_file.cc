// The catalogue's file: conditions over cases and claims, and every mistake said with its place.
#include <gtest/gtest.h>

#include "harness/core/error.h"
#include "harness/matrix/contract_file.h"
#include "harness/matrix/fault_file.h"
#include "tests/core/temp_folder.h"

namespace attest {
namespace {

class FaultFile : public testing::Test {
 protected:
  std::vector<Fault> read(const std::string& text) {
    return read_faults(folder_.write("model.yaml", text), FaultTier::Model);
  }
  std::string error(const std::string& text) {
    const std::string all = test::message_of<UsageError>([&] { read(text); });
    return all.starts_with(folder_.path("")) ? all.substr(folder_.path("").size()) : all;
  }
  test::TempFolder folder_;
};

TEST_F(FaultFile, ConditionsTestCasesAndClaims) {
  const auto faults = read(
      "faults:\n"
      "  - {name: a, says: s, when: {p_offset: {min: 1}}}\n"
      "  - {name: b, says: s, when: {lse: \"true\", kv: \"fp8*\"}}\n"
      "  - {name: c, says: s, when: {qk_acc: f64}, unseen: {\"li*\": why}}\n");
  ASSERT_EQ(faults.size(), 3U);
  const Contract liar = read_contracts(ATTEST_SOURCE_DIR "/cases/contracts/liar.yaml", "").front();
  Case c;
  c.backend = "liar";
  c.seq = {{}};
  EXPECT_FALSE(holds(faults[0].when, c, liar));  // unset: 0
  EXPECT_FALSE(holds(faults[1].when, c, liar));
  c.kv = "fp8_e4m3";
  EXPECT_TRUE(holds(faults[1].when, c, liar));
  EXPECT_TRUE(holds(faults[2].when, c, liar));
  EXPECT_EQ(faults[2].why_unseen("liar"), "why");
  EXPECT_EQ(faults[2].why_unseen("native"), std::nullopt);
  EXPECT_EQ(claimed_value(liar, c, "empty_row"), "zero");
  EXPECT_EQ(claimed_value(liar, c, "carry"), "f32");
  EXPECT_EQ(claimed_value(liar, c, "carrie"), std::nullopt);
}

TEST_F(FaultFile, MistakesAreSaidWithTheirPlace) {
  EXPECT_EQ(error("faults:\n  - {name: a, say: s}\n"), "model.yaml:2: key 'say' is unknown (did you mean 'says'?)");
  EXPECT_EQ(error("faults:\n  - {name: a}\n"), "model.yaml:2: fault a needs 'says', one sentence");
  EXPECT_EQ(error("faults:\n  - {says: a}\n"), "model.yaml:2: a fault needs a 'name'");
  EXPECT_EQ(error("faults:\n  - {name: A b, says: s}\n"), "model.yaml:2: name: 'A b' has a 'A': use a-z, 0-9 and _");
  EXPECT_NE(error("faults:\n  - {name: a, says: s, when: {p_ofset: 1}}\n").find("did you mean 'p_offset'?"),
            std::string::npos);
  EXPECT_NE(
      error("faults:\n  - {name: a, says: s, when: {lse: maybe}}\n").find("model.yaml:2: lse: 'maybe' is unknown"),
      std::string::npos);
  EXPECT_NE(error("faults:\n  - {name: a, says: s, when: {lse: {min: 1}}}\n").find("its values are no numbers"),
            std::string::npos);
  EXPECT_NE(error("faults:\n  - {name: a, says: s}\n  - {name: a, says: t}\n").find("fault a was defined at"),
            std::string::npos);
  EXPECT_NE(error("faults: {}\n").find("expected a list of faults"), std::string::npos);
}

TEST_F(FaultFile, OverridingAMergedKeyLeavesTheAnchorAlone) {
  const auto faults = read(
      "define:\n  - &base {phase: decode, q: bf16}\n  - &other {<<: *base, phase: write}\n"
      "faults:\n"
      "  - {name: a, says: s, when: {<<: *other}}\n"
      "  - {name: b, says: s, when: {<<: *base, q: f16}}\n"
      "  - {name: c, says: s, when: *base}\n");
  const auto is = [&](std::size_t i, std::size_t k) { return faults.at(i).when.at(k).any_of.at(0); };
  EXPECT_EQ(is(0, 0), "write");
  EXPECT_EQ(is(1, 0), "decode");
  EXPECT_EQ(is(1, 1), "f16");
  EXPECT_EQ(is(2, 0), "decode");
  EXPECT_EQ(is(2, 1), "bf16");
}

TEST_F(FaultFile, OneNameInTwoTiersIsRefused) {
  read("faults:\n  - {name: a, says: s}\n");
  folder_.write("output.yaml", "faults:\n  - {name: a, says: s}\n");
  EXPECT_THROW(read_catalogue(folder_.path("")), UsageError);
}

TEST_F(FaultFile, AnEmptyCatalogueIsRefused) { EXPECT_THROW(read_catalogue(folder_.path("")), UsageError); }

}  // namespace
}  // namespace attest
