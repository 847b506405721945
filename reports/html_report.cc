#include "reports/html/parts.h"
#include "reports/reports.h"
#include "reports/text.h"

#include <fmt/format.h>

namespace attest::report {
namespace {

using html::Section;

// The failures come first: whoever opens the report wants to know what is wrong, or that nothing is.
std::vector<Section> sections(const Summary& summary) {
  std::set<std::size_t> detailed;
  std::vector<Section> all;
  all.push_back(html::failures(summary, detailed));
  all.push_back(html::matrix(summary, detailed));
  for (const auto part : {html::ratios, html::waived, html::not_run, html::unsupported, html::slowest_cases, html::runs,
                          html::backends, html::all_cases})
    all.push_back(part(summary));
  std::erase_if(all, [](const Section& section) { return section.body.empty(); });
  return all;
}

std::string head(const Summary& summary) {
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
      "img-src data:; base-uri 'none'; form-action 'none'\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<meta name=\"color-scheme\" "
      "content=\"light dark\">\n"
      "<link rel=\"icon\" href=\"data:,\">\n<title>{}: {}</title>\n<style>\n{}</style>\n</head>\n",
      name(conclusion(summary)), escape_markup(sentence(summary)), html::stylesheet());
}

std::string navigation(const std::vector<Section>& all) {
  std::string links;
  for (const Section& section : all)
    links += fmt::format("<a href=\"#{}\">{}{}</a>", section.id,
                         escape_markup(section.id == "ratios" ? "Ratios" : section.title),
                         section.count ? fmt::format(" <span class=\"n\">{}</span>", count_text(section.count)) : "");
  return fmt::format("<header><nav class=\"wrap\" aria-label=\"Sections\"><strong>attest</strong>{}</nav></header>\n",
                     links);
}

// The counts as a bar, for the eye only: the sentence above it says the same.
std::string bar(const Summary& summary) {
  const auto segment = [](std::string_view kind, std::size_t n) {
    return n ? fmt::format("<i class=\"{}\" style=\"flex-grow:{}\"></i>", kind, n) : "";
  };
  const std::size_t bad = failures(summary) + count(summary, Outcome::Infra);
  return fmt::format("<div class=\"bar\" aria-hidden=\"true\">{}{}{}{}{}</div>\n", segment("bad", bad),
                     segment("ok", count(summary, Outcome::Pass)), segment("waived", count(summary, Outcome::Xfail)),
                     segment("idle", count(summary, Outcome::Unsupported) + count(summary, Outcome::NotRun)),
                     segment("none", summary.missing));
}

std::string opening(const Summary& summary) {
  const Conclusion verdict = conclusion(summary);
  const Outcome like = verdict == Conclusion::Conforms ? Outcome::Pass
                       : verdict == Conclusion::Fails  ? Outcome::Fail
                                                       : Outcome::NotRun;
  return fmt::format("<h1 class=\"{}\"><span aria-hidden=\"true\">{}</span> {}</h1>\n<p class=\"lead\">{}</p>\n{}",
                     html::state_class(like), symbol(like), name(verdict), escape_markup(sentence(summary)),
                     bar(summary));
}

}  // namespace
}  // namespace attest::report

std::string attest::html_report(const JournalContent& journal) {
  using namespace report;
  const Summary summary = summarize(journal);
  const std::vector<Section> all = sections(summary);
  std::string text = head(summary) + "<body>\n<a class=\"skip\" href=\"#main\">Skip to the report</a>\n" +
                     navigation(all) + "<main id=\"main\" class=\"wrap\">\n" + opening(summary);
  for (const Section& section : all) text += html::text_of(section);
  return text + "</main>\n</body>\n</html>\n";
}
