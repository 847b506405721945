// The moves of shrink(): each proposes smaller cases than a given one, the smallest and cheapest first. A proposal may
// contradict itself or be declined by the contract; it is then no failing case.
#pragma once

#include "harness/core/case.h"

#include <span>
#include <string_view>
#include <vector>

namespace attest {

using Moves = std::vector<Case> (*)(const Case&);

struct ShrinkMove {
  std::string_view what;  // "lengths"
  Moves propose;
};

std::span<const ShrinkMove> shrink_moves();  // in the order in which they are tried

// 1, 2, 3, 4, 6, 8, 12, ... below `value`; at 1 and above.
std::vector<int> ladder(int value);

}  // namespace attest
