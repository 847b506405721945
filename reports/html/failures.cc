#include "reports/html/parts.h"
#include "reports/text.h"

#include <fmt/format.h>

namespace attest::report::html {
namespace {

constexpr std::size_t kDetailed = 400;  // the others are in the list of all cases
constexpr std::size_t kOpen = 8;        // unfolded from the start
constexpr std::size_t kMessageBytes = 4000;

std::string values(const Miss& miss) {
  std::string row = "<tr>";
  for (const double value : {miss.expected, miss.actual, error_of(miss), miss.bound})
    row += fmt::format("<td class=\"r\">{}</td>", value_text(value));
  row += fmt::format("<td class=\"r bad\">{}</td></tr>\n", ratio_text(ratio_of(miss)));
  return table("Worst element", "values", header_cells({"#expected", "#actual", "#error", "#bound", "#ratio"}), row);
}

std::string ratios_text(const Verdict& v) {
  if (!is_compared(v) && v.lse_ratio == 0) return "";
  std::string text = is_compared(v) ? fmt::format("output {}", ratio_text(v.ratio)) : "";
  if (v.lse_ratio != 0) text += fmt::format("{}LSE {}", text.empty() ? "" : ", ", ratio_text(v.lse_ratio));
  return text;
}

std::string facts(const Summary& summary, const Entry& entry) {
  const Verdict& v = *entry.verdict;
  std::string list;
  const auto add = [&](std::string_view term, const std::string& markup) {
    if (!markup.empty()) list += fmt::format("<dt>{}</dt><dd>{}</dd>\n", term, markup);
  };
  if (v.worst) add("Place", escape_markup(place_text(entry, v.worst->place)));
  add("Failing", escape_markup(failing_text(v)));
  add("Largest ratio", ratios_text(v));
  if (!v.ran.empty()) add("Kernel that ran", code(v.ran));
  if (!v.waiver.empty()) add("Waiver", code(v.waiver));
  add("Repeat", command(repeat_command(summary, entry)));
  return fmt::format("<dl>\n{}</dl>\n", list);
}

std::string failure(const Summary& summary, std::size_t index, bool open) {
  const Entry& entry = summary.entries[index];
  const Verdict& v = *entry.verdict;
  std::string text = fmt::format("<details class=\"failure\" id=\"{}\"{}>\n<summary>{} {}</summary>\n", anchor(index),
                                 open ? " open" : "", tag(v.outcome, attest::summary(v)), code(v.token));
  if (!v.message.empty())
    text += fmt::format("<p class=\"message\">{}</p>\n", escape_markup(clipped(v.message, kMessageBytes)));
  for (const auto& line : v.diagnosis)
    text += fmt::format("<p class=\"message\">{}</p>\n", escape_markup(clipped(line, kMessageBytes)));
  if (v.worst) text += values(*v.worst);
  return text + facts(summary, entry) + "</details>\n";
}

std::string shared_text(const Summary& summary, const Group& group) {
  const SharedKeys shared = shared_keys(summary, group);
  if (shared.keys.empty()) return "";
  std::string keys;
  for (const std::string& key : shared.keys) keys += " " + code(key);
  const std::string others = shared.passing_with ? count_text(shared.passing_with) : "none";
  return fmt::format("<p class=\"shared\">In common:{}. Of {} of this backend, {} {} {}.</p>\n", keys,
                     count_text(shared.passing, "passing case"), others, shared.passing_with == 1 ? "has" : "have",
                     shared.keys.size() == 1 ? "this" : "all of these");
}

std::string missing_note(const Summary& summary) {
  std::string text;
  if (summary.missing)
    text +=
        fmt::format("<p class=\"note\">{} no verdict: the run was stopped or died. {} continues it.</p>\n",
                    count_text(summary.missing, "case") + (summary.missing == 1 ? " has" : " have"), code("--resume"));
  if (!summary.absent_shards.empty())
    text += fmt::format("<p class=\"note\">{} of the run {} not in this journal; the first is {}.</p>\n",
                        count_text(summary.absent_shards.size(), "shard"),
                        summary.absent_shards.size() == 1 ? "is" : "are", escape_markup(summary.absent_shards.front()));
  return text;
}

}  // namespace

Section failures(const Summary& summary, std::set<std::size_t>& detailed) {
  const auto groups = grouped(
      summary, [](const Verdict& v) { return is_failure(v.outcome); },
      [](const Entry& e) { return fmt::format("{}: {}", e.backend, attest::summary(*e.verdict)); });
  Section section{.id = "failures", .title = "Failures", .body = missing_note(summary)};
  if (groups.empty()) section.body += "<p class=\"muted\">No case fails.</p>\n";
  for (const Group& group : groups) {
    section.body += fmt::format("<h3>{} <span class=\"n\">{}</span></h3>\n{}", escape_markup(group.title),
                                count_text(group.entries.size()), shared_text(summary, group));
    std::size_t in_group = 0;
    for (const std::size_t index : group.entries) {
      if (detailed.size() >= kDetailed) break;
      const bool open = detailed.size() < kOpen && in_group < 2;
      section.body += failure(summary, index, open);
      detailed.insert(index);
      ++in_group;
    }
    section.count += group.entries.size();
    if (in_group < group.entries.size())
      section.body += fmt::format(
          "<p class=\"muted\">{} more of this kind are in <a href=\"#cases\">the list of all "
          "cases</a>.</p>\n",
          count_text(group.entries.size() - in_group));
  }
  return section;
}

}  // namespace attest::report::html
