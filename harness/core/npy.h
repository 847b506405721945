// NumPy's .npy files (format 1.0), little-endian, C order. Formats that NumPy lacks (bf16, the FP8 family) travel as
// raw bytes under the descriptors that ml_dtypes uses: V2 and V1; unsigned integers of that width read back as well.
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
