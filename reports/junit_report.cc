#include "reports/findings.h"
#include "reports/reports.h"
#include "reports/text.h"

#include <fmt/format.h>

namespace attest::report {
namespace {

enum class Element { None, Failure, Error, Skipped };

Element element_of(Outcome outcome) {
  switch (outcome) {
    case Outcome::Pass: return Element::None;
    case Outcome::Fail:
    case Outcome::Xpass:
    case Outcome::Vacuous: return Element::Failure;
    case Outcome::Xfail:
    case Outcome::Unsupported:
    case Outcome::NotRun: return Element::Skipped;
    case Outcome::Crash:
    case Outcome::Timeout:
    case Outcome::Memory:
    case Outcome::Infra: break;
  }
  return Element::Error;
}

// What a reader of a CI page gets to see, a fact a line.
std::string details(const Summary& summary, const Entry& entry) {
  const Verdict& v = *entry.verdict;
  std::string text = v.message + "\n";
  if (v.worst) {
    text += fmt::format("where:    {}\n", place_text(entry, v.worst->place));
    text += fmt::format("expected: {}\nactual:   {}\nbound:    {}\nratio:    {}\n", value_text(v.worst->expected),
                        value_text(v.worst->actual), value_text(v.worst->bound), ratio_text(ratio_of(*v.worst)));
  }
  if (const auto failing = failing_text(v); !failing.empty()) text += fmt::format("failing:  {}\n", failing);
  for (const auto& line : v.diagnosis) text += fmt::format("looks:    {}\n", line);
  if (!v.ran.empty()) text += fmt::format("ran:      {}\n", v.ran);
  return text + fmt::format("repeat:   {}\n", repeat_command(summary, entry));
}

std::string skip_message(const Verdict& v) {
  if (v.outcome == Outcome::Xfail)
    return fmt::format("waived: {}{}{}", v.waiver, v.message.empty() ? "" : ": ", v.message);
  return fmt::format("{}{}{}", name(v.outcome), v.message.empty() ? "" : ": ", v.message);
}

std::string seconds(double ms) { return fmt::format("{:.6f}", ms / 1000); }

std::string test_case(const Summary& summary, const Entry& entry) {
  const Verdict& v = *entry.verdict;
  const std::string head =
      fmt::format("    <testcase name=\"{}\" classname=\"{}\" time=\"{}\"", escape_markup(v.token),
                  escape_markup(fmt::format("attest.{}.{}", entry.backend, entry.phase)), seconds(v.ms.total()));
  const Element element = element_of(v.outcome);
  if (element == Element::None) return head + "/>\n";
  if (element == Element::Skipped)
    return fmt::format("{}>\n      <skipped message=\"{}\"/>\n    </testcase>\n", head, escape_markup(skip_message(v)));
  const std::string_view tag = element == Element::Failure ? "failure" : "error";
  const std::string message = v.message.empty() ? attest::summary(v) : v.message;
  return fmt::format("{}>\n      <{} type=\"{}\" message=\"{}\">{}</{}>\n    </testcase>\n", head, tag, seen_text(v),
                     escape_markup(message), escape_markup(details(summary, entry)), tag);
}

struct Suite {
  std::string name;
  std::string properties, cases;  // XML
  std::size_t tests = 0, failures = 0, errors = 0, skipped = 0;
  double ms = 0;
};

void add(Suite& suite, const Summary& summary, const Entry& entry) {
  const Element element = element_of(entry.verdict->outcome);
  suite.cases += test_case(summary, entry);
  ++suite.tests;
  suite.failures += element == Element::Failure;
  suite.errors += element == Element::Error;
  suite.skipped += element == Element::Skipped;
  suite.ms += entry.verdict->ms.total();
}

std::string counts(const Suite& suite) {
  return fmt::format("tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\" time=\"{}\"", suite.tests,
                     suite.failures, suite.errors, suite.skipped, seconds(suite.ms));
}

std::string properties(const Summary& summary, const std::string& backend) {
  std::string text;
  for (const auto& record : summary.backends)
    if (record.backend == backend)
      text += fmt::format(
          "      <property name=\"version\" value=\"{}\"/>\n      <property name=\"about\" value=\"{}\"/>\n",
          escape_markup(record.version), escape_markup(record.about));
  return text.empty() ? text : fmt::format("    <properties>\n{}    </properties>\n", text);
}

// A run that stopped early must not look like one that passed.
Suite incomplete_run(const Summary& summary) {
  Suite suite{.name = "attest.run", .tests = 1, .errors = 1};
  suite.cases = fmt::format(
      "    <testcase name=\"every case has a verdict\" classname=\"attest.run\" time=\"0\">\n"
      "      <error type=\"missing\" message=\"{}\"/>\n    </testcase>\n",
      escape_markup(sentence(summary)));
  return suite;
}

}  // namespace
}  // namespace attest::report

std::string attest::junit_report(const JournalContent& journal) {
  using namespace report;
  const Summary summary = summarize(journal);
  std::map<std::string, Suite> suites;
  for (const Entry& entry : summary.entries) {
    Suite& suite = suites[entry.backend];
    suite.name = entry.backend;
    add(suite, summary, entry);
  }
  std::vector<Suite> all;
  for (auto& [backend, suite] : suites) {
    suite.properties = properties(summary, backend);
    all.push_back(std::move(suite));
  }
  if (summary.missing || !summary.absent_shards.empty()) all.push_back(incomplete_run(summary));

  Suite total{.name = "attest"};
  std::string body;
  for (const Suite& suite : all) {
    total.tests += suite.tests;
    total.failures += suite.failures;
    total.errors += suite.errors;
    total.skipped += suite.skipped;
    total.ms += suite.ms;
    body += fmt::format("  <testsuite name=\"{}\" {}>\n{}{}  </testsuite>\n", escape_markup(suite.name), counts(suite),
                        suite.properties, suite.cases);
  }
  return fmt::format("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"attest\" {}>\n{}</testsuites>\n",
                     counts(total), body);
}
