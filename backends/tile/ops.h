// The three inner operations of the engine, in two forms that give the same bits: scalar, which says what they are, and
// with Eigen over the lanes, which is fast. A lane is a key of a tile (scores) or a dim (outputs).
#pragma once

#include "backends/tile/model.h"

namespace attest::tile {

// acc[lane] += sum_i a[i] b[i * stride + lane] for lanes 0..lanes-1, i = 0..count-1 in order, as `how` adds. Steps of a
// matrix instruction begin at i = -skipped, of which the products before i = 0 are 0.
struct Product {
  const float* a;
  const float* b;
  int stride, count, lanes, skipped;
  Accumulator how;
};

struct Ops {
  void (*accumulate)(const Product& product, float* acc);
  void (*exp)(Exp kind, const float* x, int count, float* to);  // x <= 0 mostly; -inf gives 0, NaN stays
  void (*tanh)(Tanh kind, const float* x, int count, float* to);
};

extern const Ops kScalar, kVector;

}  // namespace attest::tile
