// Covering arrays: few combinations that hold every pair of values of two axes.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace attest {

struct PairCover {
  std::vector<std::vector<int>> rows;  // a value index per axis
  // Pairs that no allowed row was found for: {axis, value, axis, value}. Every pair that one of many tries could
  // complete is in some row; a pair that is left out here is excluded, or all but.
  struct Pair {
    std::size_t axis_a;
    int value_a;
    std::size_t axis_b;
    int value_b;
  };
  std::vector<Pair> unreached;
};

// `sizes`: values of each axis. Greedy, and the same result every time.
PairCover cover_pairs(const std::vector<int>& sizes, const std::function<bool(const std::vector<int>&)>& allowed);

}  // namespace attest
