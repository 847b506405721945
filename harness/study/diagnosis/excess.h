// Where an error lies: which sequences, heads, rows, dims, pages, splits or tiles carry nearly all of the excess, which
// is the sum over the elements outside their bound of how many bounds they are off. An element that is NaN or Inf out
// of place counts as kLargestExcess bounds.
#pragma once

#include "harness/core/call.h"
#include "harness/core/expected.h"
#include "harness/core/problem.h"
#include "harness/judge/compare.h"

#include <string>
#include <vector>

namespace attest {

constexpr double kLargestExcess = 1e3;  // an element counts no more than this, so that one does not hide all others

// One sentence for each way of cutting the output in which a part that is not nearly all of it carries more than 90 %
// of the excess: "99 % of the excess lies in KV head 1". Empty where nothing is outside its bound. `keys`: for each
// (row, query head) the position of its heaviest key (heaviest_keys()), empty to leave pages, splits and tiles out;
// `tile`: keys a tile, 0 unknown.
std::vector<std::string> excess_places(const ExpectedTensor& expected, const Element& actual, const Problem& problem,
                                       const std::vector<int>& keys, int tile);

// The position of the key with the largest score of each (row, query head), -1 for a row that sees none.
std::vector<int> heaviest_keys(const Problem& problem, const Call& call);

}  // namespace attest
