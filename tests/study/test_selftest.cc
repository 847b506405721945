// The self-test must itself be caught out: a fault that is never seeded, a survivor that nobody explains, a bound that
// a healthy kernel breaks.
#include <gtest/gtest.h>

#include <algorithm>

#include "harness/study/selftest/selftest.h"
#include "tests/study/subjects.h"

namespace attest {
namespace {

using test::named;

struct Suite {
  std::vector<Fault> faults;
  double shrink_bounds = 1;
  int jobs = 1;
  bool compare_rules = false;
  std::vector<std::string> tokens{"decode/liar/q=bf16/kv=fp8_e4m3/h=6:2/d=32/page=16/seq=1x15,1x33/scales=odd#3",
                                  "decode/liar/q=bf16/kv=auto/h=6:2/d=32/page=16/seq=1x15,1x33/in=select#3"};
};

KillTable run(const Suite& suite) {
  SelftestInput input{.tasks = {}, .faults = suite.faults};
  for (const auto& text : suite.tokens) input.tasks.push_back({parse_token(text), &test::contracts().find("liar")});
  SelftestOptions options;
  options.host = test::host_options();
  options.jobs = suite.jobs;
  options.compare_rules = suite.compare_rules;
  options.shrink_bounds = suite.shrink_bounds;
  options.sensitivity = false;
  KillTable table = run_selftest(input, options, [](const HealthyCase&, std::size_t, std::size_t) {});
  table.whole = false;
  return table;
}

std::string problems(const KillTable& table) {
  std::string all;
  for (const auto& problem : summarize(table).problems) all += problem + "\n";
  return all;
}

TEST(Selftest, KilledFaultsHold) {
  const KillTable table =
      run({.faults = {named("dropped_v_scale", FaultTier::Model), named("page_duplicated", FaultTier::Delivery),
                      named("gain", FaultTier::Output)}});
  EXPECT_EQ(problems(table), "");
  const KillSummary s = summarize(table);
  ASSERT_EQ(s.scores.size(), 1U);
  EXPECT_EQ(s.scores[0].in_scope, 3U);
  EXPECT_EQ(s.scores[0].killed, 3U);
  EXPECT_EQ(s.scores[0].missed_at_most(), 1.0);  // 3/3: three faults say nothing
  for (const FaultInMode& row : s.rows)
    if (table.faults[row.fault].name == "dropped_v_scale") {
      EXPECT_EQ(row.tried, 2);
      EXPECT_EQ(row.changed, 1) << "no scales in the other case";
      EXPECT_EQ(row.probes.count("gauss"), 1U);
      EXPECT_EQ(row.probes.count("select"), 0U);
    }
}

TEST(Selftest, AFaultThatIsNeverSeededFails) {
  EXPECT_EQ(problems(run({.faults = {named("no_such_fault", FaultTier::Model)}})),
            "not seeded: no_such_fault in liar changed no bit\n"
            "liar: 0 of 0 faults in scope are killed, 100 % are required\n");
  // One that the plug-in takes, but that no case of the suite shows.
  EXPECT_NE(problems(run({.faults = {named("slot_off_by_one", FaultTier::Model)}})).find("not seeded"),
            std::string::npos);
}

TEST(Selftest, ASurvivorMustBeExplained) {
  Fault gain = named("gain", FaultTier::Output);
  const std::vector<std::string> plain{"decode/liar/q=bf16/kv=auto/h=6:2/d=32/page=16/seq=1x15,1x33#3"};
  const Suite loose{.faults = {gain, named("head_nan", FaultTier::Output)}, .shrink_bounds = 1e-3, .tokens = plain};
  const std::string seen = problems(run(loose));
  EXPECT_NE(seen.find("survived without an explanation: gain in liar"), std::string::npos) << seen;
  EXPECT_NE(seen.find("liar: 1 of 2 faults in scope are killed, 100 % are required"), std::string::npos) << seen;
  gain.unseen = {{"li*", "its bound is a thousand times too large"}};
  const std::string explained = problems(run({.faults = {gain}, .shrink_bounds = 1e-3, .tokens = plain}));
  EXPECT_EQ(explained.find("explanation"), std::string::npos) << explained;
  EXPECT_NE(explained.find("0 of 1 faults in scope are killed"), std::string::npos) << "the score still counts it";
}

TEST(Selftest, AFalseAlarmIsReportedAndItsKillsAreVoid) {
  const KillTable table = run({.faults = {named("head_zeroed", FaultTier::Output)},
                               .shrink_bounds = 100,
                               .tokens = {"decode/liar/q=bf16/kv=auto/h=6:2/d=32/page=16/seq=1x15,1x33#3"}});
  const KillSummary s = summarize(table);
  EXPECT_EQ(s.false_alarms.size(), 1U);
  EXPECT_NE(problems(table).find("false alarm: the healthy kernel fails decode/liar/"), std::string::npos);
  EXPECT_EQ(s.survivors.size(), 1U) << "a kill where the healthy kernel fails too says nothing";
}

TEST(Selftest, ConditionsOnClaimsDecideTheScope) {
  Fault offset = named("p_without_offset", FaultTier::Model);
  offset.when = {{.key = "p_offset", .any_of = {}, .min = 1, .max = {}, .multiple = {}, .not_multiple = {}}};
  const KillTable table = run({.faults = {offset, named("gain", FaultTier::Output)}});
  EXPECT_EQ(summarize(table).rows.size(), 1U);
}

TEST(Selftest, ThreadsChangeNothing) {
  const std::vector<Fault> faults{named("gain", FaultTier::Output), named("dropped_k_scale", FaultTier::Model)};
  const KillTable one = run({.faults = faults}), two = run({.faults = faults, .jobs = 2});
  ASSERT_EQ(one.cases.size(), two.cases.size());
  for (std::size_t i = 0; i < one.cases.size(); ++i) EXPECT_EQ(one.cases[i].token, two.cases[i].token);
  ASSERT_EQ(one.trials.size(), two.trials.size());
  for (std::size_t i = 0; i < one.trials.size(); ++i) {
    EXPECT_EQ(one.trials[i].fault, two.trials[i].fault);
    EXPECT_EQ(one.trials[i].margins, two.trials[i].margins);
  }
}

TEST(Selftest, CrashesAndMisconductAreKillsOfTheirOwnRules) {
  const KillTable table = run({.faults = {named("crash", FaultTier::Model), named("touches_input", FaultTier::Model),
                                          named("wrong_kernel", FaultTier::Model)}});
  EXPECT_EQ(problems(table), "");
  const auto margin = [&](std::size_t fault, KillRule rule) {
    for (const Trial& trial : table.trials)
      if (trial.fault == fault) return trial.margins[static_cast<std::size_t>(rule)];
    return 0.0;
  };
  EXPECT_GT(margin(0, KillRule::Ran), 1);
  EXPECT_GT(margin(1, KillRule::Bytes), 1);
  EXPECT_GT(margin(2, KillRule::Ran), 1);
}

TEST(Selftest, OtherRulesJudgeTheSameOutputs) {
  const KillTable table =
      run({.faults = {named("negated", FaultTier::Output), named("gain", FaultTier::Output)}, .compare_rules = true});
  ASSERT_EQ(table.other_rules.size(), other_rules().size());
  const RuleScore ours = score_rule(table, std::nullopt).at(0);
  EXPECT_EQ(ours.killed, 2U);
  EXPECT_EQ(ours.alarms, 0U);
  const auto at = std::find_if(table.other_rules.begin(), table.other_rules.end(),
                               [](const ComparedRule& rule) { return rule.name == "cosine"; });
  const RuleScore cosine = score_rule(table, static_cast<std::size_t>(at - table.other_rules.begin())).at(0);
  EXPECT_EQ(cosine.killed, 1U) << "a gain does not turn a vector";
}

}  // namespace
}  // namespace attest
