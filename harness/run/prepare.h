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
  Reply layout;  // of the plug-in that was asked for a layout of its own; the call is empty unless it is ok
};

// The host must be open. Throws CaseError where the case can't be made.
Prepared prepare(const Case& c, Host& host);

Outcomes right_outcomes(const Case& c, const Contract& contract, const Problem& problem, const Call& call,
                        Precision precision);

struct Launch {
  Reply reply;
  // What was written that must not be: by the launch before this one (plan=reused), or by a call that was then refused.
  std::optional<Failure> damage;
};

// Stages the call, plans and launches once; with plan=reused the plan is made, and launched once, with other lengths.
Launch plan_and_launch(const Case& c, const Problem& problem, const Call& call, Host& host, std::size_t workspace);

}  // namespace attest
