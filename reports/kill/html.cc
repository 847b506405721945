#include "reports/findings.h"
#include "reports/html/parts.h"
#include "reports/kill/tables.h"
#include "reports/kill_reports.h"
#include "reports/text.h"

#include <fmt/format.h>

namespace attest::report {
namespace {

std::string dressed(std::string_view label, const TextTable& t) {
  std::string head = "<tr>", rows;
  for (const auto& name : t.head) {
    const bool right = name.starts_with('#');
    head += fmt::format("<th scope=\"col\"{}>{}</th>", right ? " class=\"r\"" : "", escape_markup(name.substr(right)));
  }
  for (const auto& row : t.rows) {
    rows += "<tr>";
    for (std::size_t i = 0; i < row.size(); ++i)
      rows += i == 0 ? fmt::format("<th scope=\"row\">{}</th>", escape_markup(row[i]))
                     : fmt::format("<td{}>{}</td>", t.head[i].starts_with('#') ? " class=\"r\"" : "",
                                   escape_markup(row[i]));
    rows += "</tr>\n";
  }
  return html::table(label, "plain", head + "</tr>", rows);
}

std::string section(std::string_view id, std::string_view title, const TextTable& t) {
  return t.rows.empty() ? ""
                        : html::text_of({.id = id, .title = title, .count = t.rows.size(), .body = dressed(title, t)});
}

std::string problems(const KillSummary& s) {
  std::string body;
  for (const auto& problem : s.problems) body += fmt::format("<li>{}</li>\n", escape_markup(problem));
  return body.empty() ? ""
                      : html::text_of({.id = "problems",
                                       .title = "Problems",
                                       .count = s.problems.size(),
                                       .body = "<ul>\n" + body + "</ul>\n"});
}

}  // namespace
}  // namespace attest::report

std::string attest::kill_table_html(const KillTable& table) {
  using namespace report;
  const KillSummary s = summarize(table);
  const std::string sentence = escape_markup(totals(table, s));
  const Outcome like = s.problems.empty() ? Outcome::Pass : Outcome::Fail;
  std::string text = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
      "img-src data:; base-uri 'none'; form-action 'none'\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<meta name=\"color-scheme\" "
      "content=\"light dark\">\n<link rel=\"icon\" href=\"data:,\">\n<title>Self-test: "
      "{0}</title>\n<style>\n{1}</style>"
      "\n</head>\n<body>\n<main id=\"main\" class=\"wrap\">\n<h1 class=\"{2}\"><span aria-hidden=\"true\">{3}</span> "
      "Self-test</h1>\n<p class=\"lead\">{0}</p>\n<p>{4}</p>\n",
      sentence, html::stylesheet(), html::state_class(like), symbol(like), html::command(table.command));
  text +=
      problems(s) + section("scores", "Scores", score_table(table, s)) +
      section("rules", "Rules of other suites", rule_table(table)) +
      section("formulas", "What they accept", formula_table(table)) +
      section("survivors", "Survivors", survivor_table(table, s)) +
      section("faults", "Faults by mode: the largest ratio", fault_table(table, s)) +
      section("probes",
              "Faults by probe: R the kernel failed, B bytes, S NaN and Inf, D worst-case bound, P likely bound, L LSE",
              probe_table(table, s)) +
      section("sensitivity", "Sensitivity", sensitivity_table(table));
  return text + "</main>\n</body>\n</html>\n";
}
