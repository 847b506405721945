// What other suites measure a kernel by, beside the exact result: attention computed plainly in the kernel's own low
// precision (FlashAttention's "pt" reference), and the absolute magnitude sum_j p_j |v_j| (oneDNN's).
//
// The low-precision reference is attention_ref(upcast=False, reorder_ops=True) of flash-attention hopper/test_util.py,
// @0251105a, with T = bf16 for FP8 operands, else q's format; each line is one rounding to T:
//
//     K'  = round(K * softmax_scale * q_scale * k_scale)      V' = round(V * v_scale)
//     S   = round(q K'^T);  with a soft cap: S = round(cap * round(tanh(round(S / cap))))
//     P   = round(softmax(S));  FP8 q: P = round_e4m3(P), without an offset
//     O   = round(P V')
#pragma once

#include "harness/core/call.h"
#include "harness/core/problem.h"

#include <vector>

namespace attest {

struct LowPrecision {
  std::vector<double> out;     // [rows, heads_q, dim_v], 0 for rows without keys
  std::vector<double> absmag;  // as out
  double max_v = 0;            // largest |V'| that some row sees
};

LowPrecision low_precision(const Problem& problem, const Call& call, bool cast_to_q);

DType low_precision_dtype(const Problem& problem);  // T

}  // namespace attest
