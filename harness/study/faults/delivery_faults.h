// The tables behind tamper(): faults of page tables, of lengths and mappings, and of scales, sinks and values.
#pragma once

#include "harness/core/call.h"
#include "harness/core/problem.h"

#include <span>
#include <string_view>

namespace attest {

struct Delivery {
  const Case& c;
  const Problem& problem;
  Call& call;

  int seqs() const { return static_cast<int>(problem.seqs.size()); }
  int pages_of(int seq) const {
    return (problem.seqs[static_cast<std::size_t>(seq)].len_kv + problem.page_size - 1) / problem.page_size;
  }
};

struct DeliveryFault {
  std::string_view name;
  void (*tamper)(const Delivery&);
};

std::span<const DeliveryFault> page_faults();
std::span<const DeliveryFault> length_faults();
std::span<const DeliveryFault> tensor_faults();

}  // namespace attest
