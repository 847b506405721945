// Attention once more, as plainly as it can be written, in long double: no tensors, no blocks, no shared masks. What
// the reference is held to; it shares nothing with it but the call it reads.
#pragma once

#include "harness/core/call.h"
#include "harness/core/problem.h"

#include <cmath>
#include <vector>

namespace attest::test {

struct NaiveRow {
  std::vector<long double> out;  // of one (row, query head)
  long double lse;
  std::vector<long double> scores, p;  // by key, hidden ones -inf and 0
};

inline long double naive_scale(const Call& call, Slot slot, int seq, int head) {
  if (!call.has(slot)) return 1;
  const TensorView t = call.view(slot);
  if (t.shape.size() == 2) return t.value({seq, head});
  return t.value({t.shape[0] == 1 ? 0 : head});
}

inline bool naive_sees(const Mask& mask, int position, int key) {
  switch (mask.kind) {
    case Mask::Kind::Full: return true;
    case Mask::Kind::Causal: return key <= position;
    case Mask::Kind::Window:
      return (mask.left < 0 || key >= position - mask.left) && (mask.right < 0 || key <= position + mask.right);
    case Mask::Kind::Chunk: return key <= position && (position < 0 || key / mask.chunk == position / mask.chunk);
  }
  return false;
}

inline double naive_cached(const Problem& p, const Call& call, Slot slot, int seq, int key, int head, int dim) {
  const auto page = call.view(Slot::PageTable).integer({seq, key / p.page_size});
  const CachePlace& place = slot == Slot::KCache ? call.layout.k : call.layout.v;
  const Tensor& storage = call.storages[call.ref(slot).storage];
  const auto at = static_cast<std::size_t>(place.index(page, key % p.page_size, head, dim));
  return decode(p.cache, load_code(p.cache, storage.bytes().data() + at * byte_size(p.cache)));
}

inline NaiveRow naive_row(const Problem& p, const Call& call, int seq, int row, int head) {
  const Sequence& s = p.seqs[static_cast<std::size_t>(seq)];
  const int token = p.first_row(seq) + row, head_kv = head / (p.heads_q / p.heads_kv),
            position = s.len_kv - s.len_q + row;
  NaiveRow result{
      .out = std::vector<long double>(static_cast<std::size_t>(p.dim_v), 0), .lse = 0, .scores = {}, .p = {}};
  long double most = -INFINITY;
  for (int key = 0; key < s.len_kv; ++key) {
    long double score = -INFINITY;
    if (naive_sees(p.mask, position, key)) {
      score = 0;
      for (int dim = 0; dim < p.dim; ++dim)
        score += static_cast<long double>(call.view(Slot::Q).value({token, head, dim})) *
                 naive_cached(p, call, Slot::KCache, seq, key, head_kv, dim);
      score *= p.softmax_scale * naive_scale(call, Slot::QScale, seq, head_kv) *
               (p.scales_apply ? naive_scale(call, Slot::KScale, seq, head_kv) : 1);
      if (p.softcap > 0) score = p.softcap * std::tanh(score / p.softcap);
    }
    result.scores.push_back(score);
    most = std::max(most, score);
  }
  const long double sink =
      call.has(Slot::Sinks) ? static_cast<long double>(call.view(Slot::Sinks).value({head})) : -INFINITY;
  most = std::max(most, sink);
  long double sum = most == -INFINITY ? 0 : std::exp(sink - most);
  for (const long double score : result.scores) result.p.push_back(most == -INFINITY ? 0 : std::exp(score - most));
  for (const long double weight : result.p) sum += weight;
  result.lse = sum > 0 ? most + std::log(sum) : -INFINITY;
  for (int key = 0; key < s.len_kv; ++key) {
    auto& weight = result.p[static_cast<std::size_t>(key)];
    weight = sum > 0 ? weight / sum : 0;
    if (weight == 0) continue;
    for (int dim = 0; dim < p.dim_v; ++dim)
      result.out[static_cast<std::size_t>(dim)] += weight *
                                                   naive_cached(p, call, Slot::VCache, seq, key, head_kv, dim) *
                                                   (p.scales_apply ? naive_scale(call, Slot::VScale, seq, head_kv) : 1);
  }
  return result;
}

}  // namespace attest::test
