// A tiled online-softmax attention over a paged, ragged cache: for each sequence and KV head, tile after tile, the
// running maximum m, row sum l and output o of every query row; splits are merged by their log-sums. Shares nothing
// with reference/: that the two agree is what both are tested by.
#pragma once

#include "backends/plugin.h"
#include "backends/tile/knobs.h"
#include "backends/tile/ops.h"

#include <vector>

namespace attest::tile {

struct Work {
  attest_problem problem;
  attest_slots slots;
  Model model;
  Knobs knobs;
  const Ops* ops = &kVector;

  const attest_tensor& at(attest_slot slot) const { return *slots.at[slot]; }
  bool has(attest_slot slot) const { return slots.at[slot] != nullptr; }
};

struct Keys {  // [begin, end)
  std::int64_t begin = 0, end = 0;
  std::int64_t size() const { return end > begin ? end - begin : 0; }
};

struct Length {
  std::int64_t first_row, rows, keys;
};

// geometry.cc: who sees what, and where it lies.
Length length_of(const Work& work, std::int64_t seq);
Keys visible(const Work& work, const Length& length, std::int64_t row);
std::int64_t kv_head_of(const Work& work, std::int64_t head);
struct Factors {
  double score, value;  // softmax scale * scales of q and k; scale of v
};
Factors factors(const Work& work, std::int64_t seq, std::int64_t head, std::int64_t head_kv);

// gather.cc: one tile of keys [begin, end) of a head, as the kernel takes them in, in binary32. K is transposed:
// k[dim * tile + key], v[key * dim_v + dim].
struct Tile {
  std::int64_t begin = 0, end = 0;
  std::vector<float> k, v;
};
void gather(const Work& work, std::int64_t seq, std::int64_t head_kv, const Length& length, Tile& tile);
void load_query(const Work& work, std::int64_t token, std::int64_t head, float* to);

void attend(const Work& work);  // engine.cc
void write(const Work& work);   // write.cc

}  // namespace attest::tile
