#include "backends/liar/kernel.h"

#include <cmath>
#include <limits>

namespace attest::liar {
namespace {

struct Row {  // one query row of one head
  std::int64_t seq, token, head, position, begin, end;
};

// Keys [begin, end) that a row at `position` sees.
Row visible(const Call& call, std::int64_t seq, std::int64_t token, std::int64_t head, std::int64_t position,
            std::int64_t length) {
  const attest_problem& p = call.problem;
  Row row{seq, token, head, position, 0, length};
  if (p.causal) row.end = position + 1;
  if (p.window_left >= 0) row.begin = position - p.window_left;
  if (p.window_right >= 0) row.end = std::min(row.end, position + p.window_right + 1);
  if (p.chunk > 0 && position >= 0) row.begin = position / p.chunk * p.chunk;
  if (call.lies("mask_off_by_one")) row.end -= 1;
  row.begin = std::max<std::int64_t>(row.begin, 0);
  row.end = std::clamp<std::int64_t>(row.end, 0, length);
  return row;
}

double cached(const Call& call, attest_slot slot, std::int64_t seq, std::int64_t position, std::int64_t head,
              std::int64_t dim) {
  const attest_problem& p = call.problem;
  const std::int64_t page = plugin::integer(call.at(ATTEST_PAGE_TABLE), seq, position / p.page_size);
  const attest_tensor& cache = call.at(slot);
  const std::int64_t width = slot == ATTEST_K_CACHE ? p.dim : p.dim_v;
  const std::int64_t at = rotated_index(p, width, page, position % p.page_size, head, dim);
  const DType dtype = plugin::dtype_of(cache);
  return decode(dtype, load_code(dtype, static_cast<const std::byte*>(cache.data) +
                                            static_cast<std::size_t>(at) * byte_size(dtype)));
}

double score(const Call& call, const Row& row, std::int64_t key, std::int64_t head_kv) {
  const attest_problem& p = call.problem;
  double dot = 0;
  for (int dim = 0; dim < p.dim; ++dim)
    dot += plugin::value(call.at(ATTEST_Q), row.token, row.head, dim) *
           cached(call, ATTEST_K_CACHE, row.seq, key, head_kv, dim);
  double s = dot * p.softmax_scale * plugin::scale(call.slots.at[ATTEST_Q_SCALE], row.seq, head_kv);
  if (!call.lies("dropped_k_scale")) s *= plugin::scale(call.slots.at[ATTEST_K_SCALE], row.seq, head_kv);
  return p.softcap > 0 ? p.softcap * std::tanh(s / p.softcap) : s;
}

void attend_row(const Call& call, const Row& row) {
  const attest_problem& p = call.problem;
  std::int64_t head_kv = row.head / (p.heads_q / p.heads_kv);
  if (call.lies("swapped_heads")) head_kv = (head_kv + 1) % p.heads_kv;
  const double sink = call.has(ATTEST_SINKS) ? plugin::value(call.at(ATTEST_SINKS), row.head) : -INFINITY;

  std::vector<double> scores;
  double max = sink;
  for (std::int64_t key = row.begin; key < row.end; ++key) {
    scores.push_back(score(call, row, key, head_kv));
    max = std::max(max, scores.back());
  }
  double sum = max == -INFINITY ? 0 : std::exp(sink - max);
  for (double& s : scores) sum += s = std::exp(s - max);
  const double v_scale =
      call.lies("dropped_v_scale") ? 1 : plugin::scale(call.slots.at[ATTEST_V_SCALE], row.seq, head_kv);
  for (int dim = 0; dim < p.dim_v; ++dim) {
    double out = 0;
    for (std::int64_t key = row.begin; key < row.end; ++key)
      out +=
          scores[static_cast<std::size_t>(key - row.begin)] * cached(call, ATTEST_V_CACHE, row.seq, key, head_kv, dim);
    out = sum > 0 ? out / sum * v_scale : 0;
    if (call.lies("nan_swallowed") && !std::isfinite(out)) out = 0;
    if (call.lies("drifting") && call.launches % 2) out *= 1 + 0x1p-9;
    plugin::store(call.at(ATTEST_OUT), moved(call, row.seq, out), row.token, row.head, dim);
  }
  if (!call.has(ATTEST_LSE)) return;
  double lse = sum > 0 ? max + std::log(sum) : -std::numeric_limits<double>::infinity();
  if (call.lies("lse_base_2")) lse *= std::log2(std::exp(1.0));
  plugin::store(call.at(ATTEST_LSE), lse, row.head, row.token);
}

void store_cached(const Call& call, attest_slot to, attest_slot from, attest_slot scale, std::int64_t token,
                  std::int64_t seq, std::int64_t at) {
  const attest_problem& p = call.problem;
  const DType dtype = plugin::dtype_of(call.at(to));
  const std::int64_t width = to == ATTEST_K_CACHE ? p.dim : p.dim_v;
  for (std::int64_t head = 0; head < p.heads_kv; ++head)
    for (std::int64_t dim = 0; dim < width; ++dim) {
      const double value = plugin::value(call.at(from), token, head, dim);
      const double scaled = static_cast<float>(value / plugin::scale(call.slots.at[scale], seq, head));
      const bool copies = !call.has(scale) && plugin::dtype_of(call.at(from)) == dtype;
      std::uint64_t code = copies ? load_code(dtype, plugin::element(call.at(from), token, head, dim))
                                  : encode(dtype, scaled, Overflow::Saturate);
      if (call.lies("truncating_write") && std::abs(decode(dtype, code)) > std::abs(scaled)) code -= 1;
      const std::int64_t element = rotated_index(p, width, at / p.page_size, at % p.page_size, head, dim);
      store_code(dtype,
                 static_cast<std::byte*>(call.at(to).data) + static_cast<std::size_t>(element) * byte_size(dtype),
                 code);
    }
}

void rotate_one(const Call& call, attest_slot from, attest_slot to) {
  const attest_problem& p = call.problem;
  const attest_tensor &x = call.at(from), &out = call.at(to), &table = call.at(ATTEST_COS_SIN);
  const std::int64_t half = p.rotary_dim / 2;
  for (std::int64_t token = 0; token < x.shape[0]; ++token) {
    const std::int64_t position = plugin::integer(call.at(ATTEST_POSITIONS), token) +
                                  (call.has(ATTEST_OFFSETS) ? plugin::integer(call.at(ATTEST_OFFSETS), token) : 0);
    for (std::int64_t head = 0; head < x.shape[1]; ++head) {
      for (std::int64_t dim = p.rotary_dim; dim < p.dim; ++dim)
        plugin::store(out, plugin::value(x, token, head, dim), token, head, dim);
      for (std::int64_t pair = 0; pair < half; ++pair) {
        const std::int64_t first = p.rotary_interleaved ? 2 * pair : pair,
                           second = p.rotary_interleaved ? 2 * pair + 1 : pair + half;
        const double x1 = plugin::value(x, token, head, first), x2 = plugin::value(x, token, head, second);
        const double c = plugin::value(table, position, pair), s = plugin::value(table, position, half + pair);
        plugin::store(out, x1 * c - x2 * s, token, head, first);
        plugin::store(out, x2 * c + x1 * s, token, head, second);
      }
    }
  }
}

}  // namespace

std::int64_t Call::len_kv(std::int64_t seq) const {
  return lies("frozen_length") ? frozen_len[static_cast<std::size_t>(seq)] : plugin::integer(at(ATTEST_LEN_KV), seq);
}

std::int64_t rotated_index(const attest_problem& p, std::int64_t width, std::int64_t page, std::int64_t slot,
                           std::int64_t head, std::int64_t dim) {
  return ((page * p.page_size + slot) * p.heads_kv + (head + page) % p.heads_kv) * width + dim;
}

void attend(Call& call) {
  const attest_tensor& starts = call.at(ATTEST_CU_LEN_Q);
  for (std::int64_t seq = 0; seq < call.problem.num_seqs; ++seq) {
    const std::int64_t first = plugin::integer(starts, seq), last = plugin::integer(starts, seq + 1),
                       length = call.len_kv(seq);
    for (std::int64_t token = first; token < last; ++token)
      for (std::int64_t head = 0; head < call.problem.heads_q; ++head) {
        if (call.lies("unwritten_row") && token == last - 1) continue;
        attend_row(call, visible(call, seq, token, head, length - (last - token), length));
      }
  }
}

void write(Call& call) {
  const attest_tensor& starts = call.at(ATTEST_CU_LEN_Q);
  for (std::int64_t seq = 0; seq < call.problem.num_seqs; ++seq)
    for (std::int64_t token = plugin::integer(starts, seq); token < plugin::integer(starts, seq + 1); ++token) {
      std::int64_t at = plugin::integer(call.at(ATTEST_SLOT_MAPPING), token);
      if (at < 0) continue;
      if (call.lies("slot_off_by_one")) at += 1;
      store_cached(call, ATTEST_K_CACHE, ATTEST_K_NEW, ATTEST_K_SCALE, token, seq, at);
      store_cached(call, ATTEST_V_CACHE, ATTEST_V_NEW, ATTEST_V_SCALE, token, seq, at);
    }
}

void rotate(Call& call) {
  rotate_one(call, ATTEST_Q, ATTEST_Q_OUT);
  rotate_one(call, ATTEST_K_NEW, ATTEST_K_OUT);
}

}  // namespace attest::liar
