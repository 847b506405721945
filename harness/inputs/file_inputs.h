// Captured tensors as inputs: in=file:DIR reads DIR/<slot>.npy over the generated tensors, for every input slot that
// has a file. `--save` writes such a folder.
#pragma once

#include "harness/core/call.h"
#include "harness/core/problem.h"

#include <string>

namespace attest {

// Throws UsageError: DIR unreadable or without any slot's file, a file of a slot that the call does not have, a file of
// another shape or width, lengths that are not the token's, pages and slots outside of the pool.
void read_inputs(Call& call, const Problem& problem, const std::string& directory);

}  // namespace attest
