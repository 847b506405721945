#include "reference/rope.h"

#include <algorithm>
#include <cmath>

namespace attest {
namespace {

ExpectedTensor rotate_one(const Problem& p, const Call& call, const Arithmetic& a, Slot slot) {
  const TensorView x = call.view(slot), table = call.view(Slot::CosSin), positions = call.view(Slot::Positions);
  const int heads = static_cast<int>(x.shape[1]), half = p.rotary_dim / 2;
  const FloatFormat& out = format(x.dtype);
  const double u = format(a.rope).unit_roundoff(), eta = format(a.rope).eta();
  ExpectedTensor result(p.total_q, heads, p.dim);
  for (int row = 0; row < p.total_q; ++row) {
    const std::int64_t position =
        positions.integer({row}) + (call.has(Slot::Offsets) ? call.view(Slot::Offsets).integer({row}) : 0);
    for (int head = 0; head < heads; ++head)
      for (int dim = 0; dim < p.dim; ++dim) {
        const std::size_t at = result.index(row, head, dim);
        if (dim >= p.rotary_dim) {
          result.value[at] = x.value({row, head, dim});
          continue;
        }
        const bool neox = p.style == RopeStyle::Neox;
        const int pair = neox ? dim % half : dim / 2;
        const bool second = neox ? dim >= half : dim % 2 == 1;
        const double x1 = x.value({row, head, neox ? pair : 2 * pair}),
                     x2 = x.value({row, head, neox ? pair + half : 2 * pair + 1});
        const double c = table.value({position, pair}), s = table.value({position, half + pair});
        const double left = second ? x2 * c : x1 * c, right = second ? x1 * s : -x2 * s;
        const double arithmetic = 3 * u * (std::abs(left) + std::abs(right)) + eta * (std::abs(x1) + std::abs(x2) + 2);
        result.value[at] = left + right;
        result.bound[at] =
            arithmetic + std::max(out.unit_roundoff() * (std::abs(left + right) + arithmetic), out.eta());
      }
  }
  return result;
}

}  // namespace

Expected rotate(const Problem& problem, const Call& call, const Arithmetic& arithmetic) {
  return {.out = rotate_one(problem, call, arithmetic, Slot::Q),
          .lse = {},
          .k_out = rotate_one(problem, call, arithmetic, Slot::KNew)};
}

}  // namespace attest
