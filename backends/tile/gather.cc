#include "backends/tile/engine.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

namespace attest::tile {
namespace {

// Values of all codes of an 8-bit format, or of a 16-bit one.
const std::vector<float>& codes(DType dtype) {
  static std::array<std::vector<float>, 8> tables;
  auto& table = tables[static_cast<std::size_t>(dtype)];
  if (table.empty()) {
    table.resize(std::size_t{1} << (8 * byte_size(dtype)));
    for (std::size_t code = 0; code < table.size(); ++code) table[code] = static_cast<float>(decode(dtype, code));
  }
  return table;
}

float load(DType dtype, const std::byte* from) {
  switch (byte_size(dtype)) {
    case 1: return codes(dtype)[std::to_integer<std::size_t>(*from)];
    case 2: {
      std::uint16_t code;
      std::memcpy(&code, from, sizeof code);
      return codes(dtype)[code];
    }
    default: return static_cast<float>(decode(dtype, load_code(dtype, from)));
  }
}

// Where one token's head lies in a cache of [page, slot, head, dim], and how far its elements are apart.
struct Row {
  const std::byte* data = nullptr;
  std::int64_t stride = 1;
};

Row row_of(const Work& work, const attest_tensor& cache, std::int64_t seq, std::int64_t position, std::int64_t head,
           int page_shift) {
  const attest_problem& p = work.problem;
  const Knobs& k = work.knobs;
  const attest_tensor& table = work.at(ATTEST_PAGE_TABLE);
  const std::int64_t row = (seq + k.table_row_shift) % p.num_seqs;
  std::int64_t entry = position / p.page_size + page_shift;
  if (k.first_page_repeated) entry = 0;
  std::int64_t page = plugin::integer(table, row, std::min<std::int64_t>(entry, table.shape[1] - 1));
  std::int64_t slot = position % p.page_size;
  if (k.page_is_slot) {  // the page's number taken for that of a token
    slot = (page + slot) % p.page_size;
    page = page / p.page_size;
  }
  page = std::clamp<std::int64_t>(page, 0, p.num_pages - 1);
  std::int64_t at = page * (cache.strides[0] + k.page_stride_shift * cache.strides[1]) + slot * cache.strides[1] +
                    head * cache.strides[2];
  const std::int64_t all = p.num_pages * cache.strides[0];
  if (k.flat_wraps && at >= all / 2) at -= all / 2;
  at = std::clamp<std::int64_t>(at, 0, all - cache.strides[2]);
  const DType dtype = plugin::dtype_of(cache);
  return {static_cast<const std::byte*>(cache.data) + at * static_cast<std::int64_t>(byte_size(dtype)),
          cache.strides[3]};
}

// What the kernel reads a cache as, and rounds it to.
struct Reading {
  DType stored, taken;
  std::optional<DType> cast;
  bool integers;
};

void load_row(const Reading& as, const Row& row, int count, float factor, float* to, std::int64_t step) {
  const auto size = static_cast<std::int64_t>(byte_size(as.stored));
  for (int dim = 0; dim < count; ++dim) {
    const std::byte* from = row.data + dim * row.stride * size;
    float value = as.integers ? static_cast<float>(std::to_integer<int>(*from)) : load(as.taken, from);
    if (as.cast) value = static_cast<float>(round_to(*as.cast, value, Overflow::Saturate));
    to[dim * step] = value * factor;
  }
}

Reading reading(const Work& work, attest_slot slot) {
  const Knobs& k = work.knobs;
  const DType stored = plugin::dtype_of(work.at(slot));
  const bool is_k = slot == ATTEST_K_CACHE;
  return {stored, (is_k ? k.k_read_as : k.v_read_as).value_or(stored), is_k ? work.model.k_cast : work.model.v_cast,
          k.bytes_as_integers};
}

}  // namespace

void gather(const Work& work, std::int64_t seq, std::int64_t head_kv, const Length& length, Tile& tile) {
  const attest_problem& p = work.problem;
  const Knobs& knobs = work.knobs;
  const std::int64_t width = work.model.tile;
  tile.k.assign(static_cast<std::size_t>(p.dim * width), 0);
  tile.v.assign(static_cast<std::size_t>(p.dim_v * width), 0);
  const attest_slot k_from = knobs.kv_swapped ? ATTEST_V_CACHE : ATTEST_K_CACHE,
                    v_from = knobs.kv_swapped ? ATTEST_K_CACHE : ATTEST_V_CACHE;
  const Reading k_as = reading(work, k_from), v_as = reading(work, v_from);
  const Factors scale = factors(work, seq, head_kv * (p.heads_q / p.heads_kv), head_kv);
  // Behind the last key lie slots that hold anything: a right kernel leaves them out of every product.
  const std::int64_t page_end = (length.keys + p.page_size - 1) / p.page_size * p.page_size;
  const std::int64_t v_end =
      knobs.zero_times_unused ? std::min(tile.begin + width, page_end) : std::min(tile.end, length.keys);
  for (std::int64_t key = tile.begin; key < v_end; ++key) {
    const std::int64_t at = key - tile.begin;
    const bool unscaled = key / p.page_size < knobs.unscaled_pages;
    if (key < length.keys)
      load_row(k_as, row_of(work, work.at(k_from), seq, key, head_kv, 0), p.dim - knobs.k_dims_lost,
               unscaled ? static_cast<float>(p.softmax_scale / scale.score) : 1, &tile.k[static_cast<std::size_t>(at)],
               width);
    float* v = &tile.v[static_cast<std::size_t>(at * p.dim_v)];
    load_row(v_as, row_of(work, work.at(v_from), seq, key, head_kv, knobs.v_page_shift), p.dim_v,
             unscaled ? static_cast<float>(1 / scale.value) : 1, v, 1);
    if (knobs.nan_swallowed)
      std::replace_if(
          v, v + p.dim_v, [](float x) { return !std::isfinite(x); }, 0.0F);
  }
}

void load_query(const Work& work, std::int64_t token, std::int64_t head, float* to) {
  const attest_tensor& q = work.at(ATTEST_Q);
  const DType dtype = plugin::dtype_of(q);
  token = std::clamp<std::int64_t>(token + work.knobs.q_row_shift, 0, q.shape[0] - 1);
  const std::int64_t at =
      work.knobs.dense_q ? (token * q.shape[1] + head) * q.shape[2] : token * q.strides[0] + head * q.strides[1];
  const std::int64_t stride = work.knobs.dense_q ? 1 : q.strides[2];
  const auto* from = static_cast<const std::byte*>(q.data);
  for (std::int64_t dim = 0; dim < q.shape[2]; ++dim) {
    const float value = load(dtype, from + (at + dim * stride) * static_cast<std::int64_t>(byte_size(dtype)));
    to[dim] = work.model.q_cast ? static_cast<float>(round_to(*work.model.q_cast, value, Overflow::Saturate)) : value;
  }
}

}  // namespace attest::tile
