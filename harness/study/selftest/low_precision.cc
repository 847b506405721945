#define TORCH_ASSERT_ONLY_METHOD_OPERATORS
#include "harness/study/selftest/low_precision.h"

#include "reference/gather.h"

#include <ATen/core/Tensor.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/nan_to_num.h>
#include <ATen/ops/softmax.h>

#include <cmath>

namespace attest {
namespace {

at::ScalarType scalar_type(DType dtype) {
  switch (dtype) {
    case DType::F16: return at::kHalf;
    case DType::BF16: return at::kBFloat16;
    case DType::E4M3FN: return at::kFloat8_e4m3fn;
    default: return at::kFloat;
  }
}

at::Tensor rounded(const at::Tensor& x, DType dtype) { return x.to(scalar_type(dtype)).to(at::kDouble); }

// softmax over keys, and over the sink as one more key that has no V.
at::Tensor probabilities(const at::Tensor& scores, const at::Tensor& sink) {
  if (!sink.defined()) return at::nan_to_num(at::softmax(scores, -1), 0);
  const auto rows = scores.size(1), groups = sink.size(1);
  const auto column = sink.repeat({1, rows / groups}).unsqueeze(-1);  // rows by (row, head of the group)
  const auto p = at::softmax(at::cat({scores, column}, -1), -1);
  return p.narrow(-1, 0, scores.size(-1));
}

struct Operands {
  at::Tensor q, k, v, factor, value_factor, hide, sink;  // f64
};

void store(const Problem& p, int seq, const at::Tensor& values, std::vector<double>& to) {
  const auto dense = values.contiguous();
  const double* from = dense.const_data_ptr<double>();
  const int rows = p.seqs[static_cast<std::size_t>(seq)].len_q, group = p.group();
  for (int head = 0; head < p.heads_kv; ++head)
    for (int row = 0; row < rows; ++row)
      for (int g = 0; g < group; ++g)
        for (int dim = 0; dim < p.dim_v; ++dim)
          to[static_cast<std::size_t>(((p.first_row(seq) + row) * p.heads_q + head * group + g) * p.dim_v + dim)] =
              *from++;
}

void attend_sequence(const Problem& p, const Operands& s, int seq, LowPrecision& to) {
  const DType t = low_precision_dtype(p);
  const auto v = s.v.mul(s.value_factor.view({-1, 1, 1})), k = s.k.mul(s.factor.view({-1, 1, 1}));
  const auto low_k = rounded(k, t), low_v = rounded(v, t);
  auto low = rounded(at::matmul(s.q, low_k.transpose(1, 2)), t);
  auto exact = at::matmul(s.q, k.transpose(1, 2));
  if (p.softcap > 0) {
    low = rounded(rounded(rounded(low.div(p.softcap), t).tanh(), t).mul(p.softcap), t);
    exact = exact.div(p.softcap).tanh().mul(p.softcap);
  }
  low = low.masked_fill(s.hide, -INFINITY);
  exact = exact.masked_fill(s.hide, -INFINITY);
  auto weights = rounded(probabilities(low, s.sink), t);
  if (is_fp8(p.q)) weights = rounded(weights, DType::E4M3FN);
  store(p, seq, rounded(at::matmul(weights, low_v), t), to.out);
  store(p, seq, at::matmul(probabilities(exact, s.sink), v.abs()), to.absmag);
  to.max_v = std::max(to.max_v, v.abs().max().item().toDouble());
}

}  // namespace

DType low_precision_dtype(const Problem& problem) { return is_fp8(problem.q) ? DType::BF16 : problem.q; }

LowPrecision low_precision(const Problem& p, const Call& call, bool cast_to_q) {
  const std::size_t elements =
      static_cast<std::size_t>(p.total_q) * static_cast<std::size_t>(p.heads_q) * static_cast<std::size_t>(p.dim_v);
  LowPrecision to{.out = std::vector<double>(elements), .absmag = std::vector<double>(elements)};
  const CacheReader cache(p, call, cast_to_q);
  const auto sink = sinks(p, call);
  for (int seq = 0; seq < static_cast<int>(p.seqs.size()); ++seq) {
    const Sequence& s = p.seqs[static_cast<std::size_t>(seq)];
    if (s.len_q == 0 || s.len_kv == 0) continue;
    attend_sequence(p,
                    {.q = queries(p, call, seq),
                     .k = cache.keys(seq),
                     .v = cache.values(seq),
                     .factor = score_factors(p, call, seq),
                     .value_factor = value_factors(p, call, seq),
                     .hide = hidden(p, seq),
                     .sink = sink},
                    seq, to);
  }
  return to;
}

}  // namespace attest
