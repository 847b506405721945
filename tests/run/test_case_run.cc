// The way of one case on the real native kernel and through the sweep: rejections, waivers, determinism over jobs.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "harness/run/save.h"
#include "harness/run/sweep.h"
#include "tests/core/temp_folder.h"
#include "tests/run/program.h"

namespace attest {
namespace {

using test::contracts;
using test::host_options;

Verdict run(const std::string& text, const CaseOptions& options = {}) {
  const Case c = parse_token(text);
  Host host(contracts().find(c.backend), host_options());
  return run_case(c, host, options);
}

TEST(RunCase, NativeConforms) {
  const Verdict v = run("mixed/native/q=bf16/kv=fp8_e4m3/h=6:2/d=64/page=16/seq=1x15,4x33,2x0/scales=seq_head#1");
  EXPECT_EQ(v.outcome, Outcome::Pass) << v.message;
  EXPECT_GT(v.ratio, 0.1);
  EXPECT_LT(v.ratio, 1);
  EXPECT_EQ(v.elements, 7 * 6 * 64);
  EXPECT_EQ(v.ran, "flash");
}

TEST(RunCase, WithoutTheCastFp8IsRejectedWithPyTorchsMessage) {
  const Verdict v = run("decode/native_uncast/q=bf16/kv=fp8_e4m3/h=6:2/d=64/page=16/seq=1x15,1x33#1");
  EXPECT_EQ(v.outcome, Outcome::Pass) << v.message;
  EXPECT_NE(v.message.find("Expected query, key, and value to have the same dtype"), std::string::npos) << v.message;
}

TEST(RunCase, ARejectionOfAReusedPlanIsJudgedByWhatWasStaged) {
  Contract uncast = contracts().find("native_uncast");
  uncast.takes.push_back({.key = "plan", .any_of = {"*"}, .min = {}, .max = {}, .multiple = {}, .not_multiple = {}});
  Host host(uncast, host_options());
  const Case c = parse_token("decode/native_uncast/q=bf16/kv=fp8_e4m3/h=6:2/d=64/page=16/seq=1x15,1x33/plan=reused#1");
  const Verdict v = run_case(c, host, {});
  EXPECT_EQ(v.outcome, Outcome::Pass) << v.message;
}

TEST(RunCase, WhereNoRowSeesAKeyNoKernelNeedRun) {
  for (const char* seq : {"1x0", "0x42"}) {
    const Verdict v = run(std::string("decode/native/q=bf16/kv=auto/h=2:1/d=16/page=16/seq=") + seq + "#1");
    EXPECT_NE(v.kind, FailKind::WrongKernel) << seq << ": " << v.message;
  }
}

// V's largest number times its scale is beyond binary16: what a kernel makes of it is its own affair.
TEST(RunCase, AnOutputThatOverflowsIsNotJudged) {
  const Verdict v = run("mixed/liar/q=f16/kv=fp8_e5m2/h=4:4/d=8/page=16/seq=2x2,2x3,2x4/scales=seq_head/in=special#1");
  EXPECT_EQ(v.outcome, Outcome::Pass) << v.message;
}

TEST(RunCase, NativeGivesQsDtypeBack) {
  for (const char* q : {"f32", "bf16", "f16"}) {
    const Verdict v = run(std::string("decode/native/q=") + q + "/kv=fp8_e5m2/h=6:2/d=64/page=16/seq=1x15,1x33#1");
    EXPECT_EQ(v.outcome, Outcome::Pass) << v.message;  // check_produced() compares SDPA's own dtype with q's
  }
}

TEST(RunCase, UndeclaredCombinationsAreUnsupported) {
  EXPECT_EQ(run("decode/native/q=bf16/kv=auto/h=6:2/d=64/page=16/seq=1x15/cap=30#1").outcome, Outcome::Unsupported);
  EXPECT_EQ(run("decode/native/q=bf16/kv=auto/h=6:2/d=64/page=16/seq=1x15/graph=full#1").outcome, Outcome::Unsupported);
}

TEST(RunCase, ASingleKeyTestsNothing) {
  const Verdict v = run("decode/native/q=bf16/kv=auto/h=6:2/d=64/page=16/seq=1x1#1");
  EXPECT_EQ(v.outcome, Outcome::Vacuous);
  EXPECT_NE(v.message.find("mean of V"), std::string::npos) << v.message;
}

TEST(RunCase, F32ReferenceGivesTheSameVerdict) {
  const std::string token = "prefill/native/q=bf16/kv=bf16/h=6:2/d=64/page=16/seq=9x33,3x16#1";
  const Verdict wide = run(token), narrow = run(token, {.precision = Precision::F32});
  EXPECT_EQ(narrow.outcome, wide.outcome);
  EXPECT_NEAR(narrow.ratio, wide.ratio, 0.01);
}

TEST(RunCase, SavedTensorsReadBackAsTheSameCase) {
  const auto folder = std::filesystem::temp_directory_path() / "attest_test_save";
  std::filesystem::remove_all(folder);
  Case c = parse_token("decode/native/q=bf16/kv=fp8_e4m3/h=6:2/d=64/page=16/seq=1x15,1x33/scales=odd#4");
  Host host(contracts().find("native"), host_options());
  CaseTrace trace;
  const Verdict first = run_case(c, host, {}, &trace);
  save_tensors(folder.string(), first.token, trace);
  Case again = c;
  again.probe = Probe::File;
  again.directory = (folder / folder_name(first.token)).string();
  again.seed = 99;  // no longer matters
  const Verdict second = run_case(again, host, {});
  EXPECT_EQ(second.outcome, Outcome::Pass) << second.message;
  EXPECT_EQ(second.ratio, first.ratio);
  EXPECT_EQ(parse_token(second.token), again);
  std::filesystem::remove_all(folder);
}

std::map<std::string, std::string> sweep_outcomes(const std::vector<std::string>& tokens, int jobs,
                                                  std::size_t max_failures = 0, std::size_t* missing = nullptr) {
  const auto* test = testing::UnitTest::GetInstance()->current_test_info();
  const auto path =
      (std::filesystem::temp_directory_path() / (std::string("attest_") + test->name() + std::to_string(jobs)))
          .string();
  SweepInput input;
  for (const auto& token : tokens) {
    const Case c = parse_token(token);
    input.tasks.push_back({c, &contracts().find(c.backend)});
  }
  SweepOptions options{.host = host_options(), .jobs = jobs, .max_failures = max_failures, .today = "2026-12-01"};
  std::map<std::string, std::string> outcomes;
  {
    Journal journal(path, {.attest = "test", .fingerprint = "f", .cases = tokens.size()});
    const std::size_t without = sweep(
        input, options, journal, [&](const Verdict& v) { outcomes[v.token] = summary(v); }, std::atomic<bool>(false));
    if (missing) *missing = without;
  }
  EXPECT_EQ(read_journals({path}).verdicts.size(), outcomes.size());
  std::filesystem::remove(path);
  return outcomes;
}

TEST(Sweep, JobsDoNotChangeVerdicts) {
  std::vector<std::string> tokens;
  for (const char* fault : {"", "/fault=crash", "/fault=swapped_heads", "/fault=exit", "/fault=writes_past_end"})
    for (int seed = 1; seed <= 4; ++seed)
      tokens.push_back(std::string("decode/liar/q=bf16/kv=auto/h=2:2/d=16/page=16/seq=1x7,1x16") + fault + "#" +
                       std::to_string(seed));
  const auto one = sweep_outcomes(tokens, 1), three = sweep_outcomes(tokens, 3);
  EXPECT_EQ(one.size(), tokens.size());
  EXPECT_EQ(one, three);
}

// One case that can't be made is that case's verdict; the others run.
TEST(Sweep, GoesOnAfterACaseThatCannotBeMade) {
  const test::TempFolder folder;
  SweepInput input;
  for (const char* token : {"decode/liar/q=bf16/kv=auto/h=2:1/d=16/page=16/seq=1x7,1x16/in=file:%2Fno%2Fsuch#1",
                            "decode/liar/q=bf16/kv=auto/h=2:1/d=16/page=16/seq=1x7,1x16#1"})
    input.tasks.push_back({parse_token(token), &contracts().find("liar")});
  SweepOptions options;
  options.host = host_options();
  std::vector<Outcome> outcomes;
  {
    Journal journal(folder.path("j"), {});
    sweep(
        input, options, journal, [&](const Verdict& v) { outcomes.push_back(v.outcome); }, false);
  }
  EXPECT_EQ(outcomes, (std::vector{Outcome::Infra, Outcome::Pass}));
}

TEST(Sweep, StopsAfterSoManyFailuresAndSaysWhatIsMissing) {
  std::vector<std::string> tokens;
  for (int seed = 1; seed <= 9; ++seed)
    tokens.push_back("decode/liar/q=bf16/kv=auto/h=2:2/d=16/page=16/seq=1x7,1x16/fault=swapped_heads#" +
                     std::to_string(seed));
  std::size_t missing = 0;
  EXPECT_EQ(sweep_outcomes(tokens, 1, 2, &missing).size(), 2U);
  EXPECT_EQ(missing, 7U);
}

}  // namespace
}  // namespace attest
