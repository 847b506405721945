// Small problems for tests of inputs and reference: a case and a permissive contract, made into a call.
#pragma once

#include "harness/core/contract.h"
#include "harness/core/problem.h"
#include "harness/inputs/inputs.h"

#include <string>

namespace attest::test {

// Takes every case; K and V as [page, slot, head, dim]; the LSE is returned.
inline Contract open_contract() {
  using enum CacheAxis;
  Contract contract;
  contract.backend = "test";
  contract.file = "test.yaml";
  const CacheSpec cache{{Page, Slot, Head, Dim}, {Page, Slot, Head, Dim}, {Page, Slot, Head, Dim}};
  for (const auto strides : {Strides::Dense, Strides::Padded, Strides::PaddedOut}) contract.layouts[strides] = {.k = cache, .v = cache};
  contract.rules = {{.when = {}, .claims = {{"lse", "true", "test", false}}}};
  return contract;
}

struct Made {
  Case c;
  Problem problem;
  Call call;
};

inline Made make(const std::string& token_text, const Contract& contract = open_contract()) {
  Case c = parse_token(token_text);
  Problem problem = make_problem(c, contract);
  Call call = make_inputs(c, problem);
  return {std::move(c), std::move(problem), std::move(call)};
}

}  // namespace attest::test
