#include "reports/kill/tables.h"
#include "reports/kill_reports.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace attest::report {
namespace {

std::string aligned(const TextTable& t) {
  std::vector<std::size_t> width(t.head.size());
  const auto head = [&](std::size_t i) { return t.head[i].substr(t.head[i].starts_with('#')); };
  for (std::size_t i = 0; i < t.head.size(); ++i) {
    width[i] = head(i).size();
    for (const auto& row : t.rows) width[i] = std::max(width[i], row[i].size());
  }
  std::string text;
  const auto line = [&](const auto& cell) {
    std::string out;
    for (std::size_t i = 0; i < t.head.size(); ++i)
      out += t.head[i].starts_with('#') ? fmt::format("{:>{}}  ", cell(i), width[i])
                                        : fmt::format("{:<{}}  ", cell(i), width[i]);
    text += out.substr(0, out.find_last_not_of(' ') + 1) + "\n";
  };
  line(head);
  for (const auto& row : t.rows) line([&](std::size_t i) { return row[i]; });
  return text;
}

}  // namespace
}  // namespace attest::report

std::string attest::kill_table_text(const KillTable& table) {
  using namespace report;
  const KillSummary s = summarize(table);
  std::string text = aligned(fault_table(table, s)) + "\n" + aligned(score_table(table, s));
  if (!table.other_rules.empty()) text += "\n" + aligned(rule_table(table));
  const TextTable sensitivity = sensitivity_table(table);
  if (!sensitivity.rows.empty()) text += "\n" + aligned(sensitivity);
  if (!s.survivors.empty()) text += "\n" + aligned(survivor_table(table, s));
  const auto idle = probes_without_a_kill_of_their_own(s);
  if (!idle.empty()) text += fmt::format("\nprobes that kill nothing alone: {}\n", fmt::join(idle, ", "));
  if (!s.problems.empty()) text += "\n";
  for (const auto& problem : s.problems) text += problem + "\n";
  return text + fmt::format("\n{} cases, {} trials in {:.0f} s\n{}\n", table.cases.size(), table.trials.size(),
                            table.seconds, totals(table, s));
}
