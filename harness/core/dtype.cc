#include "harness/core/dtype.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

namespace attest {
namespace {

struct Entry {
  DType dtype;
  std::string_view name;
  std::optional<FloatFormat> format;
};

constexpr std::array<Entry, 13> kTable{{
    {DType::F64, "f64", FloatFormat{11, 52, 1023, 0x7FEFFFFFFFFFFFFF, 0x7FF0000000000000, 0x7FF8000000000000, false}},
    {DType::F32, "f32", FloatFormat{8, 23, 127, 0x7F7FFFFF, 0x7F800000, 0x7FC00000, false}},
    {DType::F16, "f16", FloatFormat{5, 10, 15, 0x7BFF, 0x7C00, 0x7E00, false}},
    {DType::BF16, "bf16", FloatFormat{8, 7, 127, 0x7F7F, 0x7F80, 0x7FC0, false}},
    {DType::E4M3FN, "fp8_e4m3", FloatFormat{4, 3, 7, 0x7E, 0, 0x7F, false}},
    {DType::E5M2, "fp8_e5m2", FloatFormat{5, 2, 15, 0x7B, 0x7C, 0x7F, false}},
    {DType::E4M3FNUZ, "fp8_e4m3fnuz", FloatFormat{4, 3, 8, 0x7F, 0, 0, true}},
    {DType::E5M2FNUZ, "fp8_e5m2fnuz", FloatFormat{5, 2, 16, 0x7F, 0, 0, true}},
    {DType::Q8_0, "q8_0", std::nullopt},
    {DType::Q4_0, "q4_0", std::nullopt},
    {DType::I32, "i32", std::nullopt},
    {DType::I64, "i64", std::nullopt},
    {DType::U8, "u8", std::nullopt},
}};

const Entry& entry(DType dtype) { return kTable.at(static_cast<std::size_t>(dtype)); }

std::uint64_t sign_bit(const FloatFormat& f) { return std::uint64_t{1} << (f.exponent_bits + f.mantissa_bits); }

std::uint64_t nan_code(const FloatFormat& f, bool negative) {
  if (f.negative_zero_is_nan) return sign_bit(f);
  return f.quiet_nan | (negative ? sign_bit(f) : 0);
}

std::uint64_t overflow_code(const FloatFormat& f, bool negative, Overflow overflow) {
  const std::uint64_t sign = negative ? sign_bit(f) : 0;
  if (overflow == Overflow::Saturate) return f.max_finite | sign;
  return f.infinity ? (f.infinity | sign) : nan_code(f, negative);
}

// significand * 2^-shift, rounded to nearest, ties to even; shift >= 0, significand < 2^53.
std::uint64_t shift_right_rne(std::uint64_t significand, int shift) {
  if (shift == 0) return significand;
  if (shift > 54) return 0;  // below half a quantum, whatever the significand
  const std::uint64_t quotient = significand >> shift;
  const std::uint64_t rest = significand & ((std::uint64_t{1} << shift) - 1);
  const std::uint64_t half = std::uint64_t{1} << (shift - 1);
  const bool up = rest > half || (rest == half && (quotient & 1));
  return quotient + up;
}

double decode_by_rule(DType dtype, std::uint64_t code) {
  const FloatFormat& f = format(dtype);
  if (dtype == DType::F64) return std::bit_cast<double>(code);
  const bool negative = code & sign_bit(f);
  const std::uint64_t magnitude = code & (sign_bit(f) - 1);
  const double sign = negative ? -1.0 : 1.0;
  if (f.negative_zero_is_nan && negative && magnitude == 0) return std::numeric_limits<double>::quiet_NaN();
  if (f.infinity && magnitude == f.infinity) return sign * std::numeric_limits<double>::infinity();
  if (magnitude > f.max_finite) return std::copysign(std::numeric_limits<double>::quiet_NaN(), sign);
  const std::uint64_t mantissa = magnitude & ((std::uint64_t{1} << f.mantissa_bits) - 1);
  const int field = static_cast<int>(magnitude >> f.mantissa_bits);
  const std::uint64_t significand = field ? mantissa | std::uint64_t{1} << f.mantissa_bits : mantissa;
  const int exponent = (field ? field : 1) - f.bias - f.mantissa_bits;  // 2^exponent is a normal double
  const auto quantum = std::bit_cast<double>(static_cast<std::uint64_t>(1023 + exponent) << 52);
  return sign * (static_cast<double>(significand) * quantum);
}

template <typename Float>
const std::vector<Float>& decode_table(DType dtype) {  // 2^8 or 2^16 entries
  static const auto tables = [] {
    std::array<std::vector<Float>, kTable.size()> all;
    for (const Entry& e : kTable) {
      if (!e.format || byte_size(e.dtype) > 2) continue;
      auto& table = all[static_cast<std::size_t>(e.dtype)];
      table.resize(std::size_t{1} << (8 * byte_size(e.dtype)));
      for (std::size_t code = 0; code < table.size(); ++code)
        table[code] = static_cast<Float>(decode_by_rule(e.dtype, code));
    }
    return all;
  }();
  return tables[static_cast<std::size_t>(dtype)];
}

// values[i] = value_of(the i-th Stored at `bytes`)
template <typename Stored, typename Float, typename ValueOf>
void read_each(const void* bytes, std::span<Float> values, ValueOf value_of) {
  const auto* in = static_cast<const unsigned char*>(bytes);
  for (std::size_t i = 0; i < values.size(); ++i) {
    Stored stored;
    std::memcpy(&stored, in + i * sizeof stored, sizeof stored);
    values[i] = static_cast<Float>(value_of(stored));
  }
}

template <typename Float>
void decode_any(DType dtype, const void* bytes, std::span<Float> values) {
  format(dtype);  // throws for what is no float
  const auto as_is = [](auto stored) { return stored; };
  if (dtype == DType::F64) return read_each<double>(bytes, values, as_is);
  if (dtype == DType::F32) return read_each<float>(bytes, values, as_is);
  const Float* table = decode_table<Float>(dtype).data();
  const auto looked_up = [table](auto code) { return table[code]; };
  if (byte_size(dtype) == 1) return read_each<std::uint8_t>(bytes, values, looked_up);
  return read_each<std::uint16_t>(bytes, values, looked_up);
}

}  // namespace

double FloatFormat::unit_roundoff() const { return std::ldexp(1.0, -precision()); }
double FloatFormat::eta() const { return std::ldexp(1.0, 1 - bias - mantissa_bits - 1); }
double FloatFormat::max_value() const {
  const auto mantissa = max_finite & ((std::uint64_t{1} << mantissa_bits) - 1);
  const int exponent = static_cast<int>(max_finite >> mantissa_bits) - bias;
  return std::ldexp(1.0 + std::ldexp(static_cast<double>(mantissa), -mantissa_bits), exponent);
}

bool is_float(DType dtype) { return entry(dtype).format.has_value(); }

bool is_fp8(DType dtype) { return is_float(dtype) && byte_size(dtype) == 1; }

void throw_no_element_size(DType dtype) {
  throw std::invalid_argument(std::string(name(dtype)) + " is a block format: it has no element size");
}

std::string_view name(DType dtype) { return entry(dtype).name; }

std::optional<DType> dtype_from_name(std::string_view name) {
  for (const Entry& e : kTable)
    if (e.name == name) return e.dtype;
  return std::nullopt;
}

const FloatFormat& format(DType dtype) {
  const auto& f = entry(dtype).format;
  if (!f) throw std::invalid_argument(std::string(name(dtype)) + " is not a floating-point format");
  return *f;
}

std::uint64_t encode(DType dtype, double value, Overflow overflow) {
  const FloatFormat& f = format(dtype);
  const auto bits = std::bit_cast<std::uint64_t>(value);
  const bool negative = bits >> 63;
  if (std::isnan(value)) return nan_code(f, negative);
  if (std::isinf(value)) return overflow_code(f, negative, overflow);
  if (dtype == DType::F64) return bits;

  // value = significand * 2^(exponent - 52); the target's quantum is 2^(max(exponent, lowest) - mantissa_bits).
  const int biased = static_cast<int>(bits >> 52 & 0x7FF);
  const std::uint64_t fraction = bits & 0xFFFFFFFFFFFFF;
  const int exponent = biased ? biased - 1023 : -1022;
  const std::uint64_t significand = biased ? fraction | std::uint64_t{1} << 52 : fraction;
  const int lowest = 1 - f.bias;
  const int shift = 52 - f.mantissa_bits + (exponent < lowest ? lowest - exponent : 0);
  std::uint64_t code = shift_right_rne(significand, shift);
  // A normal number's hidden bit adds one to the exponent field; a carry out of the mantissa adds the next.
  if (exponent >= lowest) code += static_cast<std::uint64_t>(exponent - lowest) << f.mantissa_bits;
  if (code > f.max_finite) return overflow_code(f, negative, overflow);
  if (code == 0 && f.negative_zero_is_nan) return 0;
  return code | (negative ? sign_bit(f) : 0);
}

double decode(DType dtype, std::uint64_t code) {
  if (byte_size(dtype) > 2 || !is_float(dtype)) return decode_by_rule(dtype, code);
  const std::vector<double>& table = decode_table<double>(dtype);
  return table[code & (table.size() - 1)];
}

double round_to(DType dtype, double value, Overflow overflow) { return decode(dtype, encode(dtype, value, overflow)); }

std::uint64_t load_code(DType dtype, const void* bytes) {
  switch (byte_size(dtype)) {
    case 1: return *static_cast<const std::uint8_t*>(bytes);
    case 2: {
      std::uint16_t code;
      std::memcpy(&code, bytes, 2);
      return code;
    }
    case 4: {
      std::uint32_t code;
      std::memcpy(&code, bytes, 4);
      return code;
    }
    default: {
      std::uint64_t code;
      std::memcpy(&code, bytes, 8);
      return code;
    }
  }
}

void store_code(DType dtype, void* bytes, std::uint64_t code) { std::memcpy(bytes, &code, byte_size(dtype)); }

void encode_array(DType dtype, std::span<const double> values, void* bytes, Overflow overflow) {
  auto* out = static_cast<unsigned char*>(bytes);
  const std::size_t size = byte_size(dtype);
  for (std::size_t i = 0; i < values.size(); ++i) store_code(dtype, out + i * size, encode(dtype, values[i], overflow));
}

void decode_array(DType dtype, const void* bytes, std::span<double> values) { decode_any(dtype, bytes, values); }
void decode_array(DType dtype, const void* bytes, std::span<float> values) { decode_any(dtype, bytes, values); }

}  // namespace attest
