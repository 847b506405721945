#include "harness/judge/vacuous.h"

#include <algorithm>
#include <cmath>

namespace attest {
namespace {

// Which row of all sequences stands in for each row, or the row itself where there is no other.
std::vector<int> other_rows(const Problem& p) {
  std::vector<int> map;
  for (const Sequence& s : p.seqs) {
    const int first = static_cast<int>(map.size());
    for (int row = 0; row < s.len_q; ++row) map.push_back(first + (row + 1) % s.len_q);
  }
  return map;
}

std::vector<int> other_sequences(const Problem& p) {
  std::vector<int> map;
  const int seqs = static_cast<int>(p.seqs.size());
  for (int seq = 0; seq < seqs; ++seq) {
    int other = (seq + 1) % seqs;
    while (p.seqs[static_cast<std::size_t>(other)].len_q == 0 && other != seq) other = (other + 1) % seqs;
    for (int row = 0; row < p.seqs[static_cast<std::size_t>(seq)].len_q; ++row)
      map.push_back(p.first_row(other) + std::min(row, p.seqs[static_cast<std::size_t>(other)].len_q - 1));
  }
  return map;
}

bool moves_something(const std::vector<int>& map) {
  for (std::size_t row = 0; row < map.size(); ++row)
    if (map[row] != static_cast<int>(row)) return true;
  return false;
}

// The number that has the best chance to lie within every element's bound.
double best_constant(const ExpectedTensor& expected) {
  const auto& bound = expected.likely.empty() ? expected.bound : expected.likely;
  double least = -INFINITY, most = INFINITY;
  for (std::size_t i = 0; i < expected.value.size(); ++i) {
    least = std::max(least, expected.value[i] - bound[i]);
    most = std::min(most, expected.value[i] + bound[i]);
  }
  return std::isfinite(least) && std::isfinite(most) ? least / 2 + most / 2 : 0;
}

bool accepts(const ExpectedTensor& expected, const Element& output, const Problem& p) {
  return compare(expected, output, p).holds();
}

}  // namespace

std::vector<TrivialOutput> trivial_outputs(const ExpectedTensor& expected, const Problem& p) {
  const Element right = elements_of(expected);
  std::vector<TrivialOutput> all;
  all.push_back({"zeros", [](int, int, int) { return 0.0; }});
  all.push_back({"the output negated", [right](int row, int head, int dim) { return -right(row, head, dim); }});
  if (expected.value.size() > 1)
    all.push_back({"a constant", [c = best_constant(expected)](int, int, int) { return c; }});
  if (const auto map = other_rows(p); moves_something(map))
    all.push_back({"another row", [right, map](int row, int head, int dim) {
                     return right(map[static_cast<std::size_t>(row)], head, dim);
                   }});
  if (const auto map = other_sequences(p); moves_something(map))
    all.push_back({"another sequence", [right, map](int row, int head, int dim) {
                     return right(map[static_cast<std::size_t>(row)], head, dim);
                   }});
  if (const int heads = expected.heads; heads > 1)
    all.push_back(
        {"another head", [right, heads](int row, int head, int dim) { return right(row, (head + 1) % heads, dim); }});
  return all;
}

std::optional<std::string> accepted_trivial(const ExpectedTensor& expected, const std::vector<TrivialOutput>& trivial,
                                            const Problem& p) {
  for (const TrivialOutput& output : trivial)
    if (accepts(expected, output.output, p)) return std::string(output.name);
  return std::nullopt;
}

}  // namespace attest
