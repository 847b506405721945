// A binding: which torch operators of a library make up a kernel's operations, and what each of their arguments is,
// by NAME. YAML (docs/contracts.md, "Operators in a library"):
//
//     operations:
//       attend:
//         plan:
//           - {call: "ns::plan", as: metadata, with: {seq_lens: len_kv, head_dim: {problem: dim}}}
//         launch:
//           - {call: "ns::attention", with: {query: q, metadata: {result: metadata}, scale: {problem: softmax_scale}}}
//
// An argument is a slot ("q", or "sinks?" when it may be absent), {problem: field}, {value: literal}, {dtype: slot},
// {number: slot, else: 1.0} (read on the host), {bytes: slot} (an FP8 tensor seen as uint8), or {result: name}.
#pragma once

#include "backends/abi.h"

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace attest::torch_ops {

struct Argument {
  enum class Kind { Slot, Bytes, Dtype, Number, Problem, Value, Result } kind;
  std::string text;  // field, literal, or name
  attest_slot slot = ATTEST_NUM_SLOTS;
  bool optional = false;  // an absent slot is None
  double otherwise = 0;   // Number: the value of an absent slot
};

struct OperatorCall {
  std::string op;                                           // "namespace::name" or with ".overload"
  std::string as;                                           // keeps the result under this name
  std::vector<attest_slot> returns;                         // slots that the results are copied to
  std::vector<std::pair<std::string, Argument>> arguments;  // by the schema's names
};

struct Operation {
  std::vector<OperatorCall> plan, launch;
};

struct Binding {
  std::string library, version, about, ran;
  std::vector<std::string> cpu;         // features that the library's code needs
  std::vector<OperatorCall> available;  // must all return true
  std::map<attest_op, Operation> operations;
};

using Options = std::map<std::string, std::string>;

// `${name}` in any text of the file stands for that option. Throws std::runtime_error "FILE:LINE: ...".
Binding read_binding(const std::string& path, const Options& options);

}  // namespace attest::torch_ops
