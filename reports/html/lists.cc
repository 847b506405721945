#include "reports/html/parts.h"
#include "reports/text.h"

#include <fmt/format.h>

namespace attest::report::html {
namespace {

constexpr std::size_t kGroups = 60, kExamples = 5, kSlowest = 10;
constexpr std::size_t kReasonBytes = 1000;
constexpr std::size_t kMessageBytes = 240;  // in a row; the failures have theirs in full

std::string examples(const Summary& summary, const Group& group, bool with_message) {
  std::string items;
  for (std::size_t i = 0; i < std::min(kExamples, group.entries.size()); ++i) {
    const Verdict& v = *summary.entries[group.entries[i]].verdict;
    items += fmt::format(
        "<li>{}{}</li>", code(v.token),
        with_message && !v.message.empty() ? "<br>" + escape_markup(clipped(v.message, kMessageBytes)) : "");
  }
  const std::size_t n = group.entries.size();
  const std::string what =
      n > kExamples ? fmt::format("{} of {}", kExamples, count_text(n, "case")) : count_text(n, "case");
  return fmt::format("<details><summary>{}</summary><ul class=\"tokens\">{}</ul></details>", what, items);
}

// Cases of one outcome by what their verdict says, with a few of them each.
std::string reasons(const Summary& summary, Outcome outcome, std::string_view label) {
  const auto groups = grouped(
      summary, [&](const Verdict& v) { return v.outcome == outcome; }, reason_text);
  std::string rows;
  std::size_t rest = 0;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    if (i >= kGroups) {
      rest += groups[i].entries.size();
      continue;
    }
    rows += fmt::format("<tr><td class=\"r\">{}</td><td><p class=\"message\">{}</p>{}</td></tr>\n",
                        count_text(groups[i].entries.size()), escape_markup(clipped(groups[i].title, kReasonBytes)),
                        examples(summary, groups[i], false));
  }
  if (rows.empty()) return "";
  std::string text = table(label, "reasons", header_cells({"#cases", "reason"}), rows);
  if (rest)
    text += fmt::format("<p class=\"muted\">{} for {} other reasons.</p>\n", count_text(rest, "case"),
                        count_text(groups.size() - kGroups));
  return text;
}

std::string ms_text(double ms) { return ms > 0 ? fmt::format("{:.1f}", ms) : ""; }

std::string case_row(const Verdict& v) {
  std::string row = fmt::format("<tr><td class=\"{}\">{} {}</td><td class=\"r\">{}</td><td class=\"r\">{}</td><td>{}",
                                state_class(v.outcome), symbol(v.outcome), attest::summary(v),
                                is_compared(v) ? ratio_text(v.ratio) : "", ms_text(v.ms.total()), code(v.token));
  if (!v.message.empty())
    row += fmt::format("<p class=\"muted\">{}</p>", escape_markup(clipped(v.message, kMessageBytes)));
  return row + "</td></tr>\n";
}

}  // namespace

Section waived(const Summary& summary) {
  const auto groups = grouped(
      summary, [](const Verdict& v) { return v.outcome == Outcome::Xfail; }, waiver_text);
  Section section{.id = "waived", .title = "Waived failures", .count = count(summary, Outcome::Xfail)};
  std::string rows;
  for (const Group& group : groups) {
    std::optional<double> ratio;
    for (const std::size_t i : group.entries) {
      const Verdict& v = *summary.entries[i].verdict;
      if (is_compared(v) && (!ratio || is_worse(v.ratio, *ratio))) ratio = v.ratio;
    }
    rows += fmt::format(
        "<tr><td class=\"r\">{}</td><td><p class=\"message\">{}</p>{}</td><td>{}</td><td "
        "class=\"r\">{}</td></tr>\n",
        count_text(group.entries.size()), escape_markup(clipped(group.title, kReasonBytes)),
        examples(summary, group, true), escape_markup(seen_counts(summary, group)), ratio ? ratio_text(*ratio) : "");
  }
  if (!rows.empty())
    section.body =
        table("Waived failures", "reasons", header_cells({"#cases", "reference", "seen", "#largest ratio"}), rows);
  return section;
}

Section not_run(const Summary& summary) {
  return {.id = "not-run",
          .title = "Not run",
          .count = count(summary, Outcome::NotRun),
          .body = reasons(summary, Outcome::NotRun, "Cases that did not run")};
}

Section unsupported(const Summary& summary) {
  return {.id = "unsupported",
          .title = "Unsupported",
          .count = count(summary, Outcome::Unsupported),
          .body = reasons(summary, Outcome::Unsupported, "Unsupported cases")};
}

Section slowest_cases(const Summary& summary) {
  Section section{.id = "slowest", .title = "Slowest cases"};
  std::string rows;
  for (const std::size_t i : slowest(summary, kSlowest)) {
    const Verdict& v = *summary.entries[i].verdict;
    rows += "<tr>";
    for (const double ms : {v.ms.total(), v.ms.kernel, v.ms.reference, v.ms.inputs, v.ms.judge})
      rows += fmt::format("<td class=\"r\">{}</td>", ms_text(ms));
    rows += fmt::format("<td>{}</td></tr>\n", code(v.token));
  }
  if (!rows.empty())
    section.body = table("Slowest cases, in milliseconds", "cases",
                         header_cells({"#ms", "#kernel", "#reference", "#inputs", "#judge", "case"}), rows);
  return section;
}

Section all_cases(const Summary& summary) {
  const auto groups = grouped(
      summary, [](const Verdict&) { return true; }, [](const Entry& e) { return e.backend; });
  Section section{.id = "cases", .title = "All cases", .count = summary.entries.size()};
  for (const Group& group : groups) {
    std::string rows;
    for (const std::size_t i : group.entries) rows += case_row(*summary.entries[i].verdict);
    section.body += fmt::format(
        "<details class=\"all\"><summary>{} <span class=\"n\">{}</span></summary>\n{}</details>\n",
        escape_markup(group.title), count_text(group.entries.size()),
        table("Cases of " + group.title, "cases", header_cells({"outcome", "#ratio", "#ms", "case"}), rows));
  }
  return section;
}

}  // namespace attest::report::html
