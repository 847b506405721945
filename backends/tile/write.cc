// The KV write: value / scale in binary32, rounded once to the cache's format, the largest number for what is beyond
// it.
#include "backends/tile/engine.h"

#include <cmath>

namespace attest::tile {
namespace {

std::uint64_t code_of(const Work& work, DType from, DType to, std::uint64_t given, double scale, bool scaled) {
  const Knobs& k = work.knobs;
  if (!scaled && from == to) return given;
  const double value = decode(from, given);
  const float kept = static_cast<float>(k.write_unscaled ? value : k.write_inverted ? value * scale : value / scale);
  std::uint64_t code = encode(to, kept, k.write_wraps ? Overflow::Ieee : Overflow::Saturate);
  if (k.write_truncates && std::abs(decode(to, code)) > std::abs(static_cast<double>(kept))) --code;
  return code;
}

void store(const Work& work, attest_slot to, attest_slot from, attest_slot scale_slot, std::int64_t token,
           std::int64_t seq, std::int64_t slot) {
  const attest_problem& p = work.problem;
  const attest_tensor &cache = work.at(to), &given = work.at(from);
  const DType from_dtype = plugin::dtype_of(given), to_dtype = plugin::dtype_of(cache);
  for (std::int64_t head = 0; head < p.heads_kv; ++head)
    for (std::int64_t dim = 0; dim < given.shape[2]; ++dim)
      store_code(to_dtype, plugin::element(cache, slot / p.page_size, slot % p.page_size, head, dim),
                 code_of(work, from_dtype, to_dtype, load_code(from_dtype, plugin::element(given, token, head, dim)),
                         plugin::scale(work.slots.at[scale_slot], seq, head), work.has(scale_slot)));
}

}  // namespace

void write(const Work& work) {
  for (std::int64_t seq = 0; seq < work.problem.num_seqs; ++seq) {
    const Length length = length_of(work, seq);
    for (std::int64_t token = length.first_row; token < length.first_row + length.rows; ++token) {
      const std::int64_t slot = plugin::integer(work.at(ATTEST_SLOT_MAPPING), token);
      if (slot < 0) continue;
      const std::int64_t at = std::min(slot + work.knobs.write_slot_shift,
                                       std::int64_t{work.problem.num_pages} * work.problem.page_size - 1);
      store(work, ATTEST_K_CACHE, ATTEST_K_NEW, ATTEST_K_SCALE, token, seq, at);
      store(work, ATTEST_V_CACHE, ATTEST_V_NEW, work.knobs.write_k_scale_for_v ? ATTEST_K_SCALE : ATTEST_V_SCALE, token,
            seq, at);
    }
  }
}

}  // namespace attest::tile
