// A fault of the catalogue (cases/faults/*.yaml): one way in which a kernel, or what it is given, is wrong. The
// catalogue is data: a name, a sentence, and the conditions under which the fault can show. Conditions test a case's
// values and what the contract claims for that case, so which faults a kernel is asked to commit follows from its
// contract and no list.
#pragma once

#include "harness/core/contract.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace attest {

// Where a fault is committed: by the model, when it is asked by name; in what the kernel is given, while the reference
// keeps what is right; in a right output before it is judged.
enum class FaultTier { Model, Delivery, Output };
std::string_view name(FaultTier tier);

struct Fault {
  std::string name, says;
  FaultTier tier = FaultTier::Model;
  When when;
  // By backend (glob): why no test can see it through that contract.
  std::vector<std::pair<std::string, std::string>> unseen;
  std::string place;  // file:line

  std::optional<std::string> why_unseen(const std::string& backend) const;
};

// A claim's value in force for a case, or what it is where nothing is claimed; nullopt: no claim has that name. Case
// keys come first where both have a name (out, scales).
std::optional<std::string> claimed_value(const Contract& contract, const Case& c, std::string_view field);
std::vector<std::string> claim_names();  // of the sections arithmetic, write and rules
std::optional<std::string> claim_section(std::string_view field);
std::optional<std::string> claim_unset(std::string_view field);

// As holds(when, c), with conditions on claims.
bool holds(const When& when, const Case& c, const Contract& contract);

}  // namespace attest
