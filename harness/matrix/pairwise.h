// Covering arrays: few combinations that hold every pair of values that some allowed combination holds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace attest {

// `rows`: the allowed combinations, one value index per axis each. Returns indices into `rows`, ascending, that
// together hold every pair of (axis, value) that occurs in any row. Greedy; the same result every time.
std::vector<std::size_t> cover_pairs(const std::vector<std::vector<int>>& rows);

}  // namespace attest
