// The reference of rotary embedding: each pair (x1, x2) of the first rotary_dim dims turns by its position's angle,
//
//     (x1 c - x2 s, x2 c + x1 s),
//
// pairs being halves (neox) or neighbours (interleaved); the other dims pass unchanged. q and k each keep their dtype.
#pragma once

#include "harness/core/call.h"
#include "harness/core/contract.h"
#include "harness/core/expected.h"
#include "harness/core/problem.h"

namespace attest {

// Expected::out is q's result, Expected::k_out k's; the bound is three roundings of the declared format (cosine or
// sine, product, sum) and one of the output's, per element.
Expected rotate(const Problem& problem, const Call& call, const Arithmetic& arithmetic);

}  // namespace attest
