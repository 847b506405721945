// Seeding a fault: a case is made ready once, with what is right and what the healthy kernel leaves, and is then run
// again under one fault after another. A fault of the model is asked of the plug-in by name, one of delivery changes a
// copy of what it is given, one of output changes what the healthy kernel left.
#pragma once

#include "harness/core/fault.h"
#include "harness/run/prepare.h"

#include <optional>
#include <vector>

namespace attest {

// What one launch left behind.
struct Outputs {
  Reply reply;                     // nothing else is set unless it is ok
  std::vector<Tensor> storages;    // by storage of the call: outputs and caches; the others are empty
  std::optional<Failure> conduct;  // another kernel, shape or dtype; a guard, an input or a cache byte that changed
};

TensorView view(const Outputs& outputs, const Call& call, Slot slot);

// Do the two differ in any bit of an output or a cache? Launches that did not come back differ from those that did.
bool same_bits(const Outputs& a, const Outputs& b);

struct Subject {
  Case c;  // without a fault
  const Contract* contract = nullptr;
  Prepared prepared;
  Outcomes right;
  std::size_t workspace = 0;
  Outputs healthy;
};

// The case's inputs; nothing is known to be right yet, nothing was launched. nullopt where the contract or the plug-in
// declines the case, or must reject it. Throws InfraError where the plug-in does not open.
std::optional<Subject> set_up(const Case& c, Host& host);

// That with what is right, and what the kernel leaves without a fault.
std::optional<Subject> make_subject(const Case& c, Host& host, Precision precision = Precision::F64);

// The call as given (the subject's own, or one that was tampered with) on the kernel, with that fault by name ("":
// none).
Outputs launch(const Subject& subject, const Call& given, const std::string& fault, Host& host);

// What the kernel leaves under a fault whose conditions hold for the subject. Throws UsageError for a fault of delivery
// or output that the harness does not know.
Outputs commit(const Fault& fault, const Subject& subject, Host& host);

Call copy(const Call& call);
Outputs copy(const Outputs& outputs);

}  // namespace attest
