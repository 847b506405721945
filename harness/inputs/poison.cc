#include "harness/inputs/poison.h"

#include <algorithm>
#include <array>
#include <limits>

namespace attest {
namespace {

std::array<std::uint64_t, 4> pattern(DType dtype, Poison kind) {
  if (kind == Poison::Zero) return {};
  if (!is_float(dtype)) {
    if (dtype == DType::U8) return {0xFF, 0x7F, 0xFF, 0x80};
    const std::uint64_t least = dtype == DType::I32 ? 0x80000000 : 0x8000000000000000;
    return {least, least, least, least};
  }
  const FloatFormat& f = format(dtype);
  const std::uint64_t sign = std::uint64_t{1} << (f.exponent_bits + f.mantissa_bits);
  if (kind == Poison::Huge) return {f.max_finite, f.max_finite | sign, f.max_finite | sign, f.max_finite};
  const std::uint64_t nan = encode(dtype, std::numeric_limits<double>::quiet_NaN());
  const std::uint64_t other = f.negative_zero_is_nan ? nan : nan | sign;
  return {nan, other, f.infinity ? f.infinity : nan, other};
}

}  // namespace

void poison(const Tensor& storage, Poison kind) {
  const DType dtype = storage.view().dtype;
  const auto codes = pattern(dtype, kind);
  const std::size_t size = byte_size(dtype);
  const auto bytes = storage.bytes();
  for (std::size_t i = 0; i * size < bytes.size(); ++i) store_code(dtype, &bytes[i * size], codes[i % codes.size()]);
}

}  // namespace attest
