#include "backends/tile/engine.h"

#include <algorithm>
#include <cmath>

namespace attest::tile {
namespace {

// A factor that a fault leaves out (0), takes twice (2) or upside down (-1).
double power(double factor, int n) { return std::pow(factor, n); }

}  // namespace

Length length_of(const Work& work, std::int64_t seq) {
  const attest_tensor& starts = work.at(ATTEST_CU_LEN_Q);
  const std::int64_t first = plugin::integer(starts, seq), last = plugin::integer(starts, seq + 1);
  std::int64_t keys = plugin::integer(work.at(ATTEST_LEN_KV), seq);
  if (keys > 0) keys = std::max<std::int64_t>(keys + work.knobs.length_shift, 0);
  if (work.knobs.full_last_page) {
    const std::int64_t page = work.problem.page_size;
    keys = (keys + page - 1) / page * page;
  }
  return {first, last - first, keys};
}

Keys visible(const Work& work, const Length& length, std::int64_t row) {
  const attest_problem& p = work.problem;
  const Knobs& k = work.knobs;
  // Bottom-right: the last row stands at the last key. The length as it really is: a fault in it moves the end alone.
  std::int64_t keys = length.keys - k.length_shift;
  if (k.full_last_page) keys = length.keys;
  const std::int64_t position = k.top_left ? row : keys - length.rows + row;
  Keys seen{0, length.keys};
  if (p.causal && !k.no_causal)
    seen.end = std::min(seen.end, position + 1 + k.causal_shift + std::max(k.length_shift, 0));
  if (!k.no_window) {
    if (p.window_left >= 0) seen.begin = position - p.window_left - k.left_shift;
    if (p.window_right >= 0) seen.end = std::min(seen.end, position + p.window_right + 1 + k.right_shift);
  }
  if (p.chunk > 0 && position >= 0 && !k.no_chunk) seen.begin = std::max(seen.begin, position / p.chunk * p.chunk);
  seen.begin = std::max<std::int64_t>(seen.begin, 0);
  seen.end = std::clamp<std::int64_t>(seen.end, 0, length.keys);
  return seen;
}

std::int64_t kv_head_of(const Work& work, std::int64_t head) {
  const attest_problem& p = work.problem;
  const std::int64_t own = head / (p.heads_q / p.heads_kv);
  if (work.knobs.head_map == HeadMap::Modulo) return head % p.heads_kv;
  return work.knobs.head_map == HeadMap::Next ? (own + 1) % p.heads_kv : own;
}

Factors factors(const Work& work, std::int64_t seq, std::int64_t head, std::int64_t head_kv) {
  const attest_problem& p = work.problem;
  const Knobs& k = work.knobs;
  std::int64_t of_head = head_kv;
  if (k.scale_head == ScaleHead::First) of_head = 0;
  if (k.scale_head == ScaleHead::QueryHead) of_head = head % p.heads_kv;
  const std::int64_t of_seq = k.first_sequence_scale ? 0 : seq;
  const auto scale = [&](attest_slot slot) { return plugin::scale(work.slots.at[slot], of_seq, of_head); };
  double key = scale(ATTEST_K_SCALE), value = scale(ATTEST_V_SCALE);
  if (k.scales_swapped) std::swap(key, value);
  const double query = k.q_takes_k_scale ? key : scale(ATTEST_Q_SCALE);
  return {power(p.softmax_scale, k.softmax_scale) * power(query, k.q_scale) * power(key, k.k_scale) * k.score_factor,
          power(value, k.v_scale)};
}

}  // namespace attest::tile
