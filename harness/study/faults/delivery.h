// Faults of delivery: what a kernel is given is wrong (its page table, lengths, scales, sinks, rows, the cache's
// bytes), while the reference keeps what is right. They test that the harness would see its own plumbing fail, and
// stand for serving stacks that hand a right kernel wrong metadata (facts: serving-stacks.md 8, S, G and I).
#pragma once

#include "harness/core/call.h"
#include "harness/core/fault.h"
#include "harness/core/problem.h"

namespace attest {

// Changes `given`, a copy of the case's call. Where the case has nothing that the fault could change (one sequence, one
// page) it stays as it is. Throws UsageError for an unknown fault.
void tamper(const Fault& fault, const Case& c, const Problem& problem, Call& given);

std::vector<std::string> delivery_faults();

}  // namespace attest
