// The failing case that a command is given: a token, of a backend or of a plug-in. Shared by diagnose and shrink.
#pragma once

#include "harness/cli/selection.h"
#include "harness/record/verdict.h"
#include "harness/run/host.h"

namespace attest {

struct OneCaseOptions {
  std::string token, plugin, contract;
  double timeout_case = 60;
};

void add_one_case(CLI::App& app, OneCaseOptions& options);

// Throws UsageError: no token of one case, no such backend, no positive time.
Selection select_one(const OneCaseOptions& options, const Paths& paths);

HostOptions host_options(const OneCaseOptions& options, const Paths& paths);

// Throws UsageError where the verdict is no failure of the kernel's.
void want_failure(const Verdict& verdict);

}  // namespace attest
