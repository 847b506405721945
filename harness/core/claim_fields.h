// The fields that a contract may claim, by section: how each value is read, and what it means.
#pragma once

#include "harness/core/contract.h"

#include <span>

namespace attest {

template <typename Fields>
struct ClaimField {
  std::string_view name;
  std::string_view help;
  std::string_view unset;                                                  // the value where no contract claims one
  std::optional<std::string> (*parse)(Fields&, const std::string& value);  // nullopt, or what is wrong with the value
};

std::span<const ClaimField<Arithmetic>> arithmetic_fields();
std::span<const ClaimField<WriteArithmetic>> write_fields();
std::span<const ClaimField<CallRules>> call_rule_fields();

}  // namespace attest
