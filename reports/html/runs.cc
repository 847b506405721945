#include "reports/html/parts.h"
#include "reports/text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace attest::report::html {
namespace {

std::string run_row(const JournalHeader& h) {
  return fmt::format(
      "<tr><th scope=\"row\">{}</th><td "
      "class=\"r\">{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>\n",
      escape_markup(h.shard), count_text(h.cases), escape_markup(h.reference), escape_markup(h.attest),
      code(h.fingerprint), command(h.command));
}

// Shards often ran on machines that are alike: each environment once, with the shards that had it.
std::string environments(const std::vector<JournalHeader>& headers) {
  std::map<std::map<std::string, std::string>, std::vector<std::string>> shards;
  for (const auto& header : headers) shards[header.environment].push_back(header.shard);
  std::string text;
  for (const auto& [environment, of] : shards) {
    if (environment.empty()) continue;
    text += shards.size() == 1 ? "<h3>Environment</h3>\n"
                               : fmt::format("<h3>Environment of shard {}</h3>\n",
                                             escape_markup(fmt::format("{}", fmt::join(of, ", "))));
    text += "<dl>\n";
    for (const auto& [key, value] : environment)
      text += fmt::format("<dt>{}</dt><dd>{}</dd>\n", escape_markup(key), escape_markup(value));
    text += "</dl>\n";
  }
  return text;
}

}  // namespace

Section runs(const Summary& summary) {
  Section section{.id = "runs", .title = "Runs and environment"};
  std::string rows;
  for (const auto& header : summary.journal.headers) rows += run_row(header);
  if (rows.empty()) return section;
  section.body =
      table("Runs", "runs", header_cells({"shard", "#cases", "reference", "attest", "fingerprint", "command"}), rows) +
      environments(summary.journal.headers);
  return section;
}

Section backends(const Summary& summary) {
  Section section{.id = "backends", .title = "Backends"};
  std::string rows;
  for (const auto& b : summary.backends)
    rows += fmt::format("<tr><th scope=\"row\">{}</th><td>{}</td><td>{}</td></tr>\n", escape_markup(b.backend),
                        escape_markup(b.version), escape_markup(b.about));
  if (!rows.empty()) section.body = table("Backends", "backends", header_cells({"backend", "version", "about"}), rows);
  return section;
}

}  // namespace attest::report::html
