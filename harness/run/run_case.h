// The way of one case: contract, inputs, reference, kernel, checks, verdict. Everything that a kernel does wrong is a
// verdict; what throws is the harness or its user.
#pragma once

#include "harness/record/verdict.h"
#include "harness/run/checks.h"
#include "harness/run/host.h"
#include "reference/attention.h"

#include <optional>
#include <string>

namespace attest {

struct CaseOptions {
  Precision precision = Precision::F64;
  int repeat = 2;           // launches that must agree bit for bit, where the contract claims determinism
  bool second_look = true;  // a failure in a process that has served others is looked at again in a fresh one
};

// What a verdict leaves out: kept for `attest run TOKEN`, --save and the studies.
struct CaseTrace {
  std::optional<Problem> problem;
  std::optional<Call> call;
  Outcomes right;
  std::vector<Tensor> left;  // the outputs' storages as the first launch left them
};

// Fails in a process that has served other cases are looked at again in a fresh one, whose verdict counts: what a
// kernel left behind must not decide another case. A case that fails only after others is nondeterministic.
Verdict run_case(const Case& c, Host& host, const CaseOptions& options, CaseTrace* trace = nullptr);

}  // namespace attest
