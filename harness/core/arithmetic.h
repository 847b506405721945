// The arithmetic that a kernel declares: where and how it rounds between the stored bits and its output. The error
// bound (reference/bound.h) is a function of this and of the data. Exact things are said by zeros and by F64.
#pragma once

#include "harness/core/dtype.h"

#include <limits>
#include <optional>

namespace attest {

// How a dot product adds up. Rounding: each addition rounds to nearest in `dtype`, in any order. A matrix instruction
// (fraction > 0) takes `step` products at a time: they and the running sum are aligned to the largest of them by
// exponent, truncated to `fraction` bits behind it, added exactly, and the result is truncated to
// min(fraction, 23) fraction bits of binary32 (facts of MMA-Sim: Hopper FP8 13, BF16 25).
struct Accumulator {
  DType dtype = DType::F32;
  int fraction = 0;
  int step = 0;
  bool truncates() const { return fraction > 0; }
  bool operator==(const Accumulator&) const = default;
};

enum class TileOrder { Any, Ascending, Descending };  // of a row's tiles; what is declared sharpens the bound

struct Arithmetic {
  // scores s_j = scale * <q, k_j>
  std::optional<DType> q_cast, k_cast, v_cast;  // the kernel rounds the operand to this format before the product
  Accumulator qk_acc;
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
  Accumulator pv_acc;
  int tile = 0;  // keys between two rescales, 0: all keys in one
  TileOrder order = TileOrder::Any;
  bool promoted = false;          // each tile's PV starts at 0 and is added in binary32 (two-level accumulation)
  DType carry = DType::F32;       // m, l and o are rounded to this from tile to tile
  double rescale_threshold = 0;   // the maximum in use may lag behind the largest score by this many powers of two
  int final_roundings = 2;        // of pv_acc's format after the sum: division or reciprocal and product, v_scale
  std::optional<DType> unscaled;  // the output is rounded to this format before v_scale multiplies it
  std::optional<DType> partial;   // partial outputs of splits are stored in this format; unset: no splits

  DType rope = DType::F32;  // format that rope rounds cosines, sines, products and sums to

  bool operator==(const Arithmetic&) const = default;
};

// How new K and V become cache bytes.
struct WriteArithmetic {
  Overflow overflow = Overflow::Saturate;
  bool by_reciprocal = false;  // multiplies by the reciprocal of the scale, rounded, instead of dividing
  DType compute = DType::F32;  // the scaled value is rounded to this before the cast
};

}  // namespace attest
