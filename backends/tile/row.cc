#include "backends/tile/row.h"

#include "backends/tile/exponential.h"

#include <algorithm>
#include <cmath>

namespace attest::tile {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();

float carried(const Work& work, float x) {
  return work.model.carry == DType::F32 ? x : static_cast<float>(round_to(work.model.carry, x));
}

void cap(const Work& work, std::vector<float>& s) {
  const auto most = static_cast<float>(work.problem.softcap);
  for (float& x : s) x /= most;
  work.ops->tanh(work.model.tanh, s.data(), static_cast<int>(s.size()), s.data());
  for (float& x : s) x *= most;
}

// From products to capped scores.
void score(const Work& work, float factor, std::vector<float>& s) {
  const Knobs& k = work.knobs;
  const bool capped = work.problem.softcap > 0 && !k.no_cap;
  if (k.scores_in_bf16_first)
    for (float& x : s) x = static_cast<float>(round_to(DType::BF16, x));
  if (capped && k.cap_before_scale) cap(work, s);
  for (float& x : s) x *= factor;
  if (capped && !k.cap_before_scale) cap(work, s);
  if (capped && k.cap_twice) cap(work, s);
  if (k.uniform) std::fill(s.begin(), s.end(), 0.0F);
  if (work.model.score)
    for (float& x : s) x = static_cast<float>(round_to(*work.model.score, x));
}

// P as it enters the product with V, scaled by 2^offset; what it loses is returned to `p` where the row sum adds that.
std::vector<float> rounded_weights(const Work& work, std::vector<float>& p, float l_so_far) {
  const Model& m = work.model;
  const float offset = std::ldexp(1.0F, m.p_offset);
  float sum = l_so_far;
  if (m.p_normalised)
    for (const float x : p) sum += x;
  std::vector<float> rounded(p.size());
  for (std::size_t j = 0; j < p.size(); ++j) {
    const float x = m.p_normalised ? p[j] / sum : p[j] * offset;
    std::uint64_t code = m.p == DType::F32 ? 0 : encode(m.p, x, Overflow::Saturate);
    if (m.truncated_p && m.p != DType::F32 && std::abs(decode(m.p, code)) > std::abs(static_cast<double>(x))) --code;
    rounded[j] = m.p == DType::F32 ? x : static_cast<float>(decode(m.p, code));
    if (m.p_normalised) rounded[j] *= sum * offset;
    if (m.row_sum_rounded) p[j] = rounded[j] / offset;
  }
  return rounded;
}

// m for the next tile: it may lag behind the largest score, which saves a rescale.
float next_maximum(const Work& work, const RowState& state, const std::vector<float>& s) {
  const float largest = std::max(state.m, *std::max_element(s.begin(), s.end()));
  if (state.m == -kInf) return carried(work, largest);
  if (work.knobs.frozen_maximum) return state.m;
  return (largest - state.m) * kLog2e <= static_cast<float>(work.model.rescale_threshold) ? state.m
                                                                                          : carried(work, largest);
}

void rescale(const Work& work, bool last, float m, RowState& state) {
  const Knobs& k = work.knobs;
  if (state.m == -kInf || m == state.m || k.no_rescale || (last && k.no_last_rescale)) return;
  float factor = state.m - m;
  work.ops->exp(work.model.exp, &factor, 1, &factor);
  factor = carried(work, factor);
  if (!k.no_sum_rescale) state.l = carried(work, state.l * factor);
  if (k.no_out_rescale) return;
  for (float& x : state.o) x = carried(work, x * factor);
}

void add_values(const Work& work, const Product& product, RowState& state) {
  if (!work.model.promoted && work.model.carry == DType::F32) return work.ops->accumulate(product, state.o.data());
  std::vector<float> of_tile(state.o.size(), 0);
  work.ops->accumulate(product, of_tile.data());
  for (std::size_t dim = 0; dim < of_tile.size(); ++dim)
    state.o[dim] = carried(work, state.o[dim] + carried(work, of_tile[dim]));
}

}  // namespace

RowState start(const Work& work, float sink) {
  RowState state;
  state.o.assign(static_cast<std::size_t>(work.problem.dim_v), 0);
  state.sink = sink;
  if (sink == -kInf) return state;
  state.m = carried(work, sink);
  float rest = sink - state.m;
  work.ops->exp(work.model.exp, &rest, 1, &rest);
  state.l = static_cast<float>(work.knobs.sink_times) * carried(work, rest);
  return state;
}

