// The scales of q, K and V: value = stored * scale. No two alike (up to 273 of each), none a power of two, unless they
// are unit. Wide ones differ from head to head by up to 2^12.
#pragma once

#include "harness/core/problem.h"

#include <vector>

namespace attest {

struct ScaleSet {
  bool present = false;
  Dims shape;  // {1}, {heads_kv} or {sequences, heads_kv}
  std::vector<float> values;

  double at(int seq, int head_kv) const;  // 1 when absent
};

struct CallScales {
  ScaleSet q, k, v;
};

CallScales make_scales(const Problem& problem, std::uint64_t seed);

}  // namespace attest
