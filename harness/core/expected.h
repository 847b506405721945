// What the reference says about one call: the right output and LSE in binary64, and for each element how far a kernel
// of the declared arithmetic may be from it. A bound of +inf is a value that nothing is promised about.
#pragma once

#include <cstddef>
#include <vector>

namespace attest {

// bound: worst case under the declared arithmetic (DET). likely: what independent roundings stay within, at six
// standard deviations (PRB), never above bound; empty: no sharper than bound.
struct ExpectedTensor {  // [rows, heads, dim], dense
  int rows = 0, heads = 0, dim = 0;
  std::vector<double> value, bound, likely;

  ExpectedTensor() = default;
  ExpectedTensor(int r, int h, int d)
      : rows(r),
        heads(h),
        dim(d),
        value(static_cast<std::size_t>(r) * static_cast<std::size_t>(h) * static_cast<std::size_t>(d)),
        bound(value.size()) {}
  std::size_t index(int row, int head, int d) const {
    return (static_cast<std::size_t>(row) * static_cast<std::size_t>(heads) + static_cast<std::size_t>(head)) *
               static_cast<std::size_t>(dim) +
           static_cast<std::size_t>(d);
  }
};

struct Expected {
  ExpectedTensor out;    // rope: of q
  ExpectedTensor lse;    // dim 1
  ExpectedTensor k_out;  // rope only
};

}  // namespace attest