void add_tile(const Work& work, const Tile& tile, const RowQuery& row, bool last, RowState& state) {
  const Model& model = work.model;
  std::int64_t begin = std::max(row.seen.begin, tile.begin), end = std::min(row.seen.end, tile.end);
  const bool leaks = work.knobs.cap_after_mask && work.problem.softcap > 0;  // a mask of -inf, capped, is -cap
  if (leaks) begin = tile.begin, end = tile.end;
  if (begin >= end) return;
  const std::int64_t from = begin - tile.begin, keys = end - begin;
  std::vector<float> s(static_cast<std::size_t>(keys), 0);
  work.ops->accumulate({row.q.data(), &tile.k[static_cast<std::size_t>(from)], model.tile, work.problem.dim,
                        static_cast<int>(keys), 0, model.qk},
                       s.data());
  score(work, row.factor, s);
  for (std::int64_t j = 0; leaks && j < keys; ++j)
    if (begin + j < row.seen.begin || begin + j >= row.seen.end)
      s[static_cast<std::size_t>(j)] = -static_cast<float>(work.problem.softcap);

  const float m = next_maximum(work, state, s);
  rescale(work, last, m, state);
  state.m = m;
  std::vector<float> p(s.size());
  for (std::size_t j = 0; j < s.size(); ++j) p[j] = s[j] - m;
  work.ops->exp(model.exp, p.data(), static_cast<int>(p.size()), p.data());
  const auto weights = rounded_weights(work, p, state.l);
  float sum = 0;
  for (const float x : p) sum += x;
  state.l = carried(work, state.l + carried(work, sum));
  add_values(
      work,
      {weights.data(), &tile.v[static_cast<std::size_t>(from * work.problem.dim_v)], work.problem.dim_v,
       static_cast<int>(keys), work.problem.dim_v, static_cast<int>(from % std::max(model.pv.step, 1)), model.pv},
      state);
  if (work.knobs.zero_times_unused &&
      tile.v.size() / static_cast<std::size_t>(work.problem.dim_v) > static_cast<std::size_t>(tile.end - tile.begin))
    for (std::size_t key = static_cast<std::size_t>(tile.end - tile.begin); key < static_cast<std::size_t>(model.tile);
         ++key)
      for (std::size_t dim = 0; dim < state.o.size(); ++dim) state.o[dim] += 0 * tile.v[key * state.o.size() + dim];
  ++state.tiles;
}

Partial finish(const Work& work, const RowState& state, bool stored) {
  Partial result{state.o, -kInf, state.m, state.sink};
  if (state.l == 0) {
    std::fill(result.out.begin(), result.out.end(), 0.0F);
    return result;
  }
  const float offset = std::ldexp(1.0F, -work.model.p_offset);
  for (float& x : result.out) {
    x = carried(work, x * offset / state.l);
    if (stored && work.model.partial != DType::F32) x = static_cast<float>(round_to(work.model.partial, x));
  }
  result.lse = state.m + std::log(state.l);
  return result;
}

// Weights exp(lse_s - lse), as FlashAttention's combine kernel.
Partial merge(const Work& work, const std::vector<const Partial*>& parts) {
  Partial result{std::vector<float>(parts[0]->out.size(), 0), -kInf, parts[0]->m, parts[0]->sink};
  float most = -kInf;
  for (const Partial* part : parts) most = std::max(most, part->lse);
  if (most == -kInf) return result;
  std::vector<float> weights;
  float sum = 0;
  for (const Partial* part : parts) {
    float w = part->lse - most;
    if (work.knobs.base_2_merge) w *= 0.6931472F;
    work.ops->exp(work.model.exp, &w, 1, &w);
    if (work.knobs.unweighted_merge) w = part->lse == -kInf ? 0 : 1;
    weights.push_back(w);
    sum += w;
  }
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (weights[i] == 0) continue;  // an empty split's output is not looked at
    for (std::size_t dim = 0; dim < result.out.size(); ++dim) result.out[dim] += weights[i] / sum * parts[i]->out[dim];
  }
  result.lse = most + std::log(sum);
  return result;
}

float reported_lse(const Work& work, const Partial& result) {
  const Knobs& k = work.knobs;
  float lse = result.lse;
  if (lse == -kInf) return lse;
  if (k.lse_without_max) lse -= result.m;
  if (k.lse_without_sink && result.sink != -kInf)
    lse = lse > result.sink ? lse + std::log1p(-std::exp(result.sink - lse)) : -kInf;
  if (k.base_2_lse) lse *= kLog2e;
  return lse;
}

}  // namespace attest::tile
