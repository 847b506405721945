#include "harness/matrix/pairwise.h"

#include <algorithm>
#include <queue>
#include <unordered_set>

namespace attest {
namespace {

using Pair = std::uint64_t;

Pair pair_of(std::size_t axis_a, int value_a, std::size_t axis_b, int value_b) {
  return (static_cast<Pair>(axis_a) << 48) | (static_cast<Pair>(value_a) << 32) | (static_cast<Pair>(axis_b) << 16) | static_cast<Pair>(value_b);
}

template <typename Visit>
void each_pair(const std::vector<int>& row, const Visit& visit) {
  for (std::size_t a = 0; a < row.size(); ++a)
    for (std::size_t b = a + 1; b < row.size(); ++b) visit(pair_of(a, row[a], b, row[b]));
}

}  // namespace

std::vector<std::size_t> cover_pairs(const std::vector<std::vector<int>>& rows) {
  std::unordered_set<Pair> missing;
  for (const auto& row : rows) each_pair(row, [&](Pair pair) { missing.insert(pair); });
  if (rows.empty()) return {};
  if (missing.empty()) return {0};  // fewer than two axes: callers use the product there

  // A row's gain only shrinks as others are taken, so an old gain is an upper bound: look again only at the top.
  struct Candidate {
    std::size_t gain, row;
    bool operator<(const Candidate& other) const { return gain != other.gain ? gain < other.gain : row > other.row; }
  };
  std::priority_queue<Candidate> queue;
  for (std::size_t row = 0; row < rows.size(); ++row) queue.push({missing.size(), row});
  std::vector<std::size_t> taken;
  while (!missing.empty()) {
    const std::size_t row = queue.top().row;
    queue.pop();
    std::size_t gain = 0;
    each_pair(rows[row], [&](Pair pair) { gain += missing.contains(pair); });
    if (!queue.empty() && Candidate{gain, row} < queue.top()) {
      if (gain > 0) queue.push({gain, row});
      continue;
    }
    taken.push_back(row);
    each_pair(rows[row], [&](Pair pair) { missing.erase(pair); });
  }
  std::sort(taken.begin(), taken.end());
  return taken;
}

}  // namespace attest
