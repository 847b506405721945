#include "backends/tile/engine.h"

#include "backends/tile/row.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace attest::tile {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();

// The tiles of one split: [begin, end), of all.
Keys tiles_of(const Work& work, const Length& length, int split, int splits) {
  const std::int64_t tiles = (length.keys + work.model.tile - 1) / work.model.tile,
                     each = (tiles + splits - 1) / splits;
  Keys range{std::min(split * each, tiles), std::min((split + 1) * each, tiles)};
  if (work.knobs.first_tile_lost && split == 0 && tiles > 1) ++range.begin;
  if (work.knobs.last_tile_lost && split == splits - 1 && tiles > 1) --range.end;
  return range;
}

float sink_of(const Work& work, std::int64_t head, int split) {
  const Knobs& k = work.knobs;
  if (!work.has(ATTEST_SINKS) || k.no_sink || (split > 0 && !k.sink_per_split)) return -kInf;
  auto sink =
      static_cast<float>(plugin::value(work.at(ATTEST_SINKS), (head + k.sink_head_shift) % work.problem.heads_q));
  return k.scaled_sink ? sink * static_cast<float>(work.problem.softmax_scale) : sink;
}

// Every row of the query heads that read one KV head, over one split.
std::vector<Partial> run_split(const Work& work, std::int64_t seq, std::int64_t head_kv, const Length& length,
                               const std::vector<RowQuery>& rows, int split, int splits) {
  std::vector<RowState> states;
  for (const RowQuery& row : rows) states.push_back(start(work, sink_of(work, row.head, split)));
  const Keys range = tiles_of(work, length, split, splits);
  Tile tile;
  for (std::int64_t i = range.begin; i < range.end; ++i) {
    const std::int64_t index = work.model.descending ? range.end - 1 - (i - range.begin) : i;
    tile.begin = index * work.model.tile;
    tile.end = std::min(tile.begin + work.model.tile, length.keys);
    gather(work, seq, head_kv, length, tile);
    const bool last = i + 1 == range.end;
    for (int time = 0; time < (last && work.knobs.last_tile_twice ? 2 : 1); ++time)
      for (std::size_t r = 0; r < rows.size(); ++r) add_tile(work, tile, rows[r], last, states[r]);
  }
  std::vector<Partial> partials;
  for (const RowState& state : states) partials.push_back(finish(work, state, splits > 1));
  return partials;
}

void store(const Work& work, std::int64_t seq, const Length& length, const RowQuery& row, const Partial& result) {
  const Knobs& k = work.knobs;
  const attest_tensor& out = work.at(ATTEST_OUT);
  const std::int64_t token = k.rows_swapped ? work.problem.total_q - 1 - row.token : row.token;
  if (k.last_row_not_written && row.token == length.first_row + length.rows - 1) return;
  const bool empty = result.lse == -kInf;
  if (empty && k.empty_not_written) return;
  const auto value_scale = static_cast<float>(factors(work, seq, row.head, row.head_kv).value);
  const DType dtype = plugin::dtype_of(out);
  const int dims = work.problem.dim_v - (k.tail_not_written ? std::min(8, work.problem.dim_v) : 0);
  for (int dim = 0; dim < dims; ++dim) {
    float value = result.out[static_cast<std::size_t>(dim)];
    if (work.model.unscaled) value = static_cast<float>(round_to(*work.model.unscaled, value));
    value *= value_scale;
    if (empty) value = k.nan_for_empty ? std::numeric_limits<float>::quiet_NaN() : 0;
    if (k.out_through) value = static_cast<float>(round_to(*k.out_through, value, Overflow::Saturate));
    std::uint64_t code = encode(dtype, value);
    if (work.model.truncated_output && std::abs(decode(dtype, code)) > std::abs(static_cast<double>(value))) --code;
    store_code(dtype, plugin::element(out, token, row.head, dim), code);
  }
  if (work.has(ATTEST_LSE)) plugin::store(work.at(ATTEST_LSE), result.lse, row.head, token);
}

void attend_head(const Work& work, std::int64_t seq, std::int64_t head_kv, const Length& length) {
  const attest_problem& p = work.problem;
  std::vector<RowQuery> rows;
  for (std::int64_t row = 0; row < length.rows; ++row)
    for (std::int64_t head = 0; head < p.heads_q; ++head) {
      if (kv_head_of(work, head) != head_kv) continue;
      RowQuery query{length.first_row + row,
                     head,
                     head_kv,
                     visible(work, length, row),
                     static_cast<float>(factors(work, seq, head, head_kv).score),
                     {}};
      query.q.resize(static_cast<std::size_t>(p.dim));
      load_query(work, query.token, head, query.q.data());
      rows.push_back(std::move(query));
    }
  const int splits = std::max(p.splits, 1);
  std::vector<std::vector<Partial>> partials;
  for (int split = 0; split < splits - (splits > 1 && work.knobs.last_split_lost); ++split)
    partials.push_back(run_split(work, seq, head_kv, length, rows, split, splits));
  for (std::size_t r = 0; r < rows.size(); ++r) {
    std::vector<const Partial*> parts;
    for (const auto& split : partials) parts.push_back(&split[r]);
    Partial result = splits > 1 ? merge(work, parts) : *parts[0];
    result.lse = reported_lse(work, result);
    store(work, seq, length, rows[r], result);
  }
}

}  // namespace

void attend(const Work& work) {
  for (std::int64_t seq = 0; seq < work.problem.num_seqs; ++seq) {
    const Length length = length_of(work, seq);
    if (length.rows == 0) continue;
    for (std::int64_t head_kv = 0; head_kv < work.problem.heads_kv; ++head_kv) attend_head(work, seq, head_kv, length);
  }
}

}  // namespace attest::tile
