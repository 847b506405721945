// Conversions held to three implementations that share nothing with ours: LibTorch, Eigen, and (where a CUDA
// toolkit is installed) cuda_fp8.h on the host. Every code, and every binary32 rounding boundary.
#include "harness/core/dtype.h"
#include "tests/core/boundaries.h"

#define TORCH_ASSERT_ONLY_METHOD_OPERATORS
#include <ATen/core/Tensor.h>
#include <ATen/ops/from_blob.h>
#include <gtest/gtest.h>
#include <Eigen/Core>

#ifdef ATTEST_HAVE_CUDA_FP8
#include <cuda_fp8.h>
#endif

namespace attest {
namespace {

using test::boundaries;
using test::narrow_formats;

at::ScalarType torch_dtype(DType dtype) {
  switch (dtype) {
    case DType::F16: return at::kHalf;
    case DType::BF16: return at::kBFloat16;
    case DType::E4M3FN: return at::kFloat8_e4m3fn;
    case DType::E5M2: return at::kFloat8_e5m2;
    case DType::E4M3FNUZ: return at::kFloat8_e4m3fnuz;
    default: return at::kFloat8_e5m2fnuz;
  }
}

// Boundaries of either sign, far overflow, and the special values.
std::vector<float> probes(DType dtype) {
  std::vector<float> all;
  for (const auto& boundary : boundaries(dtype)) {
    all.push_back(boundary.value);
    all.push_back(-boundary.value);
  }
  const auto top = static_cast<float>(format(dtype).max_value());
  for (const float x : {top * 1.03F, top * 1.2F, top * 2, 1e30F, 3e38F, std::numeric_limits<float>::infinity()}) {
    all.push_back(x);
    all.push_back(-x);
  }
  all.push_back(std::numeric_limits<float>::quiet_NaN());
  return all;
}

bool same(DType dtype, std::uint64_t a, std::uint64_t b) {
  return a == b || (std::isnan(decode(dtype, a)) && std::isnan(decode(dtype, b)));
}

TEST(DTypePeers, LibTorchReadsEveryCodeAlike) {
  for (const DType dtype : narrow_formats()) {
    const std::size_t size = byte_size(dtype), count = std::size_t{1} << (8 * size);
    std::vector<std::byte> codes(count * size);
    for (std::size_t code = 0; code < count; ++code) store_code(dtype, &codes[code * size], code);
    const auto theirs =
        at::from_blob(codes.data(), {static_cast<std::int64_t>(count)}, torch_dtype(dtype)).to(at::kFloat);
    for (std::size_t code = 0; code < count; ++code) {
      const float value = theirs.const_data_ptr<float>()[code];
      const double ours = decode(dtype, code);
      ASSERT_TRUE(value == ours || (std::isnan(value) && std::isnan(ours))) << name(dtype) << " code " << code;
    }
  }
}

TEST(DTypePeers, LibTorchRoundsEveryBoundaryAlike) {
  for (const DType dtype : narrow_formats()) {
    auto values = probes(dtype);
    const auto theirs =
        at::from_blob(values.data(), {static_cast<std::int64_t>(values.size())}, at::kFloat).to(torch_dtype(dtype));
    const auto* codes = static_cast<const std::byte*>(theirs.const_data_ptr());
    for (std::size_t i = 0; i < values.size(); ++i) {
      const std::uint64_t theirs_code = load_code(dtype, codes + i * byte_size(dtype));
      // LibTorch 2.13 saturates e4m3fn and leaves the others to Inf or NaN.
      const auto overflow = dtype == DType::E4M3FN ? Overflow::Saturate : Overflow::Ieee;
      ASSERT_TRUE(same(dtype, encode(dtype, values[i], overflow), theirs_code))
          << name(dtype) << " " << values[i] << ": " << encode(dtype, values[i], overflow) << " against "
          << theirs_code;
    }
  }
}

TEST(DTypePeers, EigenAgrees) {
  for (const float value : probes(DType::F16))
    ASSERT_TRUE(same(DType::F16, encode(DType::F16, value), Eigen::numext::bit_cast<std::uint16_t>(Eigen::half(value))))
        << value;
  for (const float value : probes(DType::BF16))
    ASSERT_TRUE(
        same(DType::BF16, encode(DType::BF16, value), Eigen::numext::bit_cast<std::uint16_t>(Eigen::bfloat16(value))))
        << value;
  for (unsigned code = 0; code < 65536; ++code) {
    const float half = static_cast<float>(Eigen::numext::bit_cast<Eigen::half>(static_cast<std::uint16_t>(code)));
    const float bf16 = static_cast<float>(Eigen::numext::bit_cast<Eigen::bfloat16>(static_cast<std::uint16_t>(code)));
    ASSERT_TRUE(half == decode(DType::F16, code) || std::isnan(half)) << code;
    ASSERT_EQ(std::isnan(half), std::isnan(decode(DType::F16, code))) << code;
    ASSERT_TRUE(bf16 == decode(DType::BF16, code) || std::isnan(bf16)) << code;
    ASSERT_EQ(std::isnan(bf16), std::isnan(decode(DType::BF16, code))) << code;
  }
}

TEST(DTypePeers, CudaHeadersAgree) {
#ifdef ATTEST_HAVE_CUDA_FP8
  for (const DType dtype : {DType::E4M3FN, DType::E5M2}) {
    const auto kind = dtype == DType::E4M3FN ? __NV_E4M3 : __NV_E5M2;
    for (const float value : probes(dtype)) {
      ASSERT_TRUE(
          same(dtype, encode(dtype, value, Overflow::Saturate), __nv_cvt_float_to_fp8(value, __NV_SATFINITE, kind)))
          << value;
      ASSERT_TRUE(same(dtype, encode(dtype, value, Overflow::Ieee), __nv_cvt_float_to_fp8(value, __NV_NOSAT, kind)))
          << value;
    }
    for (unsigned code = 0; code < 256; ++code) {
      const auto half = __nv_cvt_fp8_to_halfraw(static_cast<__nv_fp8_storage_t>(code), kind);
      const double theirs = decode(DType::F16, half.x), ours = decode(dtype, code);
      ASSERT_TRUE(theirs == ours || (std::isnan(theirs) && std::isnan(ours))) << name(dtype) << " code " << code;
    }
  }
#else
  GTEST_SKIP() << "no CUDA toolkit on this machine";
#endif
}

}  // namespace
}  // namespace attest
