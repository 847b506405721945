#define TORCH_ASSERT_ONLY_METHOD_OPERATORS
#include "backends/native/native.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/stack.h>

namespace attest::native {
namespace {

// x [T, heads, dim] in its own dtype -> the same; computed in f32. q and k may differ: each keeps its own.
at::Tensor rotate_one(const at::Tensor& x, const at::Tensor& cos, const at::Tensor& sin, std::int64_t rotary_dim,
                      bool interleaved) {
  const auto turning = x.narrow(-1, 0, rotary_dim).to(at::kFloat),
             rest = x.narrow(-1, rotary_dim, x.size(-1) - rotary_dim);
  const std::int64_t half = rotary_dim / 2;
  const auto pairs =
      interleaved ? turning.unflatten(-1, {half, 2}) : turning.unflatten(-1, {2, half}).transpose(-1, -2);
  const auto x1 = pairs.select(-1, 0), x2 = pairs.select(-1, 1);
  const auto turned = at::stack({x1.mul(cos).sub(x2.mul(sin)), x2.mul(cos).add(x1.mul(sin))}, -1);
  const auto flat = interleaved ? turned.flatten(-2) : turned.transpose(-1, -2).flatten(-2);
  return at::cat({flat.to(x.scalar_type()), rest}, -1);
}

}  // namespace

void rotate(Call& call) {
  auto positions = view_of(call.at(ATTEST_POSITIONS));
  if (const auto* offsets = call.find(ATTEST_OFFSETS)) positions = positions.add(view_of(*offsets));
  const auto rows = view_of(call.at(ATTEST_COS_SIN)).index_select(0, positions);
  const std::int64_t half = call.problem.rotary_dim / 2;
  const auto cos = rows.narrow(1, 0, half).unsqueeze(1), sin = rows.narrow(1, half, half).unsqueeze(1);
  for (const auto& [from, to] : {std::pair{ATTEST_Q, ATTEST_Q_OUT}, {ATTEST_K_NEW, ATTEST_K_OUT}}) {
    call.out = rotate_one(view_of(call.at(from)), cos, sin, call.problem.rotary_dim, call.problem.rotary_interleaved);
    view_of(call.at(to)).copy_(call.out);
  }
  call.ran = "rope";
}

}  // namespace attest::native
