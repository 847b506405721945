// Captured tensors as inputs: in=file:DIR reads DIR/<slot>.npy over the generated tensors, for every input slot that
// has a file. `--save` writes such a folder.
#pragma once

#include "harness/core/call.h"

#include <string>

namespace attest {

// Throws UsageError: DIR unreadable or without any slot's file, a file of a slot that the call does not have, a file of
// another shape or width.
void read_inputs(Call& call, const std::string& directory);

}  // namespace attest
