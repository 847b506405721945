// One row of attention as plain numbers: what a query row of one head sees, read from a call, and its exact result in
// long double. Simulated and emulated kernels compute from it.
#pragma once

#include "tests/reference/naive.h"

#include <optional>
#include <vector>

namespace attest::test {

using Real = long double;

struct Row {
  int token, head;  // among all rows; query head
  DType q_dtype, cache, out;
  std::vector<double> q;                  // [dim]
  std::vector<std::vector<double>> k, v;  // [visible key][dim], [visible key][dim_v], as stored
  double softmax_scale, q_scale, k_scale, v_scale, softcap;
  std::optional<double> sink;

  std::vector<Real> capped, p, exact;  // c_j, p_j; o in units before v_scale
  Real lse, max;

  Real factor() const { return static_cast<Real>(softmax_scale) * q_scale * k_scale; }
};

inline void solve(Row& row) {
  row.capped.clear();
  row.max = row.sink ? static_cast<Real>(*row.sink) : -INFINITY;
  for (const auto& key : row.k) {
    Real score = 0;
    for (std::size_t i = 0; i < row.q.size(); ++i) score += static_cast<Real>(row.q[i]) * key[i];
    score *= row.factor();
    row.capped.push_back(row.softcap > 0 ? row.softcap * std::tanh(score / row.softcap) : score);
    row.max = std::max(row.max, row.capped.back());
  }
  Real sum = row.sink ? std::exp(*row.sink - row.max) : Real{0};
  for (const Real c : row.capped) sum += std::exp(c - row.max);
  row.lse = row.max + std::log(sum);
  row.p.clear();
  row.exact.assign(row.v.empty() ? 0 : row.v[0].size(), 0);
  for (std::size_t j = 0; j < row.k.size(); ++j) {
    row.p.push_back(std::exp(row.capped[j] - row.max) / sum);
    for (std::size_t c = 0; c < row.exact.size(); ++c) row.exact[c] += row.p[j] * row.v[j][c];
  }
}

// All rows of a call that see a key.
inline std::vector<Row> rows_of(const Problem& p, const Call& call) {
  std::vector<Row> rows;
  for (int seq = 0; seq < static_cast<int>(p.seqs.size()); ++seq) {
    const Sequence& s = p.seqs[static_cast<std::size_t>(seq)];
    for (int r = 0; r < s.len_q; ++r)
      for (int head = 0; head < p.heads_q; ++head) {
        const int token = p.first_row(seq) + r, head_kv = head / p.group(), position = s.len_kv - s.len_q + r;
        const auto scale = [&](Slot slot) { return static_cast<double>(naive_scale(call, slot, seq, head_kv)); };
        Row row{.token = token,
                .head = head,
                .q_dtype = p.q,
                .cache = p.cache,
                .out = p.out,
                .q = {},
                .k = {},
                .v = {},
                .softmax_scale = p.softmax_scale,
                .q_scale = scale(Slot::QScale),
                .k_scale = p.scales_apply ? scale(Slot::KScale) : 1,
                .v_scale = p.scales_apply ? scale(Slot::VScale) : 1,
                .softcap = p.softcap,
                .sink = {},
                .capped = {},
                .p = {},
                .exact = {},
                .lse = 0,
                .max = 0};
        for (int dim = 0; dim < p.dim; ++dim) row.q.push_back(call.view(Slot::Q).value({token, head, dim}));
        for (int key = 0; key < s.len_kv; ++key) {
          if (!naive_sees(p.mask, position, key)) continue;
          auto& k = row.k.emplace_back();
          auto& v = row.v.emplace_back();
          for (int dim = 0; dim < p.dim; ++dim)
            k.push_back(naive_cached(p, call, Slot::KCache, seq, key, head_kv, dim));
          for (int dim = 0; dim < p.dim_v; ++dim)
            v.push_back(naive_cached(p, call, Slot::VCache, seq, key, head_kv, dim));
        }
        if (row.k.empty()) continue;
        if (call.has(Slot::Sinks)) row.sink = call.view(Slot::Sinks).value({head});
        solve(row);
        rows.push_back(std::move(row));
      }
  }
  return rows;
}

}  // namespace attest::test
