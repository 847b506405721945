#include "harness/study/selftest/rules.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace attest {
namespace {

using C = Compared;

bool fp8_anywhere(const C& c) { return is_fp8(c.problem.q) || is_fp8(c.problem.cache); }

// torch.testing.assert_close: |actual - right| <= atol + rtol |right| for every element, or for a share of them.
bool close(const C& c, double atol, double rtol, double share = 1) {
  std::size_t far = 0;
  for (std::size_t i = 0; i < c.actual.size(); ++i)
    far += !(std::abs(c.actual[i] - c.right[i]) <= atol + rtol * std::abs(c.right[i]));
  return static_cast<double>(far) <= (1 - share) * static_cast<double>(c.actual.size());
}

struct Error {
  double largest = 0, mean = 0;
};

// Of x beside the reference rounded to T, which is what FlashAttention compares with.
Error error_of(const C& c, const std::vector<double>& x) {
  const DType t = low_precision_dtype(c.problem);
  Error e;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double error = std::abs(x[i] - round_to(t, c.right[i]));
    e.largest = std::isnan(error) || std::isnan(e.largest) ? NAN : std::max(e.largest, error);
    e.mean += error / static_cast<double>(x.size());
  }
  return e;
}

struct Sums {
  double xx = 0, yy = 0, xy = 0, dd = 0, d = 0;
};

Sums sums(const C& c) {
  Sums s;
  for (std::size_t i = 0; i < c.actual.size(); ++i) {
    const double x = c.actual[i], y = c.right[i];
    s.xx += x * x;
    s.yy += y * y;
    s.xy += x * y;
    s.dd += (x - y) * (x - y);
    s.d += x - y;
  }
  return s;
}

bool flash_attention_2(const C& c) { return error_of(c, c.actual).largest <= 2 * error_of(c, c.low).largest; }

bool flash_attention_3(const C& c) {
  const bool fp8 = is_fp8(c.problem.q);
  const Error e = error_of(c, c.actual), low = error_of(c, c.low);
  return e.largest <= (fp8 ? 4 : 2) * low.largest + 1e-5 && e.mean <= (fp8 ? 3 : 1.5) * low.mean;
}

bool vllm(const C& c) { return fp8_anywhere(c) ? close(c, 1.5e-1, 1.5e-1) : close(c, 1.5e-2, 1e-2); }
bool sglang(const C& c) { return close(c, 3e-2, 3e-2); }

bool flashinfer(const C& c) {
  if (fp8_anywhere(c)) return close(c, 1e-1, 1e-1);
  return c.problem.q == DType::F16 ? close(c, 1e-3, 1e-3) : close(c, 1e-2, 1e-2);
}

bool flashinfer_xqa(const C& c) {
  std::size_t far = 0;
  for (std::size_t i = 0; i < c.actual.size(); ++i) {
    const double error = std::abs(c.actual[i] - c.right[i]);
    far += !(error <= 0.05 || error <= 0.05 * std::abs(c.right[i]));
  }
  return static_cast<double>(far) <= 0.02 * static_cast<double>(c.actual.size());
}

bool tensorrt_llm(const C& c) {
  if (fp8_anywhere(c)) return close(c, 4e-1, 0);
  return c.problem.q == DType::F16 ? close(c, 1e-2, 1e-3) : close(c, 3e-2, 3e-3);
}

bool cudnn_frontend(const C& c) { return close(c, 2e-2, 2e-2); }

bool llama_cpp(const C& c) {
  const Sums s = sums(c);
  return s.dd / s.yy <= 5e-4;
}

bool onednn(const C& c) {
  const double fthr = c.problem.q == DType::F16 ? 0.001466 : 0x1p-7, floor = 64 * 0x1p-23 * c.max_v;
  for (std::size_t i = 0; i < c.actual.size(); ++i)
    if (!(std::abs(c.actual[i] - c.right[i]) <= std::min(fthr * c.absmag[i] + floor, 0.03))) return false;
  const Sums s = sums(c);
  const double bias = std::abs(s.d) / static_cast<double>(c.actual.size());
  return std::sqrt(s.dd) <= 8 * fthr * std::sqrt(s.yy) && bias <= 0.5 * fthr * c.max_v;
}

bool tpu_inference(const C& c) {
  const double tolerance = c.problem.q == DType::F32 && !fp8_anywhere(c) ? 0.15 : 0.2;
  return close(c, tolerance, tolerance);
}

bool cosine(const C& c) {
  const Sums s = sums(c);
  return s.xy > 0.99 * std::sqrt(s.xx) * std::sqrt(s.yy);
}

bool deepgemm(const C& c) {
  const Sums s = sums(c);
  return s.xx + s.yy == 0 || 1 - 2 * s.xy / (s.xx + s.yy) < 1e-3;
}

