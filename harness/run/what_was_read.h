// in=select makes each V spell its own address: what a wrong row of the output came from, in words.
#pragma once

#include "harness/core/call.h"
#include "harness/core/expected.h"
#include "harness/core/problem.h"
#include "harness/record/verdict.h"

#include <optional>
#include <string>

namespace attest {

// "read sequence 1, position 37, head 2 instead of sequence 0, position 37, head 2". `right` and `out` are
// [rows, query heads, dim_v] of all sequences, `place` the row that is off. nullopt where the row spells no address
// under any of the call's scales: it is no key's V.
std::optional<std::string> what_was_read(const Problem& problem, const Call& call, const ExpectedTensor& right,
                                         const TensorView& out, const Place& place);

}  // namespace attest
