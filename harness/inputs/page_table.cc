#include "harness/inputs/page_table.h"

#include "harness/inputs/random.h"

#include <algorithm>
#include <numeric>

namespace attest {
namespace {

int pages_needed(const Sequence& s, int page_size) { return (s.len_kv + page_size - 1) / page_size; }

// Whole pages that sequence `s` shares with sequence 0.
int shared_pages(const Problem& p, const Sequence& s) {
  const Sequence& first = p.seqs.front();
  const int old = std::min(first.len_kv - first.len_q, s.len_kv - s.len_q);
  return std::max(old, 0) / p.page_size;
}

}  // namespace

PageTable make_page_table(const Problem& p, Table kind, std::uint64_t seed) {
  std::vector<int> pool(static_cast<std::size_t>(p.num_pages));
  std::iota(pool.begin(), pool.end(), 0);
  if (kind == Table::Shuffled || kind == Table::Aliased) pool = Random(seed, "pages").permutation(p.num_pages, 0);

  PageTable table;
  table.pages.resize(p.seqs.size());
  table.owner.assign(static_cast<std::size_t>(p.num_pages), -1);
  std::size_t next = 0;
  const auto take = [&](std::size_t seq) {
    table.owner[static_cast<std::size_t>(pool[next])] = static_cast<int>(seq);
    table.pages[seq].push_back(pool[next++]);
  };
  if (kind == Table::Interleaved) {
    const int most = pages_needed(
        *std::max_element(p.seqs.begin(), p.seqs.end(), [](auto& a, auto& b) { return a.len_kv < b.len_kv; }),
        p.page_size);
    for (int turn = 0; turn < most; ++turn)
      for (std::size_t s = 0; s < p.seqs.size(); ++s)
        if (turn < pages_needed(p.seqs[s], p.page_size)) take(s);
  } else {
    for (std::size_t s = 0; s < p.seqs.size(); ++s) {
      const int shared = kind == Table::Aliased && s > 0 ? shared_pages(p, p.seqs[s]) : 0;
      table.pages[s].assign(table.pages[0].begin(), table.pages[0].begin() + shared);
      for (int i = shared; i < pages_needed(p.seqs[s], p.page_size); ++i) take(s);
    }
  }
  table.unused.assign(pool.begin() + static_cast<std::ptrdiff_t>(next), pool.end());
  return table;
}

}  // namespace attest