bool torch_defaults(const C& c) {
  switch (c.problem.out) {
    case DType::F16: return close(c, 1e-5, 1e-3);
    case DType::BF16: return close(c, 1e-5, 1.6e-2);
    default: return close(c, 1e-5, 1.3e-6);
  }
}

constexpr std::array<OtherRule, 14> kRules{{
    {"FlashAttention-2", "max|o - ref| <= 2 max|pt - ref|", "flash-attention tests/test_flash_attn.py @0251105",
     flash_attention_2},
    {"FlashAttention-3", "max <= 2 (FP8: 4) times pt's + 1e-5, mean <= 1.5 (3) times pt's",
     "flash-attention hopper/test_flash_attn.py:1034-1051 @0251105, kvcache", flash_attention_3},
    {"vLLM", "atol 1.5e-2, rtol 1e-2; FP8 0.15, 0.15", "vllm tests/kernels/attention/test_flash_attn.py", vllm},
    {"SGLang", "atol = rtol = 3e-2", "sglang test/registered/attention/unittest, dense", sglang},
    {"FlashInfer", "atol = rtol: f16 1e-3, bf16 1e-2, FP8 1e-1",
     "flashinfer tests/attention/test_trtllm_gen_attention_decode.py:999-1095", flashinfer},
    {"FlashInfer xqa", "98 % of elements within 0.05, absolute or relative",
     "flashinfer tests/attention/test_xqa.py:440-463", flashinfer_xqa},
    {"TensorRT-LLM", "f16 1e-2, 1e-3; bf16 3e-2, 3e-3; FP8 atol 0.4",
     "TensorRT-LLM attention unit suite, backend_case.py", tensorrt_llm},
    {"cuDNN frontend", "atol = rtol = 2e-2", "cudnn-frontend test/python/test_mhas_v2.py", cudnn_frontend},
    {"llama.cpp", "NMSE <= 5e-4", "llama.cpp tests/test-backend-ops.cpp, FLASH_ATTN_EXT", llama_cpp},
    {"oneDNN",
     "|d| <= min(f absmag + 64 eps max|V|, 0.03), rel. L2 <= 8 f, |bias| <= f max|V| / 2; f 2^-7, f16 0.001466",
     "oneDNN tests/gtests/internals/test_sdpa.cpp:2036-2147, check_memory", onednn},
    {"tpu-inference", "atol = rtol: f32 0.15, bf16 and FP8 0.2",
     "tpu-inference tests/kernels/ragged_paged_attention_kernel_v3_test.py", tpu_inference},
    {"cosine", "cosine > 0.99", "flash-attention tests/cute/test_flash_attn.py:2371-2404", cosine},
    {"DeepGEMM", "1 - 2<x,y> / (|x|^2 + |y|^2) < 1e-3", "DeepGEMM deep_gemm/testing/numeric.py, calc_diff", deepgemm},
    {"torch defaults", "atol 1e-5, rtol: f16 1e-3, bf16 1.6e-2, f32 1.3e-6", "torch.testing.assert_close",
     torch_defaults},
}};

}  // namespace

std::span<const OtherRule> other_rules() { return kRules; }

std::optional<LowPrecision> prepare_rules(const Subject& subject) {
  if (subject.prepared.problem.op != Op::Attend) return std::nullopt;
  return low_precision(subject.prepared.problem, subject.prepared.call,
                       call_rules(*subject.contract, subject.c).k_to_q);
}

std::vector<bool> refusals(const Subject& subject, const LowPrecision& low, const Outputs& left) {
  const auto rules = other_rules();
  if (left.reply.status == Reply::Status::Unsupported) return std::vector<bool>(rules.size(), false);
  if (!left.reply.ok()) return std::vector<bool>(rules.size(), true);
  const ExpectedTensor& right = subject.right.values.out;
  const Element actual = elements_of(view(left, subject.prepared.call, Slot::Out));
  Compared c{
      .problem = subject.prepared.problem, .actual = {}, .right = {}, .low = {}, .absmag = {}, .max_v = low.max_v};
  bool special = false;
  for (int row = 0; row < right.rows; ++row)
    for (int head = 0; head < right.heads; ++head)
      for (int dim = 0; dim < right.dim; ++dim) {
        const std::size_t at = right.index(row, head, dim);
        if (!std::isfinite(right.value[at]) || std::isinf(right.bound[at])) continue;
        c.actual.push_back(actual(row, head, dim));
        c.right.push_back(right.value[at]);
        c.low.push_back(low.out[at]);
        c.absmag.push_back(low.absmag[at]);
        special |= !std::isfinite(c.actual.back());
      }
  std::vector<bool> refused;
  for (const OtherRule& rule : rules) refused.push_back(special || !rule.accepts(c));
  return refused;
}

}  // namespace attest
