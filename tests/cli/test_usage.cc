// Bad input: one clear line, exit 2, and nothing that was there is lost.
#include <algorithm>

#include "tests/cli/command.h"

namespace attest {
namespace {

using test::kHealthy;
using test::Ran;

class Usage : public test::Cli {
 protected:
  // One line, on exit 2, that says `what`.
  void expect_usage_error(const Ran& ran, const std::string& what) const {
    EXPECT_EQ(ran.exit_code, 2) << ran.output;
    EXPECT_TRUE(ran.says(what)) << ran.output;
    EXPECT_EQ(std::count(ran.output.begin(), ran.output.end(), '\n'), 1) << ran.output;
  }
};

TEST_F(Usage, BadYamlSaysFileAndLine) {
  write("x.yaml", "blocks:\n  - name: a\n    phase: decode\n    backend: liar\n    headz: [4]\n    seq: 1x5\n");
  expect_usage_error(run("run x.yaml"), "x.yaml:5: key 'headz' is unknown");
  write("x.yaml", "blocks:\n  - name: a\n    phase: decode\n    backend: liar\n    q: [bf61]\n    seq: 1x5\n");
  expect_usage_error(run("list x.yaml"), "x.yaml:5: q: 'bf61' is no dtype (did you mean 'bf16'?)");
  write("x.yaml", "blocks: [\n");
  expect_usage_error(run("run x.yaml"), "x.yaml:");
  expect_usage_error(run("run nowhere.yaml"), "nowhere.yaml: can't be read");
}

TEST_F(Usage, BadTokens) {
  expect_usage_error(run("run 'decode/liar/q=bf16/headz=2#1'"), "key 'headz' is unknown");
  expect_usage_error(run("run 'decode/liar/q=bf16/seq=1x5'"), "no #SEED");
  expect_usage_error(run("run 'decode/laiar/q=bf16/seq=1x5#1'"), "backend 'laiar' is unknown (did you mean 'liar'?)");
}

TEST_F(Usage, BadFiltersAreErrorsNotEmptyRuns) {
  const std::string smoke = ATTEST_SOURCE_DIR "/cases/smoke.yaml";
  expect_usage_error(run("list --kv fp8_e4m4 " + smoke), "--kv: 'fp8_e4m4' is no KV cache (did you mean 'fp8_e4m3'?)");
  expect_usage_error(run("list --backend nativ " + smoke), "backend 'nativ' is unknown (did you mean 'native'?)");
  expect_usage_error(run("list --backend 'fa9*' " + smoke), "--backend: 'fa9*' matches no backend");
  expect_usage_error(run("list --tier smok " + smoke), "--tier: 'smok' is unknown (did you mean 'smoke'?)");
  expect_usage_error(run("list --filter nothing " + smoke), "no case matches");
  expect_usage_error(run("run --shard 3/2 " + smoke), "--shard: '3/2'");
  expect_usage_error(run("run --timeout-case 0 " + kHealthy), "--timeout-case");
  expect_usage_error(run("run --no-such-flag " + kHealthy), "--no-such-flag");
  expect_usage_error(run("run"), "what is required");
  expect_usage_error(run(""), "A subcommand is required");
}

TEST_F(Usage, MissingAndForeignPlugins) {
  const std::string decode = ATTEST_SOURCE_DIR "/cases/decode.yaml";
  expect_usage_error(run("run --plugin ./nowhere.so " + decode), "'./nowhere.so': no such file");
  const std::string foreign = ATTEST_TEST_PLUGINS "/libc_plugin_other_abi.so";
  write("c.yaml",
        "backend: mine\nabout: test\nplugin: mine\nops: {decode: attend}\ntakes: {q: bf16, kv: auto, d: {min: 1}, "
        "page: {min: 1}}\n"
        "layout:\n  dense:\n    k: {shape: [page, slot, head, dim]}\n    v: {shape: [page, slot, head, dim]}\n");
  expect_usage_error(run("run --plugin " + foreign + " 'decode/mine/q=bf16/kv=auto/h=2:2/d=16/page=16/seq=1x7,1x16#1'"),
                     "libc_plugin_other_abi.yaml: can't be read");
  expect_usage_error(run("run --plugin " + foreign +
                         " --contract c.yaml 'decode/mine/q=bf16/kv=auto/h=2:2/d=16/page=16/seq=1x7,1x16#1'"),
                     "built for ABI version 2, this program speaks 1");
}

TEST_F(Usage, AnUnwritableReportStopsTheRunBeforeItBegins) {
  ASSERT_EQ(run("run " + kHealthy + " --html report.html").exit_code, 0);
  const std::string report = read("report.html"), journal = read(".attest/journal.jsonl");
  EXPECT_NE(report.find("</html>"), std::string::npos);
  expect_usage_error(run("run " + kHealthy + " --html /nowhere/report.html"),
                     "--html: can't write /nowhere/report.html");
  expect_usage_error(run("run " + kHealthy + " --junit /proc/report.xml"), "--junit: can't write /proc/report.xml");
  EXPECT_EQ(read(".attest/journal.jsonl"), journal);  // nothing ran, nothing was lost
  EXPECT_EQ(read("report.html"), report);
  expect_usage_error(run("run " + kHealthy + " --journal /proc/journal"), "/proc/journal: can't write the journal");
}

TEST_F(Usage, BadContractsAndWaiversSayFileAndLine) {
  ASSERT_EQ(
      shell("mkdir -p home/cases/contracts && cp " ATTEST_SOURCE_DIR "/cases/contracts/liar.yaml home/cases/contracts")
          .exit_code,
      0);
  const std::string home = "ATTEST_HOME='" + file("home") + "'";
  EXPECT_EQ(run("run " + kHealthy, home).exit_code, 0);
  write("home/cases/waivers.yaml",
        "waivers:\n  - {backend: liar, version: '1', cases: x, seen: numeric, reference: nowhere, expires: "
        "2030-01-01}\n");
  expect_usage_error(run("run " + kHealthy, home), "home/cases/waivers.yaml:2: reference: 'nowhere'");
  write("home/cases/contracts/other.yaml",
        "backend: other\nabout: x\nplugin: liar\nops: {decode: attend}\narithmetic:\n  - p: {is: bf16}\n");
  expect_usage_error(run("contracts", home),
                     "home/cases/contracts/other.yaml:6: arithmetic.p: a claim needs its 'source'");
  expect_usage_error(run("list " + kHealthy, "ATTEST_HOME=/nowhere"),
                     "/nowhere/cases/contracts: no folder of contracts");
}

TEST_F(Usage, JournalsOfOtherRunsAreNotContinued) {
  ASSERT_EQ(run("run " + kHealthy).exit_code, 0);
  expect_usage_error(
      run("run --resume " + kHealthy + " 'decode/liar/q=bf16/kv=auto/h=2:2/d=16/page=16/seq=1x7,1x16#2'"),
      "the journal is of another run");
  write("broken.jsonl", "{\"journal\":1}\n");
  expect_usage_error(run("report broken.jsonl"), "broken.jsonl:1: no journal record");
  expect_usage_error(run("report nowhere.jsonl"), "nowhere.jsonl: can't read the journal");
}

TEST_F(Usage, HelpAndVersion) {
  const Ran help = run("run --help");
  EXPECT_EQ(help.exit_code, 0);
  for (const char* option :
       {"--backend",    "--q",    "--kv",     "--head-dim",     "--graph",        "--mask",    "--tier",    "--filter",
        "--seed",       "--jobs", "--repeat", "--timeout-case", "--max-failures", "--require", "--resume",  "--save",
        "--in-process", "--json", "--junit",  "--md",           "--html",         "--plugin",  "--contract"})
    EXPECT_TRUE(help.says(option)) << option;
  EXPECT_EQ(run("--version").exit_code, 0);
}

}  // namespace
}  // namespace attest
