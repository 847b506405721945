// The smallest case that still fails: delta debugging over the values of a case. Greedy, to a fixpoint: lengths and
// sequences first, because they cost most, then heads (ratio kept, then reduced), dims, options back to their defaults,
// and last the keys whose V is not zero. What "still fails" means is the caller's: same_failure() of two verdicts, or
// more. Each step takes the smallest value that still fails, tried from the small end, where a try costs least.
#pragma once

#include "harness/core/case.h"
#include "harness/record/verdict.h"

#include <chrono>
#include <functional>
#include <string>
#include <vector>

namespace attest {

using StillFails = std::function<bool(const Case&)>;

struct ShrinkStep {
  std::string what;  // "8 sequences -> 1"
  Case c;            // after it
};

struct ShrinkOptions {
  std::chrono::milliseconds budget{30'000};
  std::function<void(const ShrinkStep&)> on_step;  // may be empty
};

struct Shrunk {
  std::vector<ShrinkStep> steps;  // that were kept, in order; the last one is the smallest
  int tried = 0;                  // candidates that were run
  bool out_of_time = false;       // stopped by the budget: a smaller one may exist
};

Shrunk shrink(const Case& failing, const StillFails& still_fails, const ShrinkOptions& options);

// Same outcome, and same kind of failure where there is one.
bool same_failure(const Verdict& a, const Verdict& b);

}  // namespace attest
