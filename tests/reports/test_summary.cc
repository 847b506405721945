// What the reports count: held to a journal whose sums are known.
#include "reports/findings.h"
#include "tests/reports/journals.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace attest::report {
namespace {

using test::every_outcome;
using test::passed;

const std::string kBase = "decode/alpha/q=bf16/kv=fp8_e4m3/h=8:2/d=64/page=16/seq=1x15,1x16";

const MatrixCell& cell(const Summary& summary, const MatrixRow& row, const MatrixColumn& column) {
  return summary.matrix.cells.at({row, column});
}

TEST(Summary, CountsEveryOutcome) {
  const JournalContent journal = every_outcome();
  const Summary summary = summarize(journal);
  EXPECT_EQ(count(summary, Outcome::Pass), 6u);
  EXPECT_EQ(count(summary, Outcome::Fail), 2u);
  EXPECT_EQ(count(summary, Outcome::Timeout), 0u);
  EXPECT_EQ(failures(summary), 5u);  // not the one that the harness itself failed at
  EXPECT_EQ(summary.cases, test::kEveryOutcomeCases);
  EXPECT_EQ(summary.missing, 2u);
  EXPECT_EQ(sentence(summary),
            "17 cases: 6 conform, 5 fail, 1 fails as waived, 1 unsupported, 1 not run, 1 not judged (the "
            "harness failed); 2 missing");
  EXPECT_EQ(summary.backends.size(), 2u);
  EXPECT_EQ(summary.backends.front().backend, "alpha");
  EXPECT_TRUE(std::ranges::is_sorted(summary.entries, {}, [](const Entry& e) { return e.verdict->token; }));
}

TEST(Summary, ConcludesTheWorst) {
  JournalContent journal = every_outcome();
  EXPECT_EQ(conclusion(summarize(journal)), Conclusion::Fails);
  journal.verdicts = {passed(kBase + "#1", 0.4)};
  EXPECT_EQ(conclusion(summarize(journal)), Conclusion::Incomplete);
  journal.headers.front().cases = 1;
  EXPECT_EQ(conclusion(summarize(journal)), Conclusion::Conforms);
  EXPECT_EQ(sentence(summarize(journal)), "1 case: 1 conforms, 0 fail; 0 missing");
  journal.verdicts.front().outcome = Outcome::Infra;
  EXPECT_EQ(conclusion(summarize(journal)), Conclusion::Incomplete);
  journal.verdicts.front().outcome = Outcome::NotRun;
  EXPECT_EQ(conclusion(summarize(journal)), Conclusion::NothingRan);
  EXPECT_EQ(conclusion(summarize(JournalContent{})), Conclusion::NothingRan);
}

TEST(Summary, AddsShardsAndMissesThoseThatAreAbsent) {
  JournalContent journal = every_outcome();
  JournalHeader& first = journal.headers.front();
  first.shard = "1/3";
  first.cases = 10;
  JournalHeader last = first;
  last.shard = "3/3";
  last.cases = 7;
  journal.headers.push_back(last);
  journal.headers.push_back(last);  // the same shard once more: its cases are the same ones
  const Summary summary = summarize(journal);
  EXPECT_EQ(summary.cases, 17u);
  EXPECT_EQ(summary.missing, 2u);
  EXPECT_EQ(summary.absent_shards, std::vector<std::string>{"2/3"});
  EXPECT_NE(sentence(summary).find("no journal of shard 2/3"), std::string::npos);

  journal.verdicts = {passed(kBase + "#1", 0.4)};
  journal.headers[0].cases = 1;
  journal.headers[1].cases = journal.headers[2].cases = 0;
  EXPECT_EQ(conclusion(summarize(journal)), Conclusion::Incomplete);
}

TEST(Summary, MatrixHoldsEachCaseOnce) {
  const JournalContent journal = every_outcome();
  const Summary summary = summarize(journal);
  const MatrixRow alpha{"alpha", false, "fp8_e4m3"};
  const MatrixCell& eager = cell(summary, alpha, {64, Graph::Eager});
  EXPECT_EQ(eager.passed, 2u);
  EXPECT_EQ(eager.xfail, 1u);
  EXPECT_EQ(eager.failed, 0u);
  EXPECT_DOUBLE_EQ(eager.ratio.value(), 0.41);
  EXPECT_EQ(state(eager), CellState::Waived);

  const MatrixCell& full = cell(summary, alpha, {64, Graph::Full});
  EXPECT_EQ(full.failed, 2u);
  EXPECT_DOUBLE_EQ(full.ratio.value(), 12.34);
  EXPECT_EQ(state(full), CellState::Fails);
  EXPECT_TRUE(summary.entries[*full.first_failure].verdict->token.ends_with("graph=full#5"));

  EXPECT_EQ(cell(summary, {"beta", true, "f32"}, {64, Graph::Eager}).passed,
            1u);  // rope goes by the dtype of k
  EXPECT_EQ(cell(summary, {"beta", false, "fp8"}, {64, Graph::Eager}).passed, 1u);
  const MatrixCell& declined = cell(summary, {"beta", false, "auto"}, {128, Graph::Padded});
  EXPECT_EQ(state(declined), CellState::Unsupported);
  EXPECT_EQ(declined.ratio, std::nullopt);
  EXPECT_FALSE(summary.matrix.cells.contains({alpha, {128, Graph::Eager}}));

  std::size_t cases = 0;
  for (const auto& [at, c] : summary.matrix.cells) cases += c.passed + c.failed + c.xfail + c.unsupported + c.not_run;
  EXPECT_EQ(cases, journal.verdicts.size());
}

TEST(Summary, KeepsVerdictsWhoseTokenItCantRead) {
  JournalContent journal;
  journal.verdicts = {passed("decode/alpha/colour=red#1", 0.4), passed("nonsense", 0.4)};
  const Summary summary = summarize(journal);
  EXPECT_EQ(summary.matrix.unread, 2u);
  EXPECT_EQ(summary.entries[0].backend, "alpha");
  EXPECT_EQ(summary.entries[1].backend, "?");
  EXPECT_EQ(count(summary, Outcome::Pass), 2u);
}

TEST(Summary, MarksABoundThatNoPassedCaseComesNear) {
  JournalContent journal;
  for (int i = 0; i < 19; ++i) journal.verdicts.push_back(passed(kBase + "#" + std::to_string(i), 0.09));
  EXPECT_FALSE(summarize(journal).ratios.at(0).loose);  // too few to say
  journal.verdicts.push_back(passed(kBase + "#19", 0.0999));
  EXPECT_TRUE(summarize(journal).ratios.at(0).loose);

  // A failing case far outside says nothing on how near the right ones come.
  Verdict far = passed(kBase + "#20", 50);
  far.outcome = Outcome::Fail;
  journal.verdicts.push_back(far);
  const auto ratios = summarize(journal).ratios;
  EXPECT_TRUE(ratios.at(0).loose);
  EXPECT_DOUBLE_EQ(ratios.at(0).ratio, 50);
  EXPECT_DOUBLE_EQ(ratios.at(0).passed_ratio, 0.0999);

  journal.verdicts.push_back(passed(kBase + "#21", 0.1));
  EXPECT_FALSE(summarize(journal).ratios.at(0).loose);
}

TEST(Summary, NoNumberIsWorseThanNan) {
  const double nan = std::nan(""), inf = std::numeric_limits<double>::infinity();
  EXPECT_TRUE(is_worse(nan, inf));
  EXPECT_FALSE(is_worse(inf, nan));
  EXPECT_TRUE(is_worse(inf, 3));
  JournalContent journal;
  journal.verdicts = {passed(kBase + "#1", 2), passed(kBase + "#2", nan), passed(kBase + "#3", inf)};
  EXPECT_TRUE(std::isnan(summarize(journal).ratios.at(0).ratio));
}

TEST(Findings, PlaceNamesSequenceAndHeads) {
  const JournalContent journal = every_outcome();
  const Summary summary = summarize(journal);
  EXPECT_EQ(place_text(summary.entries.front(), {1, 5, 0, 77}), "sequence 1 (1x16), head 5 (KV head 1), row 0, dim 77");
  EXPECT_EQ(place_text(summary.entries.front(), {0, 3, 2, -1}), "sequence 0 (1x15), head 3 (KV head 0), row 2");
  EXPECT_EQ(place_text(summary.entries.front(), {99, 3, 2, -1}), "sequence 99, head 3 (KV head 0), row 2");
}

TEST(Findings, SharedKeysTellFailingFromPassing) {
  const JournalContent journal = every_outcome();
  const Summary summary = summarize(journal);
  const auto groups = grouped(
      summary, [](const Verdict& v) { return v.outcome == Outcome::Fail; }, [](const Entry& e) { return e.backend; });
  ASSERT_EQ(groups.size(), 1u);
  const SharedKeys shared = shared_keys(summary, groups.front());
  EXPECT_EQ(shared.keys, std::vector<std::string>{"graph=full"});
  EXPECT_EQ(shared.passing, 2u);
  EXPECT_EQ(shared.passing_with, 0u);
  EXPECT_TRUE(shared_keys(summary, {.title = "", .entries = {groups.front().entries.front()}}).keys.empty());
}

TEST(Findings, SlowestFirst) {
  JournalContent journal;
  for (int i = 0; i < 30; ++i) {
    journal.verdicts.push_back(passed(kBase + "#" + std::to_string(i), 0.4));
    journal.verdicts.back().ms = {.kernel = static_cast<double>(i * 7 % 30)};
  }
  const Summary summary = summarize(journal);
  const auto order = slowest(summary, 10);
  ASSERT_EQ(order.size(), 10u);
  for (std::size_t i = 0; i < 10; ++i)
    EXPECT_DOUBLE_EQ(summary.entries[order[i]].verdict->ms.total(), 29.0 - static_cast<double>(i));
}

}  // namespace
}  // namespace attest::report
