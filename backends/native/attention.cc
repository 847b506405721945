#define TORCH_ASSERT_ONLY_METHOD_OPERATORS
#include "backends/native/native.h"

#include <ATen/ops/_fused_sdp_choice.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/scaled_dot_product_attention.h>

#include <cmath>

namespace attest::native {
namespace {

// [heads_kv, len, dim] of one sequence, in the cache's dtype.
at::Tensor gather(const Call& call, attest_slot slot, std::int64_t seq, std::int64_t length) {
  const std::int64_t page_size = call.problem.page_size, pages = (length + page_size - 1) / page_size;
  const auto table = view_of(call.at(ATTEST_PAGE_TABLE))[seq].narrow(0, 0, pages).to(at::kLong);
  // The cache is [page, slot, head, dim]. index_select knows no FP8: it moves the bytes.
  const auto cache = view_of(call.at(slot));
  const auto bytes = cache.element_size() == 1 ? cache.view(at::kByte) : cache;
  return bytes.index_select(0, table).view(cache.scalar_type()).flatten(0, 1).narrow(0, 0, length).transpose(0, 1);
}

// True where the row sees the key; undefined where SDPA needs no mask.
at::Tensor mask(const attest_problem& p, std::int64_t rows, std::int64_t keys) {
  const bool decode_sees_all = p.causal && rows == 1 && p.chunk == 0;
  const bool unbounded = p.window_left < 0 && p.window_right < 0 && p.chunk == 0;
  if (unbounded && (!p.causal || decode_sees_all)) return {};
  const auto position = at::arange(keys - rows, keys, at::kLong).unsqueeze(1),
             key = at::arange(keys, at::kLong).unsqueeze(0);
  auto seen = key.ge(0).expand({rows, keys});
  if (p.causal) seen = seen.logical_and(key.le(position));
  if (p.window_left >= 0) seen = seen.logical_and(key.ge(position.sub(p.window_left)));
  if (p.window_right >= 0) seen = seen.logical_and(key.le(position.add(p.window_right)));
  if (p.chunk > 0) seen = seen.logical_and(key.ge(position.sub(position.remainder(p.chunk))));
  return seen;
}

// q [heads, rows, dim], k and v [heads_kv, keys, dim] -> [heads, rows, dim_v].
at::Tensor sdpa(Call& call, const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, const at::Tensor& seen,
                double scale) {
  const bool grouped = q.size(0) != k.size(0);
  const bool causal = call.problem.causal && !seen.defined() && q.size(1) > 1;
  const std::optional<at::Tensor> attn_mask = seen.defined() ? std::optional(seen) : std::nullopt;
  const auto out = at::scaled_dot_product_attention(q.unsqueeze(0), k.unsqueeze(0), v.unsqueeze(0), attn_mask, 0.0,
                                                    causal, scale, grouped);
  if (k.size(1) == 0) return out.squeeze(0);  // SDPA returned zeros before it chose a kernel
  const bool flash = at::_fused_sdp_choice(q.unsqueeze(0), k.unsqueeze(0), v.unsqueeze(0), attn_mask, 0.0, causal,
                                           scale, grouped) == 1;
  const char* ran = flash ? "flash" : "math";
  if (call.ran.empty())
    call.ran = ran;
  else if (call.ran != ran)
    call.ran = "flash and math";
  return out.squeeze(0);
}

bool per_head(const attest_tensor* scale) { return scale && scale->shape[scale->ndim - 1] > 1; }

at::Tensor attend_sequence(Call& call, std::int64_t seq, const at::Tensor& q, std::int64_t length) {
  const attest_problem& p = call.problem;
  auto k = gather(call, ATTEST_K_CACHE, seq, length), v = gather(call, ATTEST_V_CACHE, seq, length);
  if (call.cast) {
    k = k.to(q.scalar_type());
    v = v.to(q.scalar_type());
  }
  const auto *q_scale = call.find(ATTEST_Q_SCALE), *k_scale = call.find(ATTEST_K_SCALE),
             *v_scale = call.find(ATTEST_V_SCALE);
  const auto seen = mask(p, q.size(1), length);
  const auto scaled = [&](const at::Tensor& q_heads, const at::Tensor& k_heads, const at::Tensor& v_heads,
                          std::int64_t head_kv) {
    const double scale = p.softmax_scale * plugin::scale(k_scale, seq, head_kv) * plugin::scale(q_scale, seq, head_kv);
    const auto out = sdpa(call, q_heads, k_heads, v_heads, seen, scale);
    return v_scale ? out.to(at::kFloat).mul(plugin::scale(v_scale, seq, head_kv)).to(out.scalar_type()) : out;
  };
  if (!per_head(k_scale) && !per_head(v_scale) && !per_head(q_scale)) return scaled(q, k, v, 0);
  std::vector<at::Tensor> heads;  // SDPA takes one scale a call
  const std::int64_t group = p.heads_q / p.heads_kv;
  for (std::int64_t head = 0; head < p.heads_kv; ++head)
    heads.push_back(scaled(q.narrow(0, head * group, group), k.narrow(0, head, 1), v.narrow(0, head, 1), head));
  return at::cat(heads, 0);
}

}  // namespace

void attend(Call& call) {
  const auto q = view_of(call.at(ATTEST_Q)), out = view_of(call.at(ATTEST_OUT));
  call.ran.clear();
  for (std::int64_t seq = 0; seq < call.problem.num_seqs; ++seq) {
    const std::int64_t first = plugin::integer(call.at(ATTEST_CU_LEN_Q), seq),
                       rows = plugin::integer(call.at(ATTEST_CU_LEN_Q), seq + 1) - first;
    const std::int64_t length = plugin::integer(call.at(ATTEST_LEN_KV), seq);
    if (rows == 0) continue;
    call.out = attend_sequence(call, seq, q.narrow(0, first, rows).transpose(0, 1), length);
    out.narrow(0, first, rows).copy_(call.out.transpose(0, 1));
  }
}

}  // namespace attest::native
