#include "reports/html/parts.h"

#include "reports/text.h"

#include <fmt/format.h>

namespace attest::report::html {
namespace {

// Escaped, and where a line of it is too long it breaks between a token's keys.
std::string breakable(std::string_view text) {
  std::string out;
  for (const char c : escape_markup(text)) {
    out += c;
    if (c == '/') out += "<wbr>";
  }
  return out;
}

}  // namespace

std::string text_of(const Section& s) {
  const std::string number = s.count ? fmt::format(" <span class=\"n\">{}</span>", count_text(s.count)) : "";
  return fmt::format("<section id=\"{0}\" aria-labelledby=\"h-{0}\">\n<h2 id=\"h-{0}\">{1}{2}</h2>\n{3}</section>\n",
                     s.id, escape_markup(s.title), number, s.body);
}

std::string code(std::string_view text) { return fmt::format("<code>{}</code>", breakable(text)); }

std::string command(std::string_view text) { return fmt::format("<code class=\"cmd\">{}</code>", breakable(text)); }

std::string tag(Outcome outcome, std::string_view text) {
  return fmt::format("<span class=\"tag {}\"><span aria-hidden=\"true\">{}</span> {}</span>", state_class(outcome),
                     symbol(outcome), escape_markup(text));
}

std::string_view state_class(Outcome outcome) {
  switch (outcome) {
    case Outcome::Pass: return "ok";
    case Outcome::Xfail: return "waived";
    case Outcome::Unsupported:
    case Outcome::NotRun: return "idle";
    default: return "bad";
  }
}

std::string anchor(std::size_t entry) { return fmt::format("c{}", entry); }

std::string table(std::string_view label, std::string_view kind, const std::string& head, const std::string& rows) {
  return fmt::format(
      "<div class=\"scroll\" role=\"region\" aria-label=\"{0}\" tabindex=\"0\"><table class=\"{1}\">\n"
      "<thead>{2}</thead>\n<tbody>\n{3}</tbody></table></div>\n",
      escape_markup(label), kind, head, rows);
}

std::string header_cells(std::initializer_list<std::string_view> names) {
  std::string cells = "<tr>";
  for (const auto text : names) {
    const bool right = text.starts_with('#');
    cells += fmt::format("<th scope=\"col\"{}>{}</th>", right ? " class=\"r\"" : "", escape_markup(text.substr(right)));
  }
  return cells + "</tr>";
}

}  // namespace attest::report::html
