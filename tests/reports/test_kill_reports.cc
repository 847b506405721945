// The reports of a self-test: every number in its place, and nothing from outside breaks out of it.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include <limits>

#include "reports/kill_reports.h"
#include "tests/reports/markup.h"

namespace attest {
namespace {

KillTable table() {
  KillTable t;
  t.command = "attest selftest";
  t.whole = false;
  t.faults = {{.name = "seen", .tier = "model", .says = "one", .unseen = {}},
              {.name = "missed", .tier = "output", .says = "two", .unseen = {{"mode_a", "too <small> | to see"}}}};
  t.modes = {{.name = "mode_a", .about = "", .required = 0.5}};
  t.cases = {{.token = "decode/x",
              .probe = "gauss",
              .mode = 0,
              .margins = {},
              .others = {false},
              .gain = 0.0125,
              .keys = 3,
              .longest = 64},
             {.token = "decode/y", .probe = "mass", .mode = 0, .margins = {}, .others = {true}}};
  Margins special{}, prb{};
  special[static_cast<std::size_t>(KillRule::Special)] = std::numeric_limits<double>::infinity();
  prb[static_cast<std::size_t>(KillRule::Prb)] = 0.75;
  t.trials = {{.fault = 0, .hc = 0, .changed = true, .margins = special, .others = {true}},
              {.fault = 1, .hc = 0, .changed = true, .margins = prb, .others = {true}}};
  t.other_rules = {{"their rule", "|d| <= 1", "a file"}};
  return t;
}

TEST(KillReports, JsonHoldsScoresFaultsAndRules) {
  const auto json = nlohmann::json::parse(kill_table_json(table()));
  EXPECT_TRUE(json.at("holds"));
  EXPECT_EQ(json.at("totals"), "2 faults, 1 killed, 1 survived, 0 false alarms");
  EXPECT_EQ(json.at("scores").at(0).at("in_scope"), 2);
  EXPECT_EQ(json.at("scores").at(0).at("killed"), 1);
  EXPECT_FALSE(json.at("scores").at(0).contains("missed_at_most")) << "there is a survivor";
  EXPECT_EQ(json.at("faults").at(0).at("probes").at("gauss").at("special"), "inf");
  EXPECT_EQ(json.at("faults").at(1).at("rules").at("prb"), 0.75);
  EXPECT_EQ(json.at("faults").at(1).at("unseen"), "too <small> | to see");
  EXPECT_EQ(json.at("rules").at(0).at("killed"), 1);
  EXPECT_EQ(json.at("rules").at(1).at("rule"), "their rule");
  EXPECT_EQ(json.at("rules").at(1).at("killed"), 2);
  EXPECT_EQ(json.at("rules").at(1).at("false_alarms"), 1);
  EXPECT_EQ(json.at("probes_without_a_kill_of_their_own"), nlohmann::json({"mass"}));
  EXPECT_EQ(json.at("cases").at(0).at("smallest_gain"), 0.0125);
}

TEST(KillReports, TextEndsWithTheTotals) {
  const std::string text = kill_table_text(table());
  EXPECT_TRUE(text.ends_with("\n2 faults, 1 killed, 1 survived, 0 false alarms\n")) << text;
  EXPECT_NE(text.find("missed  output  survives 0.750\n"), std::string::npos) << text;
  EXPECT_NE(text.find("too <small> | to see"), std::string::npos);
}

TEST(KillReports, ProblemsAreSaid) {
  KillTable t = table();
  t.faults[1].unseen.clear();
  for (const auto& report : {kill_table_text(t), kill_table_markdown(t), kill_table_html(t)})
    EXPECT_NE(report.find("survived without an explanation"), std::string::npos);
  EXPECT_FALSE(nlohmann::json::parse(kill_table_json(t)).at("holds"));
}

TEST(KillReports, MarkupStaysInItsPlace) {
  const std::string html = kill_table_html(table()), markdown = kill_table_markdown(table());
  EXPECT_EQ(test::malformed(html, test::Markup::Html), std::nullopt);
  EXPECT_EQ(html.find("<small>"), std::string::npos);
  EXPECT_NE(html.find("too &lt;small&gt; | to see"), std::string::npos);
  EXPECT_EQ(markdown.find("<small> |"), std::string::npos);
  EXPECT_NE(markdown.find("their rule"), std::string::npos);
  EXPECT_NE(markdown.find("3 of 64"), std::string::npos);
  EXPECT_NE(html.find("|d| &lt;= 1"), std::string::npos);
}

}  // namespace
}  // namespace attest
