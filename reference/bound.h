// The a-priori error bound, per output element: how far a kernel with the declared arithmetic can be from the exact
// result, computed from the data; derived, with its notation, in docs/bound.md. Two tiers: DET, the worst case, which a
// kernel of the declared arithmetic can't exceed; PRB, six standard deviations of roundings that are independent, never
// above DET. Bound terms are computed in binary32 and inflated by 1 + 2^-10.
#pragma once

#include "harness/core/arithmetic.h"
#include "harness/core/problem.h"

#include <ATen/core/Tensor.h>

namespace attest {

// What the model needs beside the arithmetic. A scale that is no power of two may be multiplied in before a cast, which
// is then never exact.
struct BoundModel {
  const Arithmetic& arithmetic;
  DType q, cache, out;  // cache: as K and V enter the kernel
  bool q_scaled, k_scaled, v_scaled;
  int dim, len_kv, splits;
  double softcap;
  bool sink;
};

// One block of rows against all keys of a sequence. b: KV heads, r: rows (with the query heads of the group), n: keys.
struct ScoreBlock {
  at::Tensor scores;          // f64 or f32 [b, r, n]: s_j
  at::Tensor capped;          // [b, r, n]: c_j, -inf where hidden
  at::Tensor max;             // [b, r, 1]: m
  at::Tensor magnitude;       // f32 [b, r, n]: A_j
  at::Tensor q_size, k_size;  // f32 [b, r, 1], [b, 1, n]: sums of |q_i|, |k_ji|
  at::Tensor factor;          // f32 [b, 1, 1]: |scale|
  at::Tensor seen;            // f64 [1, r, 1]: n, without the sink
  at::Tensor q, k;            // f32 [b, r, dim], [b, n, dim]: for accumulators that truncate
};

// How far each score may be off: d_j, f32 [b, r, n]. worst: always. usual and sigma: at six standard deviations it is
// usual + 6 sigma; undefined where no more is known than the worst.
struct ScoreErrors {
  at::Tensor worst, usual, sigma;
};

struct SoftmaxBlock {
  at::Tensor p;       // [b, r, n (+1 with a sink)]
  at::Tensor sum;     // [b, r, 1]: l
  at::Tensor max;     // [b, r, 1]: m
  at::Tensor lse;     // f64 [b, r, 1], finite
  ScoreErrors error;  // [b, r, n (+1)], 0 where hidden
  at::Tensor seen;    // f64 [1, r, 1]
};

// How much more and how much less than p_j a key may weigh, before the weights are divided by their sum. f32.
struct Weights {
  at::Tensor grown, lost;  // [b, r, n (+1)]
  at::Tensor kept;         // [b, r, 1]: 1 - sum lost, 0 where so little is sure that there is no bound
};

ScoreErrors score_errors(const BoundModel& model, const ScoreBlock& block);
at::Tensor sink_errors(const BoundModel& model, const at::Tensor& sink, const at::Tensor& max, const at::Tensor& seen);
Weights weigh(const BoundModel& model, const SoftmaxBlock& block);

// Two tiers of one bound (docs/bound.md): worst case, and six standard deviations; `likely` undefined: no sharper.
struct Tiers {
  at::Tensor worst, likely;
};

// f64 [b, r, dim_v]: the bound of o in units before v_scale; `values` [b, n (+1), dim_v] finite, `out` [b, r, dim_v].
Tiers output_bound(const BoundModel& model, const SoftmaxBlock& block, const Weights& weights, const at::Tensor& values,
                   const at::Tensor& out, bool likely);

// f64 [b, r, 1]
Tiers lse_bound(const BoundModel& model, const SoftmaxBlock& block, const Weights& weights, bool likely);

// Adds the output's own rounding: f64 [b, r, dim_v]; both arguments in units of the output.
at::Tensor rounded_bound(const BoundModel& model, const at::Tensor& bound, const at::Tensor& scaled_out);

// The bound where each row's softmax is exactly one key, all values are small integers, and the scores at most
// `loudest`: only the output's rounding is left, and nothing at all where the value is representable.
at::Tensor one_hot_bound(const BoundModel& model, const at::Tensor& scaled_out, double largest_value, double loudest);

}  // namespace attest
