// The a-priori error bound, per output element: how far a kernel with the declared arithmetic can be from the exact
// result, computed from the data (derived in docs/bound.md). DET: worst case; exceeding it proves that the declared
// arithmetic is not what ran.
//
// Notation, for one (sequence, query head, row): s_j = scale <q, k_j>, A_j = scale sum_i |q_i k_ji|, c_j the capped
// score, m their maximum, p = softmax(c), l = sum exp(c_j - m), o = sum p_j v_j; u_X and eta_X the unit roundoff and
// half the smallest subnormal of format X, (k) = (1 + u)^k - 1; n keys that the row sees, R rescales between their
// tiles. A sink is one more key with v = 0.
//
//   score      e_j = sech^2(s_j/cap) [casts of q and K + (dim + products) A_j] + cap eps_tanh + (r [+ 2 with a cap])
//   |c_j|
//              d_j = e_j + 2 u_sum (|c_j| + |m|) + (1 + R) eps_exp
//   a cast     E(x) = min(x, max(u x, eta)); of P: x = p_j, eta = eta_p / (2^offset l)
//   weights    grown_j = p_j (e^d_j - 1), lost_j = p_j (1 - e^-d_j), or p_j where exp may be 0; both and E(p_j) when
//   the
//              row sum adds rounded P
//   T_s        sum max(grown_j, lost_j) |v_j - o| / (1 - sum lost)
//   T_n        sum [(n + products + R) p_j + E(p_j) unless in T_s] |v_j| e^d_j / (1 - sum lost), and V's cast, partials
//   output     T_s + T_n, (n + R) of the row sum on |o|, (final) roundings, v_scale, the output's cast
//   LSE        max(log(1 + sum grown), -log(1 - sum lost)) + (n + R) + 4 u_sum (|m| + log l) + eps_exp + u_f32 |lse|
//
// Bound terms are computed in binary32 and inflated by 1 + 2^-10.
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
  int dim, len_kv;
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
};

struct SoftmaxBlock {
  at::Tensor p;      // [b, r, n (+1 with a sink)]
  at::Tensor sum;    // [b, r, 1]: l
  at::Tensor max;    // [b, r, 1]: m
  at::Tensor lse;    // f64 [b, r, 1], finite
  at::Tensor error;  // f32 [b, r, n (+1)]: d_j, 0 where hidden
  at::Tensor seen;   // f64 [1, r, 1]
};

// How much more and how much less than p_j a key may weigh, before the weights are divided by their sum. f32.
struct Weights {
  at::Tensor grown, lost;  // [b, r, n (+1)]
  at::Tensor kept;         // [b, r, 1]: 1 - sum lost, 0 where so little is sure that there is no bound
};

at::Tensor score_errors(const BoundModel& model, const ScoreBlock& block);
at::Tensor sink_errors(const BoundModel& model, const at::Tensor& sink, const at::Tensor& max, const at::Tensor& seen);
Weights weigh(const BoundModel& model, const SoftmaxBlock& block);

// f64 [b, r, dim_v]: the bound of o in units before v_scale; `values` [b, n (+1), dim_v] finite, `out` [b, r, dim_v].
at::Tensor output_bound(const BoundModel& model, const SoftmaxBlock& block, const Weights& weights,
                        const at::Tensor& values, const at::Tensor& out);

// f64 [b, r, 1]
at::Tensor lse_bound(const BoundModel& model, const SoftmaxBlock& block, const Weights& weights);

// Adds the output's own rounding: f64 [b, r, dim_v]; both arguments in units of the output.
at::Tensor rounded_bound(const BoundModel& model, const at::Tensor& bound, const at::Tensor& scaled_out);

// The bound where each row's softmax is exactly one key, all values are small integers, and the scores at most
// `loudest`: only the output's rounding is left, and nothing at all where the value is representable.
at::Tensor one_hot_bound(const BoundModel& model, const at::Tensor& scaled_out, double largest_value, double loudest);

}  // namespace attest
