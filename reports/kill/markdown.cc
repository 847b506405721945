#include "reports/kill/tables.h"
#include "reports/kill_reports.h"
#include "reports/text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace attest::report {
namespace {

std::string markdown(const TextTable& t) {
  std::string names = "|", rules = "|", lines;
  for (const auto& head : t.head) {
    const bool right = head.starts_with('#');
    names += fmt::format(" {} |", markdown_text(head.substr(right)));
    rules += right ? " --: |" : " --- |";
  }
  for (const auto& row : t.rows) {
    lines += "|";
    for (const auto& cell : row) lines += fmt::format(" {} |", markdown_text(cell));
    lines += "\n";
  }
  return names + "\n" + rules + "\n" + lines;
}

std::string section(std::string_view title, std::string_view words, const TextTable& t) {
  if (t.rows.empty()) return "";
  return fmt::format("\n## {}\n\n{}\n\n{}", title, words, markdown(t));
}

}  // namespace
}  // namespace attest::report

std::string attest::kill_table_markdown(const KillTable& table) {
  using namespace report;
  const KillSummary s = summarize(table);
  std::string text = fmt::format(
      "# Detection\n\nWhat the harness catches, measured: every fault of cases/faults/ is seeded into every case of "
      "cases/selftest.yaml\nthat is in its scope, and judged. Written by\n\n    {}\n\n{}; {} cases, {} trials.\n",
      table.command, totals(table, s), table.cases.size(), table.trials.size());
  text +=
      section("Scores",
              "A fault is in scope of a mode where its conditions hold for one of the mode's cases. Missed at most: "
              "the upper end of the 95 % interval (3/k) of the share of such faults that would be missed.",
              score_table(table, s));
  text += section("Rules of other suites",
                  "On the same outputs, with the same reference (exact, of the dequantised cache): faults killed of "
                  "those in scope, over all probes and over random inputs alone; healthy outputs refused of all. "
                  "A kill by a rule that refuses the healthy output of the same case does not count.",
                  rule_table(table));
  if (!table.other_rules.empty())
    text +=
        "\n`attest` is the whole verdict, the LSE and bytes with it; the others look at the output, as their projects "
        "do.\n"
        "Random only: the cases with Gaussian inputs, which still have ragged lengths, page edges, scales and "
        "poison.\n\n" +
        markdown(formula_table(table));
  text += section("Survivors", "Faults that no rule sees, and why.", survivor_table(table, s));
  text +=
      section("Sensitivity",
              "The smallest gain error of the output, and the fewest keys of the longest sequence with a negated V, "
              "that are still seen.",
              sensitivity_table(table));
  text += section("Faults by mode", "The largest ratio of error to bound; inf: a rule that measures nothing is broken.",
                  fault_table(table, s));
  text +=
      section("Faults by probe",
              "The rules that kill: R the kernel failed or another ran, B bytes (guards, inputs, caches), S NaN and "
              "Inf, D the worst-case bound, P the likely bound, L the LSE's.",
              probe_table(table, s));
  const auto idle = probes_without_a_kill_of_their_own(s);
  if (!idle.empty()) text += fmt::format("\nProbes that kill no fault alone: {}.\n", fmt::join(idle, ", "));
  if (!s.problems.empty()) text += "\n## Problems\n\n";
  for (const auto& problem : s.problems) text += fmt::format("- {}\n", markdown_text(problem));
  return text;
}
