// The arithmetic that a kernel declares: where and how it rounds between the stored bits and its output. The error
// bound (reference/bound.h) is a function of this and of the data. Exact things are said by zeros and by F64.
#pragma once

#include "harness/core/dtype.h"

#include <limits>
#include <optional>

namespace attest {

struct Arithmetic {
  // scores s_j = scale * <q, k_j>
  std::optional<DType> q_cast, k_cast, v_cast;  // the kernel rounds the operand to this format before the product
  DType qk_acc = DType::F32;                    // accumulator of QK: one rounding an addition, any order
  int product_roundings = 0;   // of each product beyond its addition: no FMA, a scale multiplied into q
  int score_roundings = 3;     // roundings of qk_acc's format from the product to the exponent's argument
  std::optional<DType> score;  // scores are stored in this format before the softmax
  double tanh_abs = 0;         // absolute error of tanh in the soft cap

  // p_j = exp(s_j - m), l = sum p_j
  double exp_rel = 0;                                           // relative error of exp
  double exp_floor = -std::numeric_limits<double>::infinity();  // exp(x) may be 0 for x below this
  DType p = DType::F32;                                         // P as it enters PV
  int p_offset = 0;                                             // P is scaled by 2^p_offset when it is rounded
  bool row_sum_rounded = false;                                 // l sums the rounded P
  DType sum_acc = DType::F32;                                   // accumulator of l and of m

  // o = sum p_j v_j / l
  DType pv_acc = DType::F32;
  int tile = 0;                   // keys between two rescales, 0: all keys in one
  int final_roundings = 2;        // of pv_acc's format after the sum: division or reciprocal and product, v_scale
  std::optional<DType> unscaled;  // the output is rounded to this format before v_scale multiplies it
  std::optional<DType> partial;   // partial outputs of splits are stored in this format; unset: no splits

  DType rope = DType::F32;  // format that rope rounds cosines, sines, products and sums to
};

// How new K and V become cache bytes.
struct WriteArithmetic {
  Overflow overflow = Overflow::Saturate;
  bool by_reciprocal = false;  // multiplies by the reciprocal of the scale, rounded, instead of dividing
  DType compute = DType::F32;  // the scaled value is rounded to this before the cast
};

}  // namespace attest
