// What `attest run TOKEN` prints beyond the verdict: the contract's arithmetic, the tensors, the ratio of each
// (sequence, head), the worst element.
#pragma once

#include "harness/run/run_case.h"

namespace attest {

void print_detail(const Case& c, const Contract& contract, const Verdict& verdict, const CaseTrace& trace);

}  // namespace attest
