// NumPy's .npy files (format 1.0), little-endian, C order. Formats that NumPy lacks (bf16, the FP8 family) travel as
// raw bytes: V2 and V1. What ml_dtypes writes for them reads back as well (V2, V1, and f1 for fp8_e5m2), and so do
// unsigned integers of that width.
#pragma once

#include "harness/core/tensor.h"

#include <span>
#include <string>

namespace attest {

// Writes the elements of a view, packed. Throws UsageError when the file can't be written.
void write_npy(const std::string& path, const TensorView& view);

// Reads the file into the elements of a view. Throws UsageError when its shape or element width is another.
void read_npy(const std::string& path, const TensorView& view);

}  // namespace attest
