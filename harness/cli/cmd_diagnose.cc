#include "harness/cli/commands.h"
#include "harness/cli/explain.h"
#include "harness/core/error.h"
#include "harness/run/run_case.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>

namespace attest {
namespace {

struct Options {
  std::string token, plugin, contract;
  double timeout_case = 60;
  bool verbose = false;
};

constexpr std::size_t kListed = 12;

void print_ranking(const Diagnosis& d) {
  fmt::print("\n{} cases compared; shape and residual: 0 the same, 1 nothing in common\n", d.cases);
  for (std::size_t i = 0; i < std::min(d.suspects.size(), kListed); ++i) {
    const Suspect& s = d.suspects[i];
    fmt::print("  {:2}  shape {:.3f}  residual {:.3f}  ratio {:8.3g}  {}\n", i + 1, s.match.shape, s.match.residual,
               s.ratio, fmt::join(s.names, " = "));
  }
}

int run_diagnose(const Options& o, const Paths& paths) {
  if (!(o.timeout_case > 0)) throw UsageError(fmt::format("--timeout-case: {} is no positive number", o.timeout_case));
  const Selection selection = select({.what = {o.token}, .plugin = o.plugin, .contract = o.contract}, paths);
  if (selection.cases.size() != 1 || selection.cases.front().block != "command line")
    throw UsageError(fmt::format("diagnose: '{}' is no token of one case", o.token));
  const Case c = selection.cases.front().c;
  HostOptions options{.program = paths.executable, .backends = paths.backends};
  options.limits.answer = std::chrono::milliseconds(static_cast<long>(o.timeout_case * 1000));
  Host host(selection.contracts.find(c.backend), options);
  const Verdict verdict = run_case(c, host, {});
  fmt::print("{}  {}\n{}\n", summary(verdict), verdict.token, verdict.message);
  if (!is_failure(verdict.outcome) || verdict.outcome == Outcome::Infra)
    throw UsageError("diagnose: the case does not fail");
  const Diagnosis diagnosis = Explainer(selection.contracts, paths, options).explain(c, verdict, host);
  for (const auto& line : lines(diagnosis)) fmt::print("{}\n", line);
  if (o.verbose && !diagnosis.suspects.empty()) print_ranking(diagnosis);
  return kConforms;
}

}  // namespace

void add_diagnose(CLI::App& app, Action& chosen) {
  auto o = std::make_shared<Options>();
  CLI::App* command =
      app.add_subcommand("diagnose", "Which fault of the catalogue a failing case looks like, and where");
  command->add_option("token", o->token, "The failing case")->required();
  auto* plugin = command->add_option("--plugin", o->plugin, "A kernel plug-in (.so) in place of the token's backend");
  command->add_option("--contract", o->contract, "The plug-in's contract (default: the plug-in's name with .yaml)")
      ->needs(plugin);
  command->add_option("--timeout-case", o->timeout_case, "Seconds a kernel may take for a case")->capture_default_str();
  command->add_flag("--verbose,-v", o->verbose, "The ranking of the faults");
  command->callback([o, &chosen] { chosen = [o](const Paths& paths) { return run_diagnose(*o, paths); }; });
}

}  // namespace attest
