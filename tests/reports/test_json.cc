// The JSON report parses back and holds all that the journal does.
#include "harness/core/case_keys.h"
#include "reports/reports.h"
#include "tests/reports/journals.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace attest {
namespace {

using nlohmann::json;
using test::every_outcome;

TEST(JsonReport, HoldsRunsTotalsAndMatrix) {
  const json report = json::parse(json_report(every_outcome()));
  EXPECT_EQ(report.at("conclusion"), "Does not conform");
  EXPECT_EQ(report.at("cases"), 17);
  EXPECT_EQ(report.at("missing"), 2);
  EXPECT_EQ(report.at("totals").at("PASS"), 6);
  EXPECT_EQ(report.at("totals").at("FAIL"), 2);
  EXPECT_EQ(report.at("totals").at("TIMEOUT"), 0);
  EXPECT_EQ(report.at("runs").at(0).at("fingerprint"), "f00d");
  EXPECT_EQ(report.at("runs").at(0).at("environment").at("os"), "Linux");
  EXPECT_EQ(report.at("backends").size(), 2u);

  const json& matrix = report.at("matrix");
  const auto cell =
      std::ranges::find_if(matrix, [](const json& c) { return c.at("backend") == "alpha" && c.at("graph") == "full"; });
  ASSERT_NE(cell, matrix.end());
  EXPECT_EQ(cell->at("kv"), "fp8_e4m3");
  EXPECT_EQ(cell->at("d"), 64);
  EXPECT_EQ(cell->at("failed"), 2);
  EXPECT_EQ(cell->at("passed"), 0);
  EXPECT_DOUBLE_EQ(cell->at("ratio"), 12.34);
  EXPECT_TRUE(std::ranges::any_of(matrix, [](const json& c) { return c.at("rope") == true && c.at("kv") == "f32"; }));
}

TEST(JsonReport, VerdictsHoldTheJournalsFieldsTheCaseAndTheCommand) {
  const JournalContent journal = every_outcome();
  const json report = json::parse(json_report(journal));
  const json& verdicts = report.at("verdicts");
  ASSERT_EQ(verdicts.size(), journal.verdicts.size());
  EXPECT_TRUE(std::ranges::is_sorted(verdicts, {}, [](const json& v) { return v.at("token").get<std::string>(); }));
  for (const Verdict& v : journal.verdicts) {
    const auto found = std::ranges::find_if(verdicts, [&](const json& entry) { return entry.at("token") == v.token; });
    ASSERT_NE(found, verdicts.end());
    const json journal_line = json::parse(to_json_line(v));
    for (const auto& [key, value] : journal_line.items()) EXPECT_EQ(found->at(key), value) << key;
    const Case c = parse_token(v.token);
    for (const CaseKey& key : case_keys()) EXPECT_EQ(found->at(std::string(key.name)), key.print(c)) << key.name;
    EXPECT_EQ(found->at("phase"), name(c.phase));
    EXPECT_EQ(found->at("backend"), c.backend);
    EXPECT_EQ(found->at("seed"), std::to_string(c.seed));
    EXPECT_EQ(found->at("repeat"), "attest run --plugin ./libmine.so '" + v.token + "'");
  }
}

TEST(JsonReport, IsTheSameInWhateverOrderTheCasesRan) {
  JournalContent journal = every_outcome();
  const std::string before = json_report(journal);
  std::ranges::reverse(journal.verdicts);
  std::ranges::reverse(journal.backends);
  EXPECT_EQ(json_report(journal), before);
}

TEST(JsonReport, TakesAnyBytesAndAnyNumber) {
  const json report = json::parse(json_report(test::with_text(std::string(test::kHostile))));
  EXPECT_EQ(report.at("verdicts").size(), 9u);
  JournalContent journal;
  for (const double ratio : {std::nan(""), std::numeric_limits<double>::infinity()}) {
    journal.verdicts = {test::passed("decode/alpha/q=bf16/kv=auto/h=8:2/d=64/page=16/seq=1x15#1", ratio)};
    const json odd = json::parse(json_report(journal));
    EXPECT_EQ(odd.at("matrix").at(0).at("ratio"), std::isnan(ratio) ? "nan" : "inf");
    EXPECT_EQ(odd.at("verdicts").at(0).at("ratio"), std::isnan(ratio) ? "nan" : "inf");
  }
}

TEST(JsonReport, OfAnEmptyJournalIsStillAReport) {
  const json report = json::parse(json_report(JournalContent{}));
  EXPECT_EQ(report.at("conclusion"), "Nothing ran");
  EXPECT_TRUE(report.at("verdicts").empty());
  EXPECT_TRUE(report.at("matrix").is_array());
}

}  // namespace
}  // namespace attest
