#include "harness/cli/commands.h"
#include "harness/cli/explain.h"
#include "harness/cli/one_case.h"
#include "harness/run/run_case.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>

namespace attest {
namespace {

struct Options {
  OneCaseOptions one;
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
  const Selection selection = select_one(o.one, paths);
  const Case c = selection.cases.front().c;
  const HostOptions options = host_options(o.one, paths);
  Host host(selection.contracts.find(c.backend), options);
  const Verdict verdict = run_case(c, host, {});
  fmt::print("{}  {}\n{}\n", summary(verdict), verdict.token, verdict.message);
  want_failure(verdict);
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
  add_one_case(*command, o->one);
  command->add_flag("--verbose,-v", o->verbose, "The ranking of the faults");
  command->callback([o, &chosen] { chosen = [o](const Paths& paths) { return run_diagnose(*o, paths); }; });
}

}  // namespace attest
