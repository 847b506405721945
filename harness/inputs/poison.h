// What lies where nothing should be read: unused slots and pages, gaps of strided tensors, outputs before the call.
#pragma once

#include "harness/core/case.h"
#include "harness/core/tensor.h"

#include <cstdint>

namespace attest {

// Fills the whole storage. Nan: quiet NaNs of either sign and, in between, Inf where the format has it (integers: the
// most negative value); Huge: the largest finite values of either sign; Zero: zero bytes.
void poison(const Tensor& storage, Poison kind);

}  // namespace attest
