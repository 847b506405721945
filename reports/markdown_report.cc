#include "reports/findings.h"
#include "reports/reports.h"
#include "reports/text.h"

#include <fmt/format.h>

namespace attest::report {
namespace {

constexpr std::size_t kFailures = 20, kGroups = 20, kMessageBytes = 400;

std::string message_text(const std::string& message) { return markdown_text(clipped(message, kMessageBytes)); }

std::string totals(const Summary& summary) {
  std::string names = "|", rules = "|", counts = "|";
  for (const auto& [outcome, n] : summary.counts) {
    names += fmt::format(" {} |", markdown_text(name(outcome)));
    rules += " --: |";
    counts += fmt::format(" {} |", count_text(n));
  }
  if (summary.missing) {
    names += " missing |";
    rules += " --: |";
    counts += fmt::format(" {} |", count_text(summary.missing));
  }
  return names == "|" ? "" : fmt::format("{}\n{}\n{}\n\n", names, rules, counts);
}

std::string cell_text(const MatrixCell& cell) {
  std::string text;
  const auto add = [&](Outcome outcome, std::size_t n) {
    if (n) text += fmt::format("{}{}{}", text.empty() ? "" : " ", symbol(outcome), n);
  };
  add(Outcome::Fail, cell.failed);
  add(Outcome::Pass, cell.passed);
  add(Outcome::Xfail, cell.xfail);
  add(Outcome::Unsupported, cell.unsupported);
  add(Outcome::NotRun, cell.not_run);
  return cell.ratio ? fmt::format("{} ({})", text, ratio_text(*cell.ratio)) : text;
}

std::string matrix(const Summary& summary) {
  const Matrix& matrix = summary.matrix;
  if (matrix.rows.empty()) return "";
  std::string text = "## Matrix\n\n| backend | KV cache |", rule = "| --- | --- |";
  for (const auto& column : matrix.columns) {
    text += fmt::format(" d={} {} |", column.dim, graph_name(column.graph));
    rule += " --- |";
  }
  text += "\n" + rule + "\n";
  for (const auto& row : matrix.rows) {
    text += fmt::format("| {} | {} |", markdown_code(row.backend, Within::Table), markdown_text(label(row)));
    for (const auto& column : matrix.columns) {
      const auto cell = matrix.cells.find({row, column});
      text += cell == matrix.cells.end() ? "  |" : fmt::format(" {} |", cell_text(cell->second));
    }
    text += "\n";
  }
  text +=
      "\n✗ fail, ✓ conform, ≈ fail as waived, – unsupported, ○ not run; in brackets the largest error in "
      "units of its bound.\n\n";
  for (const auto& line : summary.ratios)
    if (line.loose)
      text += fmt::format("- {} {}: the largest ratio of {} passed cases is {}; the bound may be too loose\n",
                          markdown_code(line.row.backend), markdown_text(label(line.row)), line.passed,
                          ratio_text(line.passed_ratio));
  return text + "\n";
}

std::string failed(const Summary& summary) {
  std::string text;
  std::size_t shown = 0, all = 0;
  for (const Entry& entry : summary.entries) {
    const Verdict& v = *entry.verdict;
    if (!is_failure(v.outcome) || ++all > kFailures) continue;
    ++shown;
    text += fmt::format("- **{}** {}<br>\n", markdown_text(attest::summary(v)), markdown_code(v.token));
    if (!v.message.empty()) text += fmt::format("  {}<br>\n", message_text(v.message));
    for (const auto& line : v.diagnosis) text += fmt::format("  {}<br>\n", message_text(line));
    text += fmt::format("  repeat: {}\n", markdown_code(repeat_command(summary, entry)));
  }
  if (all > shown) text += fmt::format("- and {} more\n", count_text(all - shown));
  return all ? fmt::format("## Failures\n\n{}\n", text) : "";
}

// "- 14 cases: TITLE (seen: numeric 12, lse 2)", the largest groups first.
std::string group_list(const Summary& summary, std::string_view heading, Outcome outcome, const Title& title,
                       bool with_kinds) {
  const auto groups = grouped(
      summary, [&](const Verdict& v) { return v.outcome == outcome; }, title);
  if (groups.empty()) return "";
  std::string text = fmt::format("## {}\n\n", heading);
  std::size_t cases = 0;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    cases += i < kGroups ? 0 : groups[i].entries.size();
    if (i >= kGroups) continue;
    text += fmt::format("- {}: {}", count_text(groups[i].entries.size(), "case"), message_text(groups[i].title));
    if (with_kinds) text += fmt::format(" (seen: {})", markdown_text(seen_counts(summary, groups[i])));
    text += "\n";
  }
  if (cases) text += fmt::format("- {} for other reasons\n", count_text(cases, "case"));
  return text + "\n";
}

}  // namespace
}  // namespace attest::report

std::string attest::markdown_report(const JournalContent& journal) {
  using namespace report;
  const Summary summary = summarize(journal);
  return fmt::format("**{}.** {}.\n\n{}{}{}{}{}{}", name(conclusion(summary)), sentence(summary), totals(summary),
                     matrix(summary), failed(summary),
                     group_list(summary, "Waived failures", Outcome::Xfail, waiver_text, true),
                     group_list(summary, "Not run", Outcome::NotRun, reason_text, false),
                     group_list(summary, "Unsupported", Outcome::Unsupported, reason_text, false));
}
