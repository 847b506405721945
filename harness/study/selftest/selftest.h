// The self-test: every fault of the catalogue on every case of a suite that is in its scope, judged by every rule. What
// comes out is a kill table (harness/record/kill_table.h); whether it is good enough is worked out there.
#pragma once

#include "harness/core/fault.h"
#include "harness/record/kill_table.h"
#include "harness/run/host.h"
#include "harness/study/selftest/rules.h"

#include <functional>
#include <vector>

namespace attest {

struct SelftestTask {
  Case c;
  const Contract* contract;
};

struct SelftestInput {
  std::vector<SelftestTask> tasks;
  std::vector<Fault> faults;
};

struct SelftestOptions {
  HostOptions host;
  Precision precision = Precision::F64;
  int jobs = 1;
  bool compare_rules = false;
  bool sensitivity = true;
  double shrink_bounds = 1;  // tests: bounds divided by this must raise false alarms
};

// `done` is told after each case, from one thread at a time.
using OnSelftestCase = std::function<void(const HealthyCase&, std::size_t done, std::size_t of)>;

KillTable run_selftest(const SelftestInput& input, const SelftestOptions& options, const OnSelftestCase& on_case);

}  // namespace attest
