// The FP32 reference of attention: softmax(scale q k^T + mask) v over the STORED bits, ragged and paged, computed in
// binary64 by LibTorch, with the error bound of each output element beside it (bound.h).
//
// K and V are what lies in the cache, dequantised exactly; q is what the contract says the kernel is given. So the
// error of quantising the cache is no part of the kernel's budget, and casts inside the kernel are. Causal is
// bottom-right. A sink is one more key with V = 0. LSE is in natural log, -inf for a row without keys.
#pragma once

#include "harness/core/call.h"
#include "harness/core/contract.h"
#include "harness/core/expected.h"
#include "harness/core/problem.h"

namespace attest {

enum class Precision { F64, F32 };  // of QK and PV inside the reference

// Precision::F32 computes QK and PV in binary32, for large sweeps; what it adds stays within the bound's own f32 terms.
// Without `likely` the second tier of the bound is left at the first.
struct ReferenceOptions {
  Precision precision = Precision::F64;
  bool likely = true;
};

Expected attend(const Problem& problem, const Call& call, const Arithmetic& arithmetic, const CallRules& rules,
                const ReferenceOptions& options = {});

// The same call with every visible key weighing alike: [row, query head, dim_v], bounds left at 0. A trivial output
// that each case must be able to reject.
ExpectedTensor uniform_attention(const Problem& problem, const Call& call, const CallRules& rules);

}  // namespace attest
