// The a-priori error bound, per output element: how far a kernel with the declared arithmetic can be from the exact
// result, computed from the data (docs/design.md, "The bound"). DET: worst case; exceeding it proves that the
// declared arithmetic is not what ran.
//
// Notation, for one (sequence, query head, row): s_j = scale <q, k_j>, A_j = scale sum_i |q_i k_ji|, c_j the capped
// score, p = softmax(c), o = sum p_j v_j, u_X = 2^-precision of format X, n keys. A sink is one more key with v = 0.
//
//   score      d_j = sech^2(s_j/cap) [((dim + e) u_acc + u_q + u_k) A_j + r u_acc |s_j|] + cap eps_tanh
//                    + u_score |c_j| + 2 u_sum (|c_j| + |m|) + eps_exp
//   logits     T_s = sum p_j (e^d_j - 1) |v_j - o| / sum p_j e^-d_j
//                 <= sqrt(sum p_j (e^d_j - 1)^2) sqrt(sum p_j (v_j - o)^2) / sum p_j e^-d_j      (Cauchy-Schwarz)
//   P's cast   T_p = sum max(u_p p_j, eta_p / (2^offset l)) |v_j|; with |v_j - o| where the row sum adds rounded P
//   V's cast   u_v sum p_j |v_j|
//   sums       T_a = ((n + e) u_pv + tiles (u_pv + eps_exp) + splits) sum p_j |v_j| + (n u_sum + f u_pv + u_unscaled) |o|
//   underflow  T_f = sum over p_j below the exponential's floor of p_j (max |v| + |o|)
//   output     v_scale (T_s + g (T_p + T_a + T_f)), then u_out of all and of |o|, and eta_out
//   LSE        log(sum p_j e^d_j) + (4 u_sum + u_f32) |lse| + n u_sum
//
// where g = max e^d_j / sum p_j e^-d_j carries the score's error into the terms after it. Bound terms are computed in
// binary32 and inflated by 1 + 2^-10.
#pragma once

#include "harness/core/arithmetic.h"
#include "harness/core/problem.h"

#include <ATen/core/Tensor.h>

namespace attest {

// One block of rows against all keys of a sequence. b: KV heads, r: rows (with the query heads of the group), n: keys.
struct ScoreBlock {
  at::Tensor scores;    // f64 or f32 [b, r, n]: s_j
  at::Tensor magnitude; // f32 [b, r, n]: A_j
  at::Tensor capped;    // [b, r, n]: c_j, -inf where hidden
  at::Tensor max;       // [b, r, 1]
};

struct SoftmaxBlock {
  at::Tensor p;      // [b, r, n (+1 with a sink)]
  at::Tensor sum;    // [b, r, 1]: l relative to max
  at::Tensor error;  // f32 [b, r, n (+1)]: d_j, 0 where hidden
};

// What the model needs beside the arithmetic.
struct BoundModel {
  const Arithmetic& arithmetic;
  DType cache, q, out;
  int dim;
  double softcap;
  int keys;            // n

  double score_unit() const;  // u_acc
  double sum_unit() const;
  double operand_units() const;  // u_q + u_k
  double value_unit() const;     // u_v
};

at::Tensor score_errors(const BoundModel& model, const ScoreBlock& block);
at::Tensor sink_errors(const BoundModel& model, const at::Tensor& sink, const at::Tensor& max);

// f64 [b, r, dim_v]: the bound of o in units before v_scale; `values` [b, n (+1), dim_v] finite, `out` [b, r, dim_v].
at::Tensor output_bound(const BoundModel& model, const SoftmaxBlock& block, const at::Tensor& values, const at::Tensor& out, const at::Tensor& lse);

// f64 [b, r, 1]
at::Tensor lse_bound(const BoundModel& model, const SoftmaxBlock& block, const at::Tensor& lse);

// Adds v_scale and the output's own rounding: f64 [b, r, dim_v]; `scaled_out` = v_scale * o.
at::Tensor rounded_bound(const BoundModel& model, const at::Tensor& bound, const at::Tensor& scaled_out);

// The bound where each row's softmax is exactly one key: only the output's rounding is left, and nothing at all where
// the value is representable.
at::Tensor one_hot_bound(const BoundModel& model, const at::Tensor& scaled_out, double largest_value);

}  // namespace attest
