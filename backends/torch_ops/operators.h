// Calls torch operators of a loaded library through the dispatcher, arguments by name from the schema.
#pragma once

#include "backends/abi.h"
#include "backends/torch_ops/binding.h"

#include <ATen/core/ivalue.h>

#include <map>
#include <string>

namespace attest::torch_ops {

// What arguments are made from.
struct Scope {
  const attest_problem* problem;
  const attest_slots* slots;
  std::map<std::string, c10::IValue> results;  // of calls with `as`
};

at::Tensor view_of(const attest_tensor& tensor);  // no copy
std::int32_t abi_dtype(at::ScalarType type);

// Throws c10::Error where the operator does; std::runtime_error when the operator does not exist, has an argument that
// the binding does not give and that has no default, or lacks one that it gives.
std::vector<c10::IValue> call(const OperatorCall& call, Scope& scope);

}  // namespace attest::torch_ops
