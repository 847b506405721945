// Acceptance rules of other suites, each exactly as its project states it, as named comparators on the same outputs:
// which seeded faults would they have passed, and which healthy kernels would they have refused?
//
// All of them get the same reference (of the dequantised cache, in binary64), though some of the projects use a worse
// one: the rule alone is compared. Elements about which the contract promises nothing, and those that should be NaN or
// Inf, are left out; a NaN or Inf elsewhere fails every rule, as it does in those projects.
#pragma once

#include "harness/study/seed.h"
#include "harness/study/selftest/low_precision.h"

#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace attest {

struct Compared {
  const Problem& problem;
  std::vector<double> actual, right;  // the elements that count, side by side
  std::vector<double> low, absmag;    // of LowPrecision, as above
  double max_v = 0;
};

struct OtherRule {
  std::string_view name, formula, source;
  bool (*accepts)(const Compared& c);
};

std::span<const OtherRule> other_rules();

// What the rules need of a subject, made once; nullopt for operations that other suites do not judge so (writes).
std::optional<LowPrecision> prepare_rules(const Subject& subject);

// By rule: does it refuse what the kernel left?
std::vector<bool> refusals(const Subject& subject, const LowPrecision& low, const Outputs& left);

}  // namespace attest
