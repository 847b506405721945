// The smallest faults that a case still sees: how sensitive the judging is, beyond whether it sees the catalogue's.
#pragma once

#include "harness/record/kill_table.h"
#include "harness/study/seed.h"

namespace attest {

// Fills `gain`: the smallest e, to 10 %, for which the output times (1 + e) is refused; and `keys`: the fewest keys of
// the longest sequence whose V is negated, spread evenly over it, that are seen (powers of two and all). Left empty
// where even e = 1, or all keys, pass.
void measure_sensitivity(const Subject& subject, Host& host, HealthyCase& healthy);

}  // namespace attest
