// The harness must catch every lie by its own kind of failure, and must not see one where there is none. A kernel that
// goes down takes its own case with it and no other.
#include <gtest/gtest.h>

#include "harness/run/run_case.h"
#include "tests/run/liar_modes.h"
#include "tests/run/program.h"

namespace attest {
namespace {

using test::contracts;
using test::host_options;
using test::LiarMode;

Case with_fault(const LiarMode& mode) {
  Case c = parse_token(mode.token);
  c.fault = mode.fault;
  return c;
}

class LiarModes : public testing::TestWithParam<LiarMode> {};

TEST_P(LiarModes, IsCaughtByItsOwnKind) {
  HostOptions options = host_options();
  if (GetParam().outcome == Outcome::Timeout) options.limits.answer = std::chrono::milliseconds(700);
  Host host(contracts().find("liar"), options);
  const Verdict verdict = run_case(with_fault(GetParam()), host, {});
  EXPECT_EQ(verdict.outcome, GetParam().outcome) << summary(verdict) << " " << verdict.message;
  EXPECT_EQ(verdict.kind, GetParam().kind) << verdict.message;
  EXPECT_FALSE(verdict.message.empty());
  // The next case runs, in a worker of its own if need be.
  Case healthy = parse_token("decode/liar/q=bf16/kv=auto/h=2:1/d=16/page=16/seq=1x7,1x16#5");
  EXPECT_EQ(run_case(healthy, host, {}).outcome, Outcome::Pass);
}

TEST_P(LiarModes, IsNotSeenInTheHonestKernel) {
  Host host(contracts().find("liar"), host_options());
  const Verdict verdict = run_case(parse_token(GetParam().token), host, {});
  EXPECT_EQ(verdict.outcome, Outcome::Pass) << summary(verdict) << " " << verdict.message;
}

INSTANTIATE_TEST_SUITE_P(All, LiarModes, testing::ValuesIn(test::liar_modes()),
                         [](const auto& mode) { return mode.param.fault; });

// A contract that says "must be refused with these words" is not kept by declining; a refusal under plan=reused is one.
TEST(Liar, DecliningIsNoRejection) {
  Contract declining = contracts().find("liar");
  declining.rejects = {{.when = {}, .text = "declined on request", .source = "test"}};
  Host host(declining, host_options());
  Case c = parse_token("decode/liar/q=bf16/kv=auto/h=2:1/d=16/page=16/seq=1x7,1x16/fault=declines#5");
  EXPECT_EQ(run_case(c, host, {}).kind, FailKind::Message);
}

TEST(Liar, ADivergenceExcusesWrongNumbersOnly) {
  Contract diverging = contracts().find("liar");
  diverging.divergences = {{.when = {}, .text = "known", .source = "test"}};
  Host host(diverging, host_options());
  const auto outcome = [&](const char* fault) {
    Case c = parse_token("decode/liar/q=bf16/kv=fp8_e4m3/h=6:2/d=32/page=16/seq=1x15,1x33/scales=odd#3");
    c.fault = fault;
    return run_case(c, host, {}).outcome;
  };
  EXPECT_EQ(outcome("dropped_k_scale"), Outcome::Xfail);
  EXPECT_EQ(outcome("lse_base_2"), Outcome::Xfail);
  for (const char* fault : {"writes_past_end", "touches_input", "wrong_kernel", "fails", "wrong_dtype", "drifting"})
    EXPECT_EQ(outcome(fault), Outcome::Fail) << fault;
}

TEST(Liar, UnknownFaultIsDeclinedNotIgnored) {
  Host host(contracts().find("liar"), host_options());
  Case c = parse_token("decode/liar/q=bf16/kv=auto/h=2:1/d=16/page=16/seq=1x7,1x16#5");
  c.fault = "no_such_fault";
  EXPECT_EQ(run_case(c, host, {}).outcome, Outcome::Unsupported);
}

TEST(Liar, LiesInProcessToo) {
  HostOptions options = host_options();
  options.in_process = true;
  for (const LiarMode& mode : test::liar_modes()) {
    if (mode.outcome != Outcome::Fail) continue;  // the others take this process down
    Host host(contracts().find("liar"), options);
    const Verdict verdict = run_case(with_fault(mode), host, {});
    EXPECT_EQ(verdict.kind, mode.kind) << mode.fault << ": " << verdict.message;
  }
}

TEST(Liar, GuardPagesTurnAnOverrunIntoACrash) {
  HostOptions options = host_options();
  options.guards = GuardMode::Pages;
  Host host(contracts().find("liar"), options);
  // 1 * 2 * 32 * 2 bytes of output: a multiple of 64, so the tensor's end is the page's.
  Case c = parse_token("decode/liar/q=bf16/kv=auto/h=2:1/d=32/page=16/seq=1x15,1x9#3");
  EXPECT_EQ(run_case(c, host, {}).outcome, Outcome::Pass);
  c.fault = "writes_past_end";
  EXPECT_EQ(run_case(c, host, {}).outcome, Outcome::Crash);
}

TEST(Liar, FailsOnlyAfterOthersIsNondeterministic) {
  // One launch a case, and a fault that shows on every second launch of a plan: honest in each case alone.
  Host host(contracts().find("liar"), host_options());
  const Case c = parse_token("decode/liar/q=bf16/kv=auto/h=2:1/d=16/page=16/seq=1x7,1x16/fault=drifting#5");
  EXPECT_EQ(run_case(c, host, {.repeat = 1}).outcome, Outcome::Pass);
  const Verdict twice = run_case(c, host, {.repeat = 2});
  EXPECT_EQ(twice.kind, FailKind::Nondeterministic);
}

}  // namespace
}  // namespace attest
