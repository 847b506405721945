// The tensors of a rope call: q, k, positions, the table of cosines and sines, and where the results go.
#pragma once

#include "harness/core/problem.h"
#include "harness/inputs/builder.h"

#include <cstdint>

namespace attest {

// Rotations are rational points of the circle, so that the table is the same bytes on every machine. Each of q_out and
// k_out has the dtype of what it was made from.
void make_rope_inputs(CallBuilder& builder, const Problem& problem, std::uint64_t seed);

}  // namespace attest
