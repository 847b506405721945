// The number formats of attention kernels, and exact conversions between them and binary64.
//
// Every conversion is written on integers, from the format's own parameters, so that it does not
// depend on rounding modes, flush-to-zero, or a compiler's idea of a narrow float. Rounding is to
// nearest, ties to even, and happens once: encode() takes a double, so a value that was computed in
// float is rounded straight to the target. Formats: OCP OFP8 (e4m3fn, e5m2), the fnuz pair of AMD's
// CDNA3, IEEE binary16/32/64 and bfloat16. Block formats (q8_0, q4_0) are opaque here.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace attest {

// The values are part of the plug-in ABI (backends/abi.h): append, never renumber.
enum class DType : std::int32_t { F64, F32, F16, BF16, E4M3FN, E5M2, E4M3FNUZ, E5M2FNUZ, Q8_0, Q4_0, I32, I64, U8 };

enum class Overflow {
  Ieee,      // past the largest finite value: Inf, or NaN where the format has no Inf
  Saturate,  // finite overflow and Inf both become the largest finite value (CUDA's SATFINITE)
};

// A binary floating-point format of at most 64 bits, sign included.
struct FloatFormat {
  int exponent_bits;
  int mantissa_bits;  // stored, without the hidden bit
  int bias;
  std::uint64_t max_finite;   // magnitude code of the largest finite value
  std::uint64_t infinity;     // magnitude code, 0 where the format has none
  std::uint64_t quiet_nan;    // magnitude code of the NaN that encode() makes
  bool negative_zero_is_nan;  // fnuz: the code of -0 is the only NaN

  int precision() const { return mantissa_bits + 1; }
  // Unit roundoff 2^-p and half the smallest subnormal: |round(x) - x| <= max(u |x|, eta).
  double unit_roundoff() const;
  double eta() const;
  double max_value() const;
};

bool is_float(DType dtype);  // a format that encode() and decode() know
bool is_fp8(DType dtype);

[[noreturn]] void throw_no_element_size(DType dtype);
// Bytes an element; block formats have none (throws std::invalid_argument).
inline std::size_t byte_size(DType dtype) {
  constexpr std::array<unsigned char, 13> kBytes{8, 4, 2, 2, 1, 1, 1, 1, 0, 0, 4, 8, 1};
  const std::size_t bytes = kBytes[static_cast<std::size_t>(dtype)];
  if (bytes == 0) throw_no_element_size(dtype);
  return bytes;
}

std::string_view name(DType dtype);  // the token's name: "f32", "fp8_e4m3", ...
std::optional<DType> dtype_from_name(std::string_view name);

const FloatFormat& format(DType dtype);  // throws std::invalid_argument for a dtype that is not a float

// Rounds `value` to the format, once. NaN keeps its sign where the format has signed NaNs.
std::uint64_t encode(DType dtype, double value, Overflow overflow = Overflow::Ieee);
// The exact value of a code; every format here is a subset of binary64.
double decode(DType dtype, std::uint64_t code);
// encode, then decode.
double round_to(DType dtype, double value, Overflow overflow = Overflow::Ieee);

// Whole arrays, contiguous. `bytes` holds codes in the machine's byte order.
void encode_array(DType dtype, std::span<const double> values, void* bytes, Overflow overflow = Overflow::Ieee);
void decode_array(DType dtype, const void* bytes, std::span<double> values);
void decode_array(DType dtype, const void* bytes, std::span<float> values);  // exact but for F64

// One element at `bytes`.
std::uint64_t load_code(DType dtype, const void* bytes);
void store_code(DType dtype, void* bytes, std::uint64_t code);

}  // namespace attest
