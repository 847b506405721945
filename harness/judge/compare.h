// Is a tensor within the bound of its reference, element by element? NaN and Inf are compared as sets first: one where
// a number belongs, or a number where one belongs, is its own kind of failure. Written so that NaN fails.
#pragma once

#include "harness/core/expected.h"
#include "harness/core/problem.h"
#include "harness/record/verdict.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace attest {

using Element = std::function<double(int row, int head, int dim)>;

struct Comparison {
  double ratio = 0;                        // max |actual - expected| / bound, 0 when all are equal
  std::optional<Miss> worst;               // where it is
  std::optional<Miss> special;             // the first NaN or Inf that is out of place
  std::int64_t elements = 0, failing = 0;  // compared; outside the bound or out of place
  std::vector<std::string> cells;          // "sequence.head" of the failing cells, in order
  bool holds() const { return failing == 0; }
};

enum class BoundTier { Det, Prb };  // which bound of the expectation judges: the worst case, or the likely one

// Rows are those of all sequences; places in the result are by sequence.
Comparison compare(const ExpectedTensor& expected, const Element& actual, const Problem& problem,
                   BoundTier tier = BoundTier::Prb);

Element elements_of(const TensorView& rows_heads_dims);  // [rows, heads, dim]
Element elements_of_lse(const TensorView& heads_rows);   // [heads, rows]
Element elements_of(const ExpectedTensor& tensor);

// "sequence 1, head 3, row 0, dim 17: got 0.5, expected 0.25 within 0.001"
std::string text(const Miss& miss);

}  // namespace attest
