// Small problems for tests of inputs and reference: a case and a permissive contract, made into a call.
#pragma once

#include "harness/core/contract.h"
#include "harness/core/problem.h"
#include "harness/inputs/inputs.h"

#include <functional>
#include <string>

namespace attest::test {

// Takes every case; K and V as [page, slot, head, dim]; the LSE is returned.
inline Contract open_contract() {
  using enum CacheAxis;
  Contract contract;
  contract.backend = "test";
  contract.file = "test.yaml";
  const CacheSpec cache{{Page, Slot, Head, Dim}, {Page, Slot, Head, Dim}, {Page, Slot, Head, Dim}};
  for (const auto strides : {Strides::Dense, Strides::Padded, Strides::PaddedOut})
    contract.layouts[strides] = {.k = cache, .v = cache};
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

inline void put(const Call& call, Slot slot, std::initializer_list<std::int64_t> at, double value) {
  const TensorView view = call.view(slot);
  store_code(view.dtype, view.data + static_cast<std::size_t>(view.offset(at)) * byte_size(view.dtype),
             encode(view.dtype, value));
}

// Every element of a tensor, its storage's gaps too.
inline void change(const Call& call, Slot slot, const std::function<double(double)>& to) {
  const DType dtype = call.ref(slot).dtype;
  const auto bytes = call.storages[call.ref(slot).storage].bytes();
  for (std::size_t at = 0; at < bytes.size(); at += byte_size(dtype))
    store_code(dtype, &bytes[at], encode(dtype, to(decode(dtype, load_code(dtype, &bytes[at])))));
}

// Where the cache keeps a position of a sequence.
inline std::pair<std::int64_t, std::int64_t> page_and_slot(const Made& made, int seq, int position) {
  return {made.call.view(Slot::PageTable).integer({seq, position / made.problem.page_size}),
          position % made.problem.page_size};
}

}  // namespace attest::test
