// sum_j w_j |v_j - o|: what errors of the weights can change in an output. No product of matrices gives it, and it is
// the reference's most frequent operation, so it is written for vector registers.
#pragma once

#include <ATen/core/Tensor.h>

namespace attest {

// f64 [b, r, dim_v] from `weights` f32 [b, r, n], none negative, `values` [b, n, dim_v] and `out` [b, r, dim_v]. A key
// that carries nearly all the weight has v_j - o nearly 0: differences and sums of up to 256 keys are taken in
// binary32, and what that may have lost is added. The same bits on every machine.
at::Tensor deviation(const at::Tensor& weights, const at::Tensor& values, const at::Tensor& out);

}  // namespace attest
