#include "harness/cli/commands.h"
#include "harness/core/error.h"
#include "harness/core/words.h"
#include "harness/matrix/fault_file.h"
#include "harness/matrix/matrix_file.h"
#include "harness/study/selftest/selftest.h"
#include "reports/kill_reports.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <memory>
#include <thread>

namespace attest {
namespace {

struct SelftestArguments {
  std::vector<std::string> what, backend, faults;
  std::string catalogue, tier = "ci", json, html, markdown;
  int jobs = 0;
  bool compare_rules = false, no_sensitivity = false;
};

void write(const std::string& option, const std::string& path, const std::string& text) {
  if (path.empty()) return;
  std::ofstream file(path, std::ios::binary);
  if (!(file << text).flush()) throw UsageError(fmt::format("{}: can't write {}", option, path));
}

void check_writable(const std::string& option, const std::string& path) {
  if (!path.empty() && !std::ofstream(path, std::ios::binary | std::ios::app))
    throw UsageError(fmt::format("{}: can't write {}", option, path));
}

bool any_matches(const std::vector<std::string>& globs, const std::string& name) {
  return globs.empty() ||
         std::any_of(globs.begin(), globs.end(), [&](const auto& glob) { return glob_match(glob, name); });
}

SelftestInput make_input(const SelftestArguments& a, const Paths& paths, const ContractBook& contracts) {
  const auto tier = tier_from_name(a.tier);
  if (!tier) throw UsageError(fmt::format("--tier: '{}' is unknown{}", a.tier, suggestion(a.tier, tier_names())));
  const auto files = a.what.empty() ? std::vector{paths.home + "/cases/selftest.yaml"} : a.what;
  SelftestInput input;
  for (const ListedCase& listed : read_matrix(files, contracts, {.tier = *tier, .seed = 1, .only_backend = ""}).cases)
    if (any_matches(a.backend, listed.c.backend)) input.tasks.push_back({listed.c, &contracts.find(listed.c.backend)});
  if (input.tasks.empty()) throw UsageError("no case matches: look at --backend and --tier");
  std::stable_sort(input.tasks.begin(), input.tasks.end(),
                   [](const auto& x, const auto& y) { return x.c.backend < y.c.backend; });
  for (Fault& fault : read_catalogue(a.catalogue.empty() ? paths.home + "/cases/faults" : a.catalogue))
    if (any_matches(a.faults, fault.name)) input.faults.push_back(std::move(fault));
  if (input.faults.empty()) throw UsageError(fmt::format("--faults: no fault matches {}", fmt::join(a.faults, " ")));
  return input;
}

int run(const SelftestArguments& a, const Paths& paths) {
  for (const auto& [option, path] : {std::pair{"--json", &a.json}, {"--html", &a.html}, {"--markdown", &a.markdown}})
    check_writable(option, *path);
  const ContractBook contracts = ContractBook::read(paths.contracts, paths.deps);
  const SelftestInput input = make_input(a, paths, contracts);
  SelftestOptions options;
  options.host = {.in_process = false,
                  .guards = GuardMode::Bands,
                  .limits = {},
                  .program = paths.executable,
                  .backends = paths.backends};
  options.jobs = a.jobs > 0 ? a.jobs : static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  options.compare_rules = a.compare_rules;
  options.sensitivity = !a.no_sensitivity;
  const bool terminal = isatty(STDERR_FILENO);
  const auto begin = std::chrono::steady_clock::now();
  KillTable table = run_selftest(input, options, [&](const HealthyCase&, std::size_t done, std::size_t of) {
    if (terminal) fmt::print(stderr, "\r{}/{}{}", done, of, done == of ? "\n" : "");
  });
  table.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  table.command = paths.program + " " + paths.arguments;
  table.version = ATTEST_VERSION;
  table.whole = a.what.empty() && a.catalogue.empty() && a.backend.empty() && a.faults.empty();
  write("--json", a.json, kill_table_json(table));
  write("--html", a.html, kill_table_html(table));
  write("--markdown", a.markdown, kill_table_markdown(table));
  fmt::print("{}", kill_table_text(table));
  return summarize(table).problems.empty() ? kConforms : kFails;
}

}  // namespace

void add_selftest(CLI::App& app, Action& chosen) {
  auto a = std::make_shared<SelftestArguments>();
  CLI::App* command = app.add_subcommand("selftest", "Seed faults and tell which of them the harness sees");
  command->add_option("what", a->what, "Matrix files (default: cases/selftest.yaml)");
  command->add_option("--backend", a->backend, "Only these backends; globs")->delimiter(',');
  command->add_option("--faults", a->faults, "Only these faults; globs")->delimiter(',');
  command->add_option("--catalogue", a->catalogue,
                      "Folder of model.yaml, delivery.yaml, output.yaml (default: cases/faults)");
  command->add_option("--tier", a->tier, "Blocks up to this tier: smoke, ci, nightly, full")->capture_default_str();
  command->add_option("--jobs,-j", a->jobs, "Kernel processes at once (default: one a core)");
  command->add_flag("--compare-rules", a->compare_rules, "Judge by the rules of other suites too");
  command->add_flag("--no-sensitivity", a->no_sensitivity, "Leave out the search for the smallest faults seen");
  command->add_option("--json", a->json, "Write the kill table as JSON")->type_name("FILE");
  command->add_option("--html", a->html, "Write it as HTML")->type_name("FILE");
  command->add_option("--markdown", a->markdown, "Write it as Markdown")->type_name("FILE");
  command->callback([a, &chosen] { chosen = [a](const Paths& paths) { return run(*a, paths); }; });
}

}  // namespace attest
