// Verdicts, their names, what makes a run fail; waivers, which must hide the one thing they name and nothing else.
#include "harness/record/verdict.h"
#include "harness/record/waiver.h"

#include <gtest/gtest.h>

#include <functional>
#include <set>

namespace attest {
namespace {

constexpr int kOutcomes = static_cast<int>(Outcome::Infra) + 1;
constexpr int kKinds = static_cast<int>(FailKind::Error) + 1;

TEST(Verdict, NamesRoundTrip) {
  std::set<std::string_view> names;
  for (int i = 0; i < kOutcomes; ++i) {
    const auto outcome = static_cast<Outcome>(i);
    EXPECT_EQ(outcome_from_name(name(outcome)), outcome);
    EXPECT_TRUE(names.insert(name(outcome)).second);
  }
  for (int i = 0; i < kKinds; ++i) {
    const auto kind = static_cast<FailKind>(i);
    EXPECT_EQ(fail_kind_from_name(name(kind)), kind);
    EXPECT_TRUE(names.insert(name(kind)).second);
  }
  EXPECT_FALSE(names.contains(""));
  EXPECT_EQ(outcome_from_name("pass"), std::nullopt);
  EXPECT_EQ(outcome_from_name(""), std::nullopt);
  EXPECT_EQ(fail_kind_from_name("NUMERIC"), std::nullopt);
  EXPECT_EQ(name(Outcome::NotRun), "NOT_RUN");
  EXPECT_EQ(name(Outcome::Infra), "INFRA");
  EXPECT_EQ(name(FailKind::InputMutated), "input_mutated");
  EXPECT_EQ(name(FailKind::WrongKernel), "wrong_kernel");
  EXPECT_EQ(name(FailKind::Rejected), "rejected");
}

TEST(Verdict, WhatFailsARunAndWhatWasExecuted) {
  struct Row {
    Outcome outcome;
    bool failure, executed;
  };
  const Row rows[]{
      {Outcome::Pass, false, true},    {Outcome::Fail, true, true},          {Outcome::Xfail, false, true},
      {Outcome::Xpass, true, true},    {Outcome::Unsupported, false, false}, {Outcome::Vacuous, true, true},
      {Outcome::Crash, true, true},    {Outcome::Timeout, true, true},       {Outcome::Memory, true, true},
      {Outcome::NotRun, false, false}, {Outcome::Infra, true, false}};
  ASSERT_EQ(std::size(rows), static_cast<std::size_t>(kOutcomes));
  for (const Row& row : rows) {
    EXPECT_EQ(is_failure(row.outcome), row.failure) << name(row.outcome);
    EXPECT_EQ(is_executed(row.outcome), row.executed) << name(row.outcome);
  }
}

TEST(Verdict, Summary) {
  EXPECT_EQ(summary({.outcome = Outcome::Pass}), "PASS");
  EXPECT_EQ(summary({.outcome = Outcome::Fail, .kind = FailKind::Numeric}), "FAIL(numeric)");
  EXPECT_EQ(summary({.outcome = Outcome::Xfail, .kind = FailKind::CacheWrite}), "XFAIL(cache_write)");
}

const Waiver kWaiver{.backend = "vllm*",
                     .version = "0.32.0",
                     .cases = "decode/vllm*/seq=1x0*",
                     .seen = "special",
                     .reference = "found here 2026-12-01",
                     .expires = "2027-06-01",
                     .place = "waivers.yaml:7"};

TEST(Waiver, ChecksItself) {
  EXPECT_EQ(check(kWaiver), std::nullopt);
  struct Row {
    std::string Waiver::*field;
    std::string value, message;
  };
  const Row rows[]{
      {&Waiver::backend, "", "a waiver needs 'backend'"},
      {&Waiver::version, "", "a waiver needs 'version'"},
      {&Waiver::cases, "", "a waiver needs 'cases'"},
      {&Waiver::seen, "", "a waiver needs 'seen'"},
      {&Waiver::reference, "", "a waiver needs 'reference'"},
      {&Waiver::expires, "", "a waiver needs 'expires'"},
      {&Waiver::expires, "never", "expires: 'never' is no date YYYY-MM-DD"},
      {&Waiver::expires, "2027-6-1", "expires: '2027-6-1' is no date YYYY-MM-DD"},
      {&Waiver::expires, "2027-13-01", "expires: '2027-13-01' is no date YYYY-MM-DD"},
      {&Waiver::expires, "2027-06-32", "expires: '2027-06-32' is no date YYYY-MM-DD"},
      {&Waiver::expires, "2027-02-29", "expires: '2027-02-29' is no date YYYY-MM-DD"},
      {&Waiver::expires, "2027-06-01 ", "expires: '2027-06-01 ' is no date YYYY-MM-DD"},
      {&Waiver::reference, "known", "reference: 'known' is neither an issue's address nor 'found here YYYY-MM-DD'"},
      {&Waiver::reference, "found here",
       "reference: 'found here' is neither an issue's address nor 'found here YYYY-MM-DD'"},
      {&Waiver::reference, "found here soon",
       "reference: 'found here soon' is neither an issue's address nor 'found here YYYY-MM-DD'"},
      {&Waiver::seen, "pass", "seen: 'pass' is no kind of failure"},
      {&Waiver::seen, "FAIL", "seen: 'FAIL' is no kind of failure"},
      {&Waiver::seen, "infra", "seen: 'infra' is no kind of failure"},
      {&Waiver::seen, "*", "seen: '*' is no kind of failure"},
  };
  for (const Row& row : rows) {
    Waiver waiver = kWaiver;
    waiver.*row.field = row.value;
    EXPECT_EQ(check(waiver), row.message);
  }
  for (const char* seen : {"crash", "timeout", "memory", "vacuous", "numeric", "accepted"}) {
    Waiver waiver = kWaiver;
    waiver.seen = seen;
    EXPECT_EQ(check(waiver), std::nullopt) << seen;
  }
  Waiver linked = kWaiver;
  linked.reference = "https://github.com/vllm-project/vllm/issues/1";
  EXPECT_EQ(check(linked), std::nullopt);
}

const Waived kWaived{.backend = "vllm_cpu", .version = "0.32.0", .token = "decode/vllm_cpu/seq=1x0,1x3/in=mass"};
const Verdict kSpecial{.outcome = Outcome::Fail, .kind = FailKind::Special};

TEST(Waiver, IsFoundByBackendVersionAndCases) {
  const auto outcome = [](const std::vector<Waiver>& waivers, const Waived& what) {
    Verdict verdict = kSpecial;
    apply(waivers, what, "2027-01-01", verdict);
    return verdict.outcome;
  };
  EXPECT_EQ(outcome({kWaiver}, kWaived), Outcome::Xfail);
  EXPECT_EQ(outcome({}, kWaived), Outcome::Fail);
  EXPECT_EQ(outcome({kWaiver}, {"native", "0.32.0", kWaived.token}), Outcome::Fail);
  EXPECT_EQ(outcome({kWaiver}, {"vllm_cpu", "0.32.1", kWaived.token}), Outcome::Fail)
      << "another version is another kernel";
  EXPECT_EQ(outcome({kWaiver}, {"vllm_cpu", "", kWaived.token}), Outcome::Fail);
  EXPECT_EQ(outcome({kWaiver}, {"vllm_cpu", "0.32.0", "decode/vllm_cpu/seq=1x1"}), Outcome::Fail);
  EXPECT_EQ(outcome({kWaiver}, {"vllm_cpu", "0.32.0", "prefill/vllm_cpu/seq=1x0"}), Outcome::Fail);
}

TEST(Waiver, AnyOfSeveralMaySayWhatIsSeen) {
  Waiver other = kWaiver;
  other.seen = "numeric";
  other.place = "waivers.yaml:20";
  Verdict verdict = kSpecial;
  apply({other, kWaiver}, kWaived, "2027-01-01", verdict);
  EXPECT_EQ(verdict.outcome, Outcome::Xfail);
  Waiver expired = kWaiver;
  expired.expires = "2026-12-31";
  verdict = kSpecial;
  apply({expired, kWaiver}, kWaived, "2027-01-01", verdict);
  EXPECT_EQ(verdict.outcome, Outcome::Xfail) << "one that still holds";
  verdict = {.outcome = Outcome::Fail, .kind = FailKind::Guard};
  apply({other, kWaiver}, kWaived, "2027-01-01", verdict);
  EXPECT_EQ(verdict.message, " (waivers.yaml:20 waives numeric, not guard) (waivers.yaml:7 waives special, not guard)");
}

Verdict applied(Verdict verdict, const Waiver& waiver = kWaiver, const std::string& today = "2027-01-01") {
  apply({waiver}, kWaived, today, verdict);
  return verdict;
}

TEST(Waiver, TurnsTheFailureItNamesIntoXfail) {
  const Verdict v = applied({.outcome = Outcome::Fail, .kind = FailKind::Special, .message = "NaN"});
  EXPECT_EQ(summary(v), "XFAIL(special)");
  EXPECT_EQ(v.message, "NaN");
  EXPECT_EQ(v.waiver, "found here 2026-12-01");
  EXPECT_EQ(applied({.outcome = Outcome::Fail, .kind = FailKind::Special}, kWaiver, "2027-06-01").outcome,
            Outcome::Xfail)
      << "the last day it holds";
}

TEST(Waiver, HidesNoOtherFailure) {
  const Verdict v = applied({.outcome = Outcome::Fail, .kind = FailKind::Numeric, .message = "off"});
  EXPECT_EQ(summary(v), "FAIL(numeric)");
  EXPECT_EQ(v.message, "off (waivers.yaml:7 waives special, not numeric)");
  EXPECT_EQ(v.waiver, "");
  for (const Outcome outcome : {Outcome::Crash, Outcome::Timeout, Outcome::Memory, Outcome::Vacuous})
    EXPECT_EQ(applied({.outcome = outcome}).outcome, outcome);
}

TEST(Waiver, OfACrashOrAnotherOutcome) {
  for (const auto& [seen, outcome] : {std::pair{"crash", Outcome::Crash},
                                      {"timeout", Outcome::Timeout},
                                      {"memory", Outcome::Memory},
                                      {"vacuous", Outcome::Vacuous}}) {
    Waiver waiver = kWaiver;
    waiver.seen = seen;
    EXPECT_EQ(applied({.outcome = outcome}, waiver).outcome, Outcome::Xfail) << seen;
    EXPECT_EQ(applied({.outcome = Outcome::Fail, .kind = FailKind::Error}, waiver).outcome, Outcome::Fail) << seen;
  }
}

TEST(Waiver, OfWhatPassesFailsTheRun) {
  const Verdict v = applied({.outcome = Outcome::Pass});
  EXPECT_EQ(v.outcome, Outcome::Xpass);
  EXPECT_EQ(v.message, "passes, but waivers.yaml:7 waives it as special: remove or narrow the waiver");
  EXPECT_EQ(v.waiver, "found here 2026-12-01");
}

TEST(Waiver, AnExpiredOneChangesNothingButTheMessage) {
  const Verdict failed =
      applied({.outcome = Outcome::Fail, .kind = FailKind::Special, .message = "NaN"}, kWaiver, "2027-06-02");
  EXPECT_EQ(failed.outcome, Outcome::Fail);
  EXPECT_EQ(failed.message, "NaN (waivers.yaml:7 waived this until 2027-06-01)");
  EXPECT_EQ(failed.waiver, "");
  const Verdict passed = applied({.outcome = Outcome::Pass}, kWaiver, "2027-06-02");
  EXPECT_EQ(passed.outcome, Outcome::Pass);
  EXPECT_EQ(passed.message, "waivers.yaml:7 waived it as special until 2027-06-01: remove the waiver");
}

TEST(Waiver, LeavesWhatDidNotRunAlone) {
  for (const Outcome outcome : {Outcome::Unsupported, Outcome::NotRun, Outcome::Infra, Outcome::Xfail, Outcome::Xpass})
    for (const std::string today : {"2027-01-01", "2028-01-01"}) {
      const Verdict v = applied({.outcome = outcome, .message = "m"}, kWaiver, today);
      EXPECT_EQ(v.outcome, outcome);
      EXPECT_EQ(v.message, "m");
    }
}

}  // namespace
}  // namespace attest
