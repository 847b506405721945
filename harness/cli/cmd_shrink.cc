#include "harness/cli/commands.h"
#include "harness/cli/explain.h"
#include "harness/cli/one_case.h"
#include "harness/core/error.h"
#include "harness/run/run_case.h"
#include "harness/study/shrink.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

namespace attest {
namespace {

struct Options {
  OneCaseOptions one{.timeout_case = 5};
  double seconds = 30;
  bool verbose = false;
};

// What a case that hangs may take once it is known to hang: every try costs as much.
constexpr std::chrono::milliseconds kHangLimit{1000};

// The search is what the time is for; a diagnosis that is not certain by then guards nothing.
constexpr std::chrono::milliseconds kDiagnosis{3000};

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
  bool fails_alike(const Case& c, Verdict& verdict) const {
    verdict = run(c);
    return same_failure(verdict, first_);
  }

  // As far as a diagnosis can tell; true where the first was not certain.
  bool looks_alike(const Case& c, const Verdict& verdict) {
    if (names_.empty()) return true;
    const Diagnosis diagnosis = explain(c, verdict);
    return !diagnosis.suspects.empty() && std::ranges::find_first_of(diagnosis.suspects.front().names, names_) !=
                                              diagnosis.suspects.front().names.end();
  }

 private:
  Diagnosis explain(const Case& c, const Verdict& failed) {
    Host host(contract_, options_);
    return explainer_.explain(c, failed, host, kDiagnosis);
  }

  const Contract& contract_;
  const HostOptions& options_;
  Explainer explainer_;
  Verdict first_;
  std::vector<std::string> names_;  // of the fault, empty where it is not certain
};

struct Confirmed {
  Case c;
  Verdict verdict;
  bool looks_alike;
};

// The smallest step whose case fails alike and looks like the same fault; where none does, the smallest that fails
// alike; the failing case itself where not even that is so.
Confirmed confirmed(const Case& failing, const Shrunk& shrunk, Judge& judge) {
  std::optional<Confirmed> smallest;
  for (auto step = shrunk.steps.rbegin(); step != shrunk.steps.rend(); ++step) {
    Confirmed now{.c = step->c, .verdict = {}, .looks_alike = false};
    if (!judge.fails_alike(now.c, now.verdict)) continue;
    now.looks_alike = judge.looks_alike(now.c, now.verdict);
    if (now.looks_alike) return now;
    if (!smallest) smallest = std::move(now);
  }
  if (smallest) return *smallest;
  return {.c = failing, .verdict = judge.run(failing), .looks_alike = true};
}

int run_shrink(const Options& o, const Paths& paths) {
  if (!(o.seconds > 0)) throw UsageError(fmt::format("--seconds: {} is no positive number", o.seconds));
  const Selection selection = select_one(o.one, paths);
  const auto begin = std::chrono::steady_clock::now();
  const Case failing = selection.cases.front().c;
  const Contract& contract = selection.contracts.find(failing.backend);
  const HostOptions options = host_options(o.one, paths);
  Judge judge(selection, paths, contract, options);
  const Verdict first = judge.run(failing);
  fmt::print("{}  {}\n", summary(first), first.token);
  want_failure(first);
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
  const auto [smallest, verdict, looks_alike] = confirmed(failing, shrunk, judge);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  fmt::print("{} steps of {} tries in {:.1f} s{}\n", shrunk.steps.size(), shrunk.tried, seconds.count(),
             shrunk.out_of_time ? "; out of time, a smaller case may exist (--seconds)" : "");
  fmt::print("{}  {}\n", summary(verdict), verdict.message);
  if (!looks_alike)
    fmt::print("it fails in the same way, but diagnose takes it for another fault than the large case\n");
  fmt::print("{}\n", token(smallest));
  return kConforms;
}

}  // namespace

void add_shrink(CLI::App& app, Action& chosen) {
  auto o = std::make_shared<Options>();
  CLI::App* command =
      app.add_subcommand("shrink", "The smallest case that fails like a given one; its token is the last line");
  add_one_case(*command, o->one);
  command->add_option("--seconds", o->seconds, "Time to search in")->capture_default_str();
  command->add_flag("--verbose,-v", o->verbose, "A line for each step that was kept");
  command->callback([o, &chosen] { chosen = [o](const Paths& paths) { return run_shrink(*o, paths); }; });
}

}  // namespace attest
