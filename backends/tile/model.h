// The arithmetic of a tiled online-softmax attention kernel, as parameters: where it rounds, in which format it adds,
// how it orders its tiles. The engine (engine.h) runs any of them; models.cc names those that stand for a family of
// kernels.
#pragma once

#include "harness/core/dtype.h"

#include <map>
#include <optional>
#include <string>

namespace attest::tile {

// A dot product adds one product after the other and rounds each sum to `dtype`; or, with fraction > 0, as a matrix
// instruction does: `step` products and the sum so far are aligned to the largest of them by exponent, truncated to
// `fraction` bits behind it, added exactly, and the result is truncated to min(fraction, 23) fraction bits.
struct Accumulator {
  DType dtype = DType::F32;
  int fraction = 0;
  int step = 0;
};

enum class Exp { Full, Cubic };         // within 1.5e-7, or a polynomial of degree 3: within 1e-4
enum class Tanh { Full, Approximate };  // within 3e-7, or 16 bits

struct Model {
  std::string name = "tile";
  std::optional<DType> q_cast, k_cast, v_cast;
  Accumulator qk, pv;
  std::optional<DType> score;
  Exp exp = Exp::Full;
  Tanh tanh = Tanh::Full;
  DType p = DType::F32;
  int p_offset = 0;
  bool row_sum_rounded = false;
  bool p_normalised = false;  // divided by the row sum of the tiles so far before it is rounded: no kernel should
  int tile = 128;
  bool descending = false;
  bool promoted = false;
  DType carry = DType::F32;      // of m, l and o between tiles
  double rescale_threshold = 0;  // powers of two that m may lag behind
  DType partial = DType::F32;    // of the splits' outputs
  std::optional<DType> unscaled;
  bool truncated_output = false, truncated_p = false;
};

// "a", "b", "c", "rpa", "f16"; nullopt for another name.
std::optional<Model> find_model(const std::string& name);

// Sets fields by the names that a contract's arithmetic gives them ("p", "pv_acc", "tile", ...). What is wrong, if
// anything, is returned.
std::optional<std::string> configure(Model& model, const std::map<std::string, std::string>& options);

}  // namespace attest::tile
