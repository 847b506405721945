#include "harness/cli/commands.h"
#include "harness/cli/outputs.h"
#include "reports/reports.h"

#include <fmt/format.h>

#include <memory>

namespace attest {
namespace {

struct ReportOptions {
  std::vector<std::string> journals;
  OutputOptions outputs;
};

int run_report(const ReportOptions& options) {
  check_outputs(options.outputs);
  const JournalContent journal = read_journals(options.journals);
  const OutputOptions& o = options.outputs;
  if (o.json.empty() && o.junit.empty() && o.md.empty() && o.html.empty()) fmt::print("{}", markdown_report(journal));
  write_outputs(o, journal);
  return exit_code(journal, without_verdict(journal), false);
}

}  // namespace

void add_report(CLI::App& app, Action& chosen) {
  auto options = std::make_shared<ReportOptions>();
  CLI::App* report = app.add_subcommand(
      "report",
      "Make reports of finished journals, or of the shards of one run; Markdown to the terminal without an option. "
      "The exit code is that of the run");
  report->add_option("journal", options->journals, "Journal files")->required();
  add_outputs(*report, options->outputs);
  report->callback([options, &chosen] { chosen = [options](const Paths&) { return run_report(*options); }; });
}

}  // namespace attest
