// Conditions on a case as YAML: {kv: "fp8_*", d: {not_multiple: 32}, group: {min: 3, max: 7}}.
#pragma once

#include "harness/core/contract.h"
#include "harness/matrix/yaml.h"

namespace attest {

enum class ConditionsOn { Case, CaseAndClaims };  // with claims: what the contract says of the case too (core/fault.h)

// Throws UsageError for an unknown key or value; `skip` names keys of the mapping that are no conditions.
When read_conditions(const YamlFile& file, const YAML::Node& mapping, const std::vector<std::string>& skip = {},
                     ConditionsOn on = ConditionsOn::Case);

}  // namespace attest
