// Faults of output: what the healthy kernel left is changed before it is judged. They test the comparison alone, and
// work for any backend.
#pragma once

#include "harness/study/seed.h"

#include <string>
#include <vector>

namespace attest {

// Changes `left`, a copy of the subject's healthy outputs. Where the case has nothing that the fault could change (one
// head, one row) it stays as it is. Throws UsageError for an unknown fault.
void deface(const Fault& fault, const Subject& subject, Outputs& left);

std::vector<std::string> output_faults();

// The output times 1 + e, rounded to its format: the fault whose size the sensitivity curve looks for.
void apply_gain(const Subject& subject, double e, Outputs& left);

}  // namespace attest
