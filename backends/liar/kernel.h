// A slow, right attention kernel that can be asked to be wrong: scalar loops in binary64, one rounding at the end.
#pragma once

#include "backends/plugin.h"

#include <string>
#include <vector>

namespace attest::liar {

struct Call {
  attest_problem problem;
  attest_slots slots;
  std::string fault;                     // "" : none
  std::vector<std::int64_t> frozen_len;  // lengths seen when planned, used by fault frozen_length
  int launches = 0;

  bool lies(std::string_view name) const { return fault == name; }
  const attest_tensor& at(attest_slot slot) const { return *slots.at[slot]; }
  bool has(attest_slot slot) const { return slots.at[slot] != nullptr; }
  std::int64_t len_kv(std::int64_t seq) const;
};

// Element offset of (page, slot, head, dim) in a cache of shape [pages, page_size, heads, dim] whose heads are
// rotated by the page's number: a layout that no strides can say.
std::int64_t rotated_index(const attest_problem& problem, std::int64_t dim_of_cache, std::int64_t page,
                           std::int64_t slot, std::int64_t head, std::int64_t dim);

// The output as a lie about its last bit has it; as it is without one.
double moved(const Call& call, std::int64_t seq, double out);

void attend(Call& call);
void write(Call& call);
void rotate(Call& call);

}  // namespace attest::liar
