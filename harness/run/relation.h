// Metamorphic relations: the case is launched once more, changed in a way that must not change its output, or must
// change it in a known one. What the reference does not know of shows here too: an output that depends on where pages
// lie, on what lies beside them, on other sequences, on how the work is cut.
#pragma once

#include "harness/run/checks.h"
#include "harness/run/host.h"
#include "harness/run/prepare.h"

#include <optional>
#include <string>
#include <vector>

namespace attest {

// What a launch left of its outputs, as numbers.
struct Left {
  std::vector<double> out, lse;  // [rows, heads, dim_v]; [rows, heads], empty where the kernel returns none
};
Left left_by(const Call& call, const Arena& arena);

// How the second launch differs. Its contents are the first's, sequence by sequence and from the last row back.
struct Related {
  Case c;
  bool negates_v = false;           // of all sequences: the output is negated
  bool changes_neighbours = false;  // q and V of all sequences but the first
  int sequences = 0;                // that are compared, from the first
  bool bitwise = false;             // else within the sum of both bounds
};
Related related(const Case& c, const Contract& contract);

// The second call: that of the related case, with the first's contents, changed.
Call related_call(const Related& second, const Problem& first_problem, const Call& first, const Problem& problem,
                  Call call);

// nullopt where the outputs go together, row by row. `right` holds the bounds of the first.
std::optional<Failure> compare_related(const Related& second, const Problem& first_problem, const Left& first,
                                       const Problem& problem, const Left& left, const Expected& right);

struct RelationResult {
  std::optional<Failure> failure;
  std::optional<Reply> reply;              // of the second launch, where it did not come back well
  std::optional<std::string> unsupported;  // why there is no second launch on this kernel
};
RelationResult check_relation(const Case& c, const Prepared& first, const Left& left, const Expected& right,
                              Host& host);

}  // namespace attest
