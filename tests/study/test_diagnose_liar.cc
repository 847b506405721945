// The liar's faults by the catalogue's names, though it computes in binary64 and the model in binary32; what goes by
// itself in a run; what is told where there are no numbers.
#include "tests/cli/command.h"

#include "harness/record/journal.h"

namespace attest {
namespace {

const std::string kDecode = "decode/liar/q=bf16/kv=fp8_e4m3/h=6:2/d=32/page=16/seq=1x15,1x33/scales=odd/fault=";
const std::string kPrefill = "prefill/liar/q=bf16/kv=auto/h=6:2/d=32/page=16/seq=5x15,3x33/fault=";
const std::string kReused = "decode/liar/q=bf16/kv=auto/h=6:2/d=32/page=16/seq=1x15,1x33/plan=reused/fault=";
const std::string kSpecial = "decode/liar/q=bf16/kv=auto/h=6:2/d=32/page=16/seq=1x15,1x33/in=special/fault=";
const std::string kWrite = "write/liar/q=bf16/kv=fp8_e4m3/h=6:2/d=32/page=16/seq=3x15,2x33/scales=odd/fault=";

struct Known {
  std::string token, fault;  // of the liar, without its seed
  std::string named;         // in the catalogue
};

void PrintTo(const Known& known, std::ostream* to) { *to << known.fault; }

class DiagnoseLiar : public test::Cli, public testing::WithParamInterface<Known> {};

TEST_P(DiagnoseLiar, NamesTheFaultFirst) {
  const auto& [token, fault, named] = GetParam();
  const test::Ran ran = run("diagnose '" + token + fault + "#3'");
  ASSERT_EQ(ran.exit_code, 0) << ran.output;
  const auto begin = std::min(ran.output.find("\nmatches: "), ran.output.find("\nresembles: "));
  ASSERT_NE(begin, std::string::npos) << ran.output;
  const std::string first = ran.output.substr(begin, ran.output.find('\n', begin + 1) - begin);
  EXPECT_NE(first.find(" " + named), std::string::npos) << ran.output;
}

INSTANTIATE_TEST_SUITE_P(All, DiagnoseLiar,
                         testing::Values(Known{kDecode, "dropped_k_scale", "k_scale_dropped"},
                                         Known{kDecode, "dropped_v_scale", "v_scale_dropped"},
                                         Known{kDecode, "swapped_heads", "next_kv_head"},
                                         Known{kDecode, "lse_base_2", "lse_in_base_2"},
                                         Known{kPrefill, "mask_off_by_one", "causal_minus_one"},
                                         Known{kPrefill, "unwritten_row", "last_row_not_written"},
                                         Known{kReused, "frozen_length", "len_kv_of_previous_launch"},
                                         Known{kSpecial, "nan_swallowed", "nan_swallowed"},
                                         Known{kWrite, "slot_off_by_one", "slot_mapping_off_by_one"},
                                         Known{kWrite, "truncating_write", "write_truncates"}),
                         [](const auto& known) { return known.param.fault; });

class Diagnose : public test::Cli {};

TEST_F(Diagnose, SaysWhatItCanWhereThereAreNoNumbers) {
  EXPECT_TRUE(run("diagnose '" + kDecode + "crash#3'").says("process died"));
  EXPECT_TRUE(run("diagnose '" + kDecode + "drifting#3'").says("gives other bits"));
  EXPECT_TRUE(run("diagnose '" + kDecode + "writes_past_end#3'").says("outside of its tensors"));
}

TEST_F(Diagnose, ACaseThatPassesIsAUsageError) {
  const test::Ran ran = run("diagnose " + test::kHealthy);
  EXPECT_EQ(ran.exit_code, 2);
  EXPECT_TRUE(ran.says("does not fail")) << ran.output;
}

TEST_F(Diagnose, ARunSaysItByItselfUnlessToldNotTo) {
  const std::string cases = " '" + kDecode + "dropped_k_scale#3' '" + kDecode + "dropped_k_scale#4' " + test::kHealthy;
  const test::Ran ran = run("run --html r.html --junit r.xml --md r.md" + cases);
  EXPECT_EQ(ran.exit_code, 1);
  EXPECT_TRUE(ran.says("matches: k_scale_dropped")) << ran.output;
  for (const auto* report : {"r.html", "r.xml", "r.md"})
    EXPECT_NE(read(report).find("matches: k"), std::string::npos) << report;
  const JournalContent journal = read_journals({file(".attest/journal.jsonl")});
  ASSERT_EQ(journal.verdicts.size(), 3U);
  for (const Verdict& v : journal.verdicts) EXPECT_EQ(v.diagnosis.empty(), v.outcome == Outcome::Pass) << v.token;

  const test::Ran without = run("run --no-diagnose" + cases);
  EXPECT_EQ(without.exit_code, 1);
  EXPECT_FALSE(without.says("matches: ")) << without.output;
}

TEST_F(Diagnose, OneCaseToldAtLengthIsDiagnosedToo) {
  EXPECT_TRUE(run("run '" + kDecode + "swapped_heads#3'").says("matches: next_kv_head"));
}

TEST_F(Diagnose, ABrokenCatalogueFailsNoRun) {
  ASSERT_EQ(
      shell("mkdir home && cp -r " ATTEST_SOURCE_DIR "/cases home && echo 'faults: [{' > home/cases/faults/model.yaml")
          .exit_code,
      0);
  const test::Ran ran = run("run '" + kDecode + "swapped_heads#3'", "ATTEST_HOME=" + file("home"));
  EXPECT_EQ(ran.exit_code, 1);
  EXPECT_TRUE(ran.says("not diagnosed: ")) << ran.output;
}

}  // namespace
}  // namespace attest
