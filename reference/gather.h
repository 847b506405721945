// The tensors of one sequence as LibTorch sees them: K and V collected from their pages and dequantised, q, scales,
// sinks and the mask. Values are exact; scales are kept apart, as factors of the whole product.
#pragma once

#include "harness/core/call.h"
#include "harness/core/problem.h"

#include <ATen/core/Tensor.h>

namespace attest {

struct HeadRange {
  std::int64_t begin, count;  // KV heads
};

// K and V of some heads of a sequence, from their pages.
class CacheReader {
 public:
  // cast_to_q: rounded to q's dtype on the way, as some contracts say.
  CacheReader(const Problem& problem, const Call& call, bool cast_to_q)
      : problem_(problem), call_(call), cast_to_q_(cast_to_q) {}
  at::Tensor keys(int seq, HeadRange heads) const;    // f64 [heads, len_kv, dim]
  at::Tensor values(int seq, HeadRange heads) const;  // f64 [heads, len_kv, dim_v]
  at::Tensor keys(int seq) const { return keys(seq, {0, problem_.heads_kv}); }
  at::Tensor values(int seq) const { return values(seq, {0, problem_.heads_kv}); }

 private:
  at::Tensor gather(Slot slot, const CachePlace& place, int seq, HeadRange heads) const;

  const Problem& problem_;
  const Call& call_;
  bool cast_to_q_;
};

at::Tensor queries(const Problem& problem, const Call& call,
                   int seq);  // f64 [heads_kv, len_q * group, dim], rows by (row, head)
at::Tensor score_factors(const Problem& problem, const Call& call,
                         int seq);          // f64 [heads_kv]: softmax scale * scales of q and k
bool rounds(const Call& call, Slot scale);  // is a product with it inexact: is one of the scales no power of two?
at::Tensor value_factors(const Problem& problem, const Call& call, int seq);  // f64 [heads_kv]: scale of v
at::Tensor sinks(const Problem& problem, const Call& call);  // f64 [heads_kv, group], undefined without sinks
at::Tensor hidden(const Problem& problem, int seq);  // bool [len_q * group, len_kv]: keys that a row does not see

}  // namespace attest
