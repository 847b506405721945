// What a kill table means, from trials made by hand.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "harness/record/kill_table.h"

namespace attest {
namespace {

Margins prb(double ratio) {
  Margins m{};
  m[static_cast<std::size_t>(KillRule::Prb)] = ratio;
  return m;
}

KillTable table() {
  KillTable t;
  t.whole = false;
  t.faults = {{.name = "f", .tier = "model", .says = "", .unseen = {}},
              {.name = "g", .tier = "model", .says = "", .unseen = {}}};
  t.modes = {{.name = "a", .about = "", .required = 1}, {.name = "b", .about = "", .required = 0.5}};
  t.cases = {{.token = "a1", .probe = "gauss", .mode = 0, .margins = prb(0.5)},
             {.token = "a2", .probe = "select", .mode = 0, .margins = prb(0.2)},
             {.token = "b1", .probe = "gauss", .mode = 1, .margins = prb(0.5)}};
  return t;
}

Trial trial(std::size_t fault, std::size_t hc, double ratio, bool changed = true) {
  return {.fault = fault, .hc = hc, .changed = changed, .margins = prb(ratio), .others = {}};
}

TEST(KillTable, ScoresAreByMode) {
  KillTable t = table();
  t.trials = {trial(0, 0, 1.5), trial(0, 1, 30), trial(1, 1, 1.2), trial(0, 2, 1.1), trial(1, 2, 0.9)};
  const KillSummary s = summarize(t);
  EXPECT_EQ(s.scores[0].in_scope, 2U);
  EXPECT_EQ(s.scores[0].killed, 2U);
  EXPECT_EQ(s.scores[0].robust, 1U) << "g's margin is below 2";
  EXPECT_EQ(s.scores[1].killed, 1U);
  EXPECT_EQ(s.scores[1].missed_at_most(), std::nullopt) << "there is a survivor";
  EXPECT_EQ(s.survivors.size(), 1U);
  EXPECT_EQ(s.problems, (std::vector<std::string>{"survived without an explanation: g in b (largest ratio 0.9)"}));
  EXPECT_EQ(s.only_by.at("select"), (std::set<std::string>{"g in a"}));
  EXPECT_EQ(s.only_by.at("gauss"), (std::set<std::string>{"f in b"}));
}

TEST(KillTable, ThreeOverK) {
  EXPECT_EQ((ModeScore{.mode = 0, .in_scope = 60, .killed = 60}).missed_at_most(), 0.05);
  EXPECT_EQ((ModeScore{.mode = 0, .in_scope = 60, .killed = 59}).missed_at_most(), std::nullopt);
  EXPECT_EQ((ModeScore{}).missed_at_most(), std::nullopt);
}

TEST(KillTable, AKillBesideAFalseAlarmIsVoid) {
  KillTable t = table();
  t.cases[0].margins = prb(1.01);
  t.trials = {trial(0, 0, 50)};
  const KillSummary s = summarize(t);
  EXPECT_EQ(s.false_alarms, std::vector<std::size_t>{0});
  EXPECT_EQ(s.scores[0].killed, 0U);
}

TEST(KillTable, DetAloneDoesNotDecideAndNanKills) {
  Margins m{};
  m[static_cast<std::size_t>(KillRule::Det)] = 5;
  EXPECT_FALSE(killed(m));
  EXPECT_TRUE(killed(prb(std::nan(""))));
  EXPECT_TRUE(killed(prb(std::numeric_limits<double>::infinity())));
  EXPECT_FALSE(killed(prb(1))) << "on the bound is within it";
}

TEST(KillTable, WhatNeverChangedABitIsNotInScope) {
  KillTable t = table();
  t.trials = {trial(0, 0, 9), trial(1, 0, 0, false), trial(0, 2, 9)};
  const KillSummary s = summarize(t);
  EXPECT_EQ(s.scores[0].in_scope, 1U);
  EXPECT_EQ(s.unseeded.size(), 1U);
  EXPECT_EQ(s.problems, std::vector<std::string>{"not seeded: g in a changed no bit"});
}

TEST(KillTable, TheWholeCatalogueMustBeLargeEnough) {
  KillTable t = table();
  t.whole = true;
  t.trials = {trial(0, 0, 9), trial(0, 2, 9)};
  EXPECT_EQ(summarize(t).problems,
            (std::vector<std::string>{"a: only 1 faults are in scope, 45 are required",
                                      "b: only 1 faults are in scope, 45 are required", "in no case's scope: g",
                                      "the catalogue has 2 faults, 60 are required"}));
}

TEST(KillTable, AnEmptyOneDoesNotHold) { EXPECT_FALSE(summarize(KillTable{}).problems.empty()); }

TEST(KillTable, RulesAreScoredWithoutTheirOwnAlarms) {
  KillTable t = table();
  t.other_rules = {{"x", "", ""}};
  t.cases[0].others = {false};
  t.cases[1].others = {true};  // x refuses the healthy kernel
  t.trials = {trial(0, 0, 9), trial(0, 1, 9), trial(1, 1, 9), trial(0, 2, 9)};
  t.trials[0].others = {true};
  t.trials[1].others = {true};
  t.trials[2].others = {true};
  const RuleScore x = score_rule(t, 0).at(0), ours = score_rule(t, std::nullopt).at(0);
  EXPECT_EQ(x.faults, 2U);
  EXPECT_EQ(x.killed, 1U);
  EXPECT_EQ(x.plain_faults, 1U);
  EXPECT_EQ(x.plain_killed, 1U);
  EXPECT_EQ(x.alarms, 1U);
  EXPECT_EQ(ours.killed, 2U);
  EXPECT_EQ(score_rule(t, 0).at(1).faults, 0U) << "its case was not compared";
}

}  // namespace
}  // namespace attest
