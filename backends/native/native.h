// LibTorch's scaled_dot_product_attention over a paged cache, as a serving stack's native backend calls it: each
// sequence's K and V are gathered from their pages and, by the rule, cast to q's dtype; SDPA wants one dtype.
#pragma once

#include "backends/plugin.h"

#include <ATen/core/Tensor.h>

#include <string>

namespace attest::native {

struct Call {
  attest_problem problem;
  attest_slots slots;
  bool cast = true;  // the rule K, V -> q's dtype
  std::string ran;   // "flash" or "math", of the last launch
  at::Tensor out;    // what SDPA returned last, for its dtype
  attest_tensor produced{};

  const attest_tensor& at(attest_slot slot) const { return *slots.at[slot]; }
  const attest_tensor* find(attest_slot slot) const { return slots.at[slot]; }
};

at::Tensor view_of(const attest_tensor& tensor);  // no copy
at::ScalarType scalar_type(std::int32_t dtype);

void attend(Call& call);  // throws c10::Error, as SDPA does
void rotate(Call& call);

}  // namespace attest::native
