#define TORCH_ASSERT_ONLY_METHOD_OPERATORS
#include "reference/deviation.h"

#include <ATen/ops/bmm.h>
#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/empty.h>

#include <algorithm>
#include <cmath>

// The sanitizers run before the loader may choose.
#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__)
#define ATTEST_FOR_EACH_REGISTER_WIDTH __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define ATTEST_FOR_EACH_REGISTER_WIDTH
#endif

namespace attest {
namespace {

constexpr int kLanes = 32;                       // dims at a time
constexpr std::int64_t kKeys = 256;              // summed in binary32
constexpr double kLost = (kKeys + 4) * 0x1p-24;  // relative, of such a sum

// sum[c] += sum over keys of w |v[c] - o[c]|, for `width` <= kLanes dims; rows of v lie `stride` apart. Each lane does
// the same operations in the same order whatever the registers' width is.
ATTEST_FOR_EACH_REGISTER_WIDTH void add_keys(const float* w, std::int64_t keys, const float* v, std::int64_t stride,
                                             const float* o, double* sum) {
  float part[kLanes] = {}, centre[kLanes];
  for (int c = 0; c < kLanes; ++c) centre[c] = o[c];
  for (std::int64_t j = 0; j < keys; ++j, v += stride) {
    const float weight = w[j];
    if (weight == 0) continue;
    for (int c = 0; c < kLanes; ++c) part[c] += weight * std::abs(v[c] - centre[c]);
  }
  for (int c = 0; c < kLanes; ++c) sum[c] += part[c];
}

// Dims past the last, up to a multiple of kLanes, are 0.
at::Tensor padded(const at::Tensor& t) {
  const std::int64_t width = t.size(2), full = (width + kLanes - 1) / kLanes * kLanes;
  return at::constant_pad_nd(t.to(at::kFloat), {0, full - width}).contiguous();
}

}  // namespace

at::Tensor deviation(const at::Tensor& weights, const at::Tensor& values, const at::Tensor& out) {
  const auto w = weights.contiguous(), v = padded(values), o = padded(out);
  const std::int64_t heads = w.size(0), rows = w.size(1), keys = w.size(2), width = v.size(2);
  auto sums = at::empty({heads, rows, width}, at::kDouble).zero_();
  for (std::int64_t b = 0; b < heads; ++b)
    for (std::int64_t from = 0; from < keys; from += kKeys)  // stays in the cache for all rows
      for (std::int64_t r = 0; r < rows; ++r)
        for (std::int64_t c = 0; c < width; c += kLanes)
          add_keys(w.const_data_ptr<float>() + (b * rows + r) * keys + from, std::min(kKeys, keys - from),
                   v.const_data_ptr<float>() + (b * keys + from) * width + c, width,
                   o.const_data_ptr<float>() + (b * rows + r) * width + c,
                   sums.mutable_data_ptr<double>() + (b * rows + r) * width + c);
  const auto sum = sums.narrow(2, 0, values.size(2));
  // Roundings of v and o to binary32 are relative to them, those of the sum to it.
  const auto sizes = at::bmm(w, values.to(at::kFloat).abs()).add_(w.sum(-1, true).mul(out.to(at::kFloat).abs()));
  return sum.mul(1 + kLost).add_(sizes.mul_(0x1p-23));
}

}  // namespace attest
