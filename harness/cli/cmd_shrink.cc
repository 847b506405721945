#include "harness/cli/commands.h"
#include "harness/cli/explain.h"
#include "harness/cli/selection.h"
#include "harness/core/error.h"
#include "harness/run/run_case.h"
#include "harness/study/shrink.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

namespace attest {
namespace {

struct Options {
  std::string token, plugin, contract;
  double seconds = 30, timeout_case = 5;
  bool verbose = false;
};

// What a case that hangs may take once it is known to hang: every try costs as much.
constexpr std::chrono::milliseconds kHangLimit{1000};

HostOptions host_options(const Options& o, const Paths& paths) {
  HostOptions options{.program = paths.executable, .backends = paths.backends};
  options.limits.answer = std::chrono::milliseconds(static_cast<long>(o.timeout_case * 1000));
  return options;
}

// Runs a case in a worker of its own.
Verdict run_fresh(const Case& c, const Contract& contract, const HostOptions& options) {
  Host host(contract, options);
  return run_case(c, host, {});
}

// What a case fails by: its verdict, and the fault that it looks like where that is certain.
class Judge {
 public:
  Judge(const Selection& selection, const Paths& paths, const Contract& contract, const HostOptions& options)
      : contract_(contract), options_(options), explainer_(selection.contracts, paths, options) {}

  Verdict run(const Case& c) const { return run_fresh(c, contract_, options_); }

  void remember(const Case& c, const Verdict& failed) {
    first_ = failed;
    const Diagnosis diagnosis = explain(c, failed);
    if (diagnosis.certain()) names_ = diagnosis.suspects.front().names;
  }

  // In a process that has served no other case: what a kernel carries from case to case must not pass for a smaller
  // one.
  bool same(const Case& c, Verdict& verdict) {
    verdict = run(c);
    if (!same_failure(verdict, first_)) return false;
    if (names_.empty()) return true;
    const Diagnosis diagnosis = explain(c, verdict);
    return !diagnosis.suspects.empty() && std::ranges::find_first_of(diagnosis.suspects.front().names, names_) !=
                                              diagnosis.suspects.front().names.end();
  }

 private:
  Diagnosis explain(const Case& c, const Verdict& failed) {
    Host host(contract_, options_);
    return explainer_.explain(c, failed, host);
  }

  const Contract& contract_;
  const HostOptions& options_;
  Explainer explainer_;
  Verdict first_;
  std::vector<std::string> names_;  // of the fault, empty where it is not certain
};

// The smallest step whose case fails alike; the failing case itself where none does.
Case confirmed(const Case& failing, const Shrunk& shrunk, Judge& judge, Verdict& verdict) {
  for (auto step = shrunk.steps.rbegin(); step != shrunk.steps.rend(); ++step)
    if (judge.same(step->c, verdict)) return step->c;
  verdict = judge.run(failing);
  return failing;
}

int run_shrink(const Options& o, const Paths& paths) {
  if (!(o.seconds > 0)) throw UsageError(fmt::format("--seconds: {} is no positive number", o.seconds));
  if (!(o.timeout_case > 0)) throw UsageError(fmt::format("--timeout-case: {} is no positive number", o.timeout_case));
  const Selection selection = select({.what = {o.token}, .plugin = o.plugin, .contract = o.contract}, paths);
  if (selection.cases.size() != 1 || selection.cases.front().block != "command line")
    throw UsageError(fmt::format("shrink: '{}' is no token of one case", o.token));
  const auto begin = std::chrono::steady_clock::now();
  const Case failing = selection.cases.front().c;
  const Contract& contract = selection.contracts.find(failing.backend);
  const HostOptions options = host_options(o, paths);
  Judge judge(selection, paths, contract, options);
  const Verdict first = judge.run(failing);
  fmt::print("{}  {}\n", summary(first), first.token);
  if (!is_failure(first.outcome) || first.outcome == Outcome::Infra)
    throw UsageError(fmt::format("shrink: the case does not fail: {} {}", summary(first), first.message));

  judge.remember(failing, first);
  HostOptions quick = options;
  if (first.outcome == Outcome::Timeout) quick.limits.answer = std::min(options.limits.answer, kHangLimit);
  Host host(contract, quick);
  const auto still_fails = [&](const Case& c) {
    try {
      return same_failure(run_case(c, host, {.second_look = false}), first);
    } catch (const UsageError&) { return false; }  // no such problem can be made
  };
  const auto spent = std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - begin);
  const auto budget = std::chrono::milliseconds(static_cast<long>(o.seconds * 1000));
  const Shrunk shrunk = shrink(failing, still_fails, {.budget = budget - spent, .on_step = [&](const ShrinkStep& step) {
                                                        if (o.verbose) fmt::print("  {}\n", step.what);
                                                      }});
  Verdict verdict;
  const Case smallest = confirmed(failing, shrunk, judge, verdict);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  fmt::print("{} steps of {} tries in {:.1f} s{}\n", shrunk.steps.size(), shrunk.tried, seconds.count(),
             shrunk.out_of_time ? "; out of time, a smaller case may exist (--seconds)" : "");
  fmt::print("{}  {}\n", summary(verdict), verdict.message);
  fmt::print("{}\n", token(smallest));
  return kConforms;
}

}  // namespace

void add_shrink(CLI::App& app, Action& chosen) {
  auto o = std::make_shared<Options>();
  CLI::App* command =
      app.add_subcommand("shrink", "The smallest case that fails like a given one; its token is the last line");
  command->add_option("token", o->token, "The failing case")->required();
  auto* plugin = command->add_option("--plugin", o->plugin, "A kernel plug-in (.so) in place of the token's backend");
  command->add_option("--contract", o->contract, "The plug-in's contract (default: the plug-in's name with .yaml)")
      ->needs(plugin);
  command->add_option("--seconds", o->seconds, "Time to search in")->capture_default_str();
  command->add_option("--timeout-case", o->timeout_case, "Seconds a kernel may take for a case")->capture_default_str();
  command->add_flag("--verbose,-v", o->verbose, "A line for each step that was kept");
  command->callback([o, &chosen] { chosen = [o](const Paths& paths) { return run_shrink(*o, paths); }; });
}

}  // namespace attest
