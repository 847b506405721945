// Every place where rounding to a narrow format can go wrong, as binary32 values with the code that is right.
#pragma once

#include "harness/core/dtype.h"

#include <cmath>
#include <limits>
#include <vector>

namespace attest::test {

struct Boundary {
  float value;
  std::uint64_t code;  // of the positive value; its negation has the sign bit set
};

inline const std::vector<DType>& narrow_formats() {
  static const std::vector<DType> all{DType::F16,  DType::BF16,     DType::E4M3FN,
                                      DType::E5M2, DType::E4M3FNUZ, DType::E5M2FNUZ};
  return all;
}

// For each pair of neighbouring finite values: both, their midpoint, and the floats next to the midpoint.
// The midpoint goes to the even code. Derived from decode() and the definition of rounding alone.
inline std::vector<Boundary> boundaries(DType dtype) {
  std::vector<Boundary> all;
  const std::uint64_t last = format(dtype).max_finite;
  for (std::uint64_t code = 0; code < last; ++code) {
    const double low = decode(dtype, code), high = decode(dtype, code + 1);
    const float middle = static_cast<float>((low + high) / 2);
    all.push_back({static_cast<float>(low), code});
    all.push_back({std::nextafter(middle, -1.0F), code});
    all.push_back({middle, code % 2 == 0 ? code : code + 1});
    all.push_back({std::nextafter(middle, std::numeric_limits<float>::infinity()), code + 1});
  }
  all.push_back({static_cast<float>(decode(dtype, last)), last});
  return all;
}

}  // namespace attest::test
