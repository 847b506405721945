// Runs cases over `jobs` threads, each with one kernel process at a time, and records every verdict as it comes.
#pragma once

#include "harness/record/journal.h"
#include "harness/record/waiver.h"
#include "harness/run/run_case.h"

#include <atomic>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace attest {

struct SweepOptions {
  HostOptions host;
  CaseOptions cases;
  int jobs = 1;
  std::size_t max_failures = 0;  // stop after so many, 0: never
  std::string today;             // YYYY-MM-DD, for waivers
  std::string save;              // folder for tensors of failing cases, empty: none
  bool save_all = false;
};

struct SweepTask {
  Case c;
  const Contract* contract;
};

struct SweepInput {
  std::vector<SweepTask> tasks;  // in order; neighbours of one backend share a process
  std::vector<Waiver> waivers;
  std::map<std::string, std::string> versions;  // of backends that the journal already knows
};

using OnVerdict = std::function<void(const Verdict&)>;  // called under a lock, in order of completion

// Returns how many cases have no verdict because `stop` was set or max_failures reached. Throws what ends a run:
// UsageError, InfraError of the journal; verdicts until then are in the journal.
std::size_t sweep(const SweepInput& input, const SweepOptions& options, Journal& journal, const OnVerdict& on_verdict,
                  const std::atomic<bool>& stop);

}  // namespace attest
