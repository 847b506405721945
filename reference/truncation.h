// Errors of accumulators that are not one rounding an addition: matrix instructions that align and truncate, and sums
// that are rounded to a narrow format from tile to tile. They depend on the running sums, so on the data and on the
// order.
//
// One instruction over products t_i and the sum so far D: all are truncated to 2^-F of 2^e, e the largest exponent, and
// the result to 2^-F' of its own (F' = min(F, 23)). With M = max(|D|, max |t_i|) >= 2^e and n terms:
//
//   worst     n 2^-F M + 2^-F' |D'|
//   bias      (2^-F M |sum of signs| + 2^-F' |D'|) / 2       truncation is toward zero: half a unit on average
//   variance  (n (2^-F M)^2 + (2^-F' D')^2) / 12
#pragma once

#include "harness/core/arithmetic.h"

#include <ATen/core/Tensor.h>

namespace attest {

struct SumErrors {  // f64 tensors of one shape
  at::Tensor worst, bias, variance;
};

// <q, k>: q f32 [b, r, dim], k f32 [b, n, dim] -> [b, r, n], before the scores' factor.
SumErrors product_errors(const Accumulator& accumulator, const at::Tensor& q, const at::Tensor& k);

// What a sum over keys needs. p f32 [b, r, n (+1)]: weights; up f32: by how much each may be larger; v f32 [b, n,
// width]: what they weigh. start f32 [b, r, 1]: the sum before the first key, undefined for 0.
struct ValueSum {
  const Arithmetic& arithmetic;
  int splits;
  at::Tensor p, up, v, start;
};

// sum_j p_j v_j -> [b, r, dim_v]. Tiles begin at multiples of arithmetic.tile, and each split has as many of them.
SumErrors value_errors(const ValueSum& sum);

// Does an accumulator, or the carry between tiles, need value_errors()?
bool depends_on_order(const Arithmetic& arithmetic);

}  // namespace attest
