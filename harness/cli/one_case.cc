#include "harness/cli/one_case.h"

#include "harness/core/error.h"

#include <fmt/format.h>

#include <chrono>

namespace attest {

void add_one_case(CLI::App& app, OneCaseOptions& o) {
  app.add_option("token", o.token, "The failing case")->required();
  auto* plugin = app.add_option("--plugin", o.plugin, "A kernel plug-in (.so) in place of the token's backend");
  app.add_option("--contract", o.contract, "The plug-in's contract (default: the plug-in's name with .yaml)")
      ->needs(plugin);
  app.add_option("--timeout-case", o.timeout_case, "Seconds a kernel may take for a case")->capture_default_str();
}

Selection select_one(const OneCaseOptions& o, const Paths& paths) {
  if (!(o.timeout_case > 0)) throw UsageError(fmt::format("--timeout-case: {} is no positive number", o.timeout_case));
  Selection selection = select({.what = {o.token}, .plugin = o.plugin, .contract = o.contract}, paths);
  if (selection.cases.size() != 1 || selection.cases.front().block != "command line")
    throw UsageError(fmt::format("'{}' is no token of one case", o.token));
  return selection;
}

HostOptions host_options(const OneCaseOptions& o, const Paths& paths) {
  HostOptions options{.program = paths.executable, .backends = paths.backends};
  options.limits.answer = std::chrono::milliseconds(static_cast<long>(o.timeout_case * 1000));
  return options;
}

void want_failure(const Verdict& verdict) {
  if (!is_failure(verdict.outcome) || verdict.outcome == Outcome::Infra)
    throw UsageError(fmt::format("the case does not fail: {} {}", summary(verdict), verdict.message));
}

}  // namespace attest
