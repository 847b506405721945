// What a case needs before it can be judged: its numbers and tensors, what is right, and a kernel that has run on them.
// The steps of run_case() that the studies repeat under other faults and inputs.
#pragma once

#include "harness/run/checks.h"
#include "harness/run/host.h"
#include "reference/attention.h"

namespace attest {

struct Prepared {
  Problem problem;
  Call call;
};

// The host must be open: a layout may be the plug-in's own. Throws UsageError where the case can't be made.
Prepared prepare(const Case& c, Host& host);

Outcomes right_outcomes(const Case& c, const Contract& contract, const Problem& problem, const Call& call,
                        Precision precision);

// Stages the call, plans and launches once; with plan=reused the plan is made, and launched once, with other lengths.
Reply plan_and_launch(const Case& c, const Problem& problem, const Call& call, Host& host, std::size_t workspace);

}  // namespace attest
