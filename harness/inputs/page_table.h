// Which physical page holds which part of which sequence.
#pragma once

#include "harness/core/problem.h"

#include <cstdint>
#include <vector>

namespace attest {

struct PageTable {
  std::vector<std::vector<int>> pages;  // of each sequence, in order of position
  std::vector<int> unused;              // pages that no sequence owns, at least one
  // The sequence that fills a page: with aliased pages the first that owns it.
  std::vector<int> owner;  // by page, -1: unused

  int page_of(int seq, int position, int page_size) const {
    return pages[static_cast<std::size_t>(seq)][static_cast<std::size_t>(position / page_size)];
  }
};

// Shuffled: a random permutation. Ordered: one after the other. Interleaved: sequences take turns. Aliased: shuffled,
// and all sequences share the pages of their common prefix that no call writes to (positions before len_kv - len_q).
PageTable make_page_table(const Problem& problem, Table kind, std::uint64_t seed);

}  // namespace attest
