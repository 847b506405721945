// The tensors of one sequence as LibTorch sees them: K and V collected from their pages and dequantised, q, scales,
// sinks and the mask. Values are exact; scales are kept apart, as factors of the whole product.
#pragma once

#include "harness/core/call.h"
#include "harness/core/problem.h"

#include <ATen/core/Tensor.h>

#include <vector>

namespace attest {

// All caches decoded once for a call; sequences are then gathered from them.
class CacheReader {
 public:
  CacheReader(const Problem& problem, const Call& call, bool cast_to_q);
  at::Tensor keys(int seq) const;    // f64 [heads_kv, len_kv, dim]
  at::Tensor values(int seq) const;  // f64 [heads_kv, len_kv, dim_v]

 private:
  at::Tensor gather(const std::vector<double>& storage, const CachePlace& place, int seq) const;

  const Problem& problem_;
  const Call& call_;
  std::vector<double> k_, v_;
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
