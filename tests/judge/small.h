// An expected tensor of ragged rows to judge against: two sequences of 2 and 1 rows (and one of none between), 2 heads,
// 3 dims; element (row, head, dim) is 100 row + 10 head + dim + 1, its bound 0.5.
#pragma once

#include "harness/core/expected.h"
#include "harness/core/problem.h"
#include "tests/reference/problems.h"

namespace attest::test {

inline Problem ragged_problem(const char* seq = "2x9,0x4,1x5", const char* heads = "2:1") {
  return make_problem(
      parse_token(std::string("prefill/test/q=bf16/kv=auto/h=") + heads + "/d=3/page=4/seq=" + seq + "#1"),
      open_contract());
}

inline ExpectedTensor numbered(int rows, int heads, int dim) {
  ExpectedTensor t(rows, heads, dim);
  for (int row = 0; row < rows; ++row)
    for (int head = 0; head < heads; ++head)
      for (int d = 0; d < dim; ++d) {
        t.value[t.index(row, head, d)] = 100 * row + 10 * head + d + 1;
        t.bound[t.index(row, head, d)] = 0.5;
      }
  return t;
}

}  // namespace attest::test
