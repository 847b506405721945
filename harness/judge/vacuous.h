// Does a case test anything? Its own rule, applied to outputs that a broken kernel could give without computing
// attention at all, must reject each of them.
#pragma once

#include "harness/judge/compare.h"

#include <optional>
#include <string>

namespace attest {

struct TrivialOutput {
  std::string_view name;
  Element output;
};

// The trivial outputs that exist for the problem: zeros, the negated output, a constant, another row, another head,
// another sequence. Those made from other inputs (the mean of V, the output of another seed) are added by the caller.
std::vector<TrivialOutput> trivial_outputs(const ExpectedTensor& expected, const Problem& problem);

// The name of the first one that the rule accepts, if any.
std::optional<std::string> accepted_trivial(const ExpectedTensor& expected, const std::vector<TrivialOutput>& trivial,
                                            const Problem& problem);

}  // namespace attest
