// The online softmax of one query row: what it carries from tile to tile, and what comes of it.
#pragma once

#include "backends/tile/engine.h"

#include <limits>

namespace attest::tile {

struct RowQuery {
  std::int64_t token, head, head_kv;
  Keys seen;
  float factor;  // of its scores
  std::vector<float> q;
};

struct RowState {
  float m = -std::numeric_limits<float>::infinity();
  float l = 0;           // sum of exp(c - m)
  std::vector<float> o;  // sum of P v, P scaled by 2^offset
  int tiles = 0;         // that had a key for it
  float last_l = 0, sink = m;
};

struct Partial {
  std::vector<float> out;  // before v_scale
  float lse;               // natural log, -inf for a row without keys
  float m, sink;
};

RowState start(const Work& work, float sink);
void add_tile(const Work& work, const Tile& tile, const RowQuery& row, bool last, RowState& state);
Partial finish(const Work& work, const RowState& state,
               bool stored);  // stored: to be merged, in the format of partials
Partial merge(const Work& work, const std::vector<const Partial*>& parts);
float reported_lse(const Work& work, const Partial& result);

}  // namespace attest::tile
