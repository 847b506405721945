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
  std::optional<Call> before;  // plan=reused: the launch that the plan is made for, with other lengths
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

struct LaunchInput {
  const Problem& problem;
  const std::optional<Call>& before;
  const Call& call;
  std::string kernel;  // that the contract expects to run, empty for any
  std::size_t workspace = 0;
};

// Stages the call, plans and launches once; with `before` the plan is made, and launched once, for that.
Launch plan_and_launch(const LaunchInput& input, Host& host);

}  // namespace attest
