#include "harness/inputs/rope_inputs.h"

#include "harness/inputs/random.h"

namespace attest {
namespace {

constexpr int kMaxOffset = 4;

void fill_gauss(CallBuilder& to, Slot slot, std::int64_t tokens, int heads, int dim, std::uint64_t seed) {
  const Random random(seed, name(slot));
  for (std::int64_t t = 0; t < tokens; ++t)
    for (int h = 0; h < heads; ++h)
      for (int d = 0; d < dim; ++d)
        to.set(slot, {t, h, d},
               random.gauss(coordinate_index(0, static_cast<std::uint64_t>(t), static_cast<std::uint64_t>(h),
                                             static_cast<std::uint64_t>(d))));
}

}  // namespace

void make_rope_inputs(CallBuilder& to, const Problem& p, std::uint64_t seed) {
  const std::int64_t tokens = p.total_q;
  to.add(Slot::Q, p.q, {tokens, p.heads_q, p.dim});
  to.add(Slot::KNew, p.k_new, {tokens, p.heads_kv, p.dim});
  fill_gauss(to, Slot::Q, tokens, p.heads_q, p.dim, seed);
  fill_gauss(to, Slot::KNew, tokens, p.heads_kv, p.dim, seed);

  to.add(Slot::Positions, DType::I64, {tokens});
  if (p.offsets) to.add(Slot::Offsets, DType::I64, {tokens});
  const Random offsets(seed, "offsets");
  std::int64_t token = 0;
  for (const Sequence& s : p.seqs)
    for (int row = 0; row < s.len_q; ++row, ++token) {
      to.set_integer(Slot::Positions, {token}, s.len_kv - s.len_q + row);
      if (p.offsets)
        to.set_integer(Slot::Offsets, {token},
                       static_cast<std::int64_t>(offsets.below(kMaxOffset, static_cast<std::uint64_t>(token))));
    }

  // (1 - t^2) / (1 + t^2), 2t / (1 + t^2): IEEE operations only, unlike cos and sin.
  const Random turns(seed, "turns");
  const int half = p.rotary_dim / 2;
  const std::int64_t positions = p.max_len_kv + kMaxOffset;
  to.add(Slot::CosSin, DType::F32, {positions, p.rotary_dim});
  for (std::int64_t position = 0; position < positions; ++position)
    for (int i = 0; i < half; ++i) {
      const double t =
          turns.gauss(coordinate_index(0, static_cast<std::uint64_t>(position), static_cast<std::uint64_t>(i)));
      to.set(Slot::CosSin, {position, i}, (1 - t * t) / (1 + t * t));
      to.set(Slot::CosSin, {position, half + i}, 2 * t / (1 + t * t));
    }

  to.add_output(Slot::QOut, p.q, {tokens, p.heads_q, p.dim});
  to.add_output(Slot::KOut, p.k_new, {tokens, p.heads_kv, p.dim});
}

}  // namespace attest
