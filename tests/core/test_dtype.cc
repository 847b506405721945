// Conversions held to the definition of each format, exhaustively: every code of the narrow formats, every
// rounding boundary, the published corner cases. The same check must catch encoders that are wrong.
#include "harness/core/dtype.h"
#include "tests/core/boundaries.h"

#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <functional>
#include <random>

namespace attest {
namespace {

using test::boundaries;
using test::narrow_formats;

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

std::uint64_t sign_of(DType dtype) { return std::uint64_t{1} << (8 * byte_size(dtype) - 1); }

using Encoder = std::function<std::uint64_t(DType, double)>;

// How many boundaries, of either sign, `encoder` gets wrong.
int mistakes(DType dtype, const Encoder& encoder) {
  int wrong = 0;
  for (const auto& [value, code] : boundaries(dtype)) {
    wrong += encoder(dtype, value) != code;
    const bool zero_is_unsigned = format(dtype).negative_zero_is_nan && code == 0;
    wrong += encoder(dtype, -static_cast<double>(value)) != (zero_is_unsigned ? 0 : code | sign_of(dtype));
  }
  return wrong;
}

TEST(DType, EveryCodeRoundTrips) {
  for (const DType dtype : narrow_formats()) {
    const std::uint64_t codes = 2 * sign_of(dtype);
    for (std::uint64_t code = 0; code < codes; ++code) {
      const double value = decode(dtype, code);
      if (!std::isnan(value)) { ASSERT_EQ(encode(dtype, value), code) << name(dtype); }
    }
  }
}

TEST(DType, EveryBoundaryRoundsToNearestEven) {
  for (const DType dtype : narrow_formats())
    EXPECT_EQ(mistakes(dtype, [](DType d, double v) { return encode(d, v); }), 0) << name(dtype);
}

TEST(DType, TheBoundaryCheckCatchesWrongEncoders) {
  const auto truncating = [](DType d, double v) {
    const std::uint64_t up = encode(d, v);
    const double back = decode(d, up);
    return std::abs(back) > std::abs(v) ? up - 1 : up;
  };
  const auto through_bf16 = [](DType d, double v) { return encode(d, round_to(DType::BF16, v)); };
  const auto through_f16 = [](DType d, double v) { return encode(d, round_to(DType::F16, v)); };
  const auto half_away = [](DType d, double v) { return encode(d, std::nextafter(v, v > 0 ? kInf : -kInf)); };
  for (const DType dtype : narrow_formats()) {
    EXPECT_GT(mistakes(dtype, truncating), 0) << name(dtype);
    EXPECT_GT(mistakes(dtype, half_away), 0) << name(dtype);
    if (dtype != DType::BF16) { EXPECT_GT(mistakes(dtype, through_bf16), 0) << name(dtype); }
    if (dtype != DType::F16) { EXPECT_GT(mistakes(dtype, through_f16), 0) << name(dtype); }
  }
}

TEST(DType, OverflowAndSpecialValues) {
  struct Row {
    DType dtype;
    double value;
    std::uint64_t ieee, saturated;
  };
  // facts of cuda_fp8.hpp, the OCP OFP8 format and the ml_dtypes documentation
  const Row rows[]{
      {DType::E4M3FN, 448, 0x7E, 0x7E},
      {DType::E4M3FN, 449, 0x7E, 0x7E},
      {DType::E4M3FN, 463.99, 0x7E, 0x7E},
      {DType::E4M3FN, 464, 0x7E, 0x7E},
      {DType::E4M3FN, std::nextafterf(464, 1e9F), 0x7F, 0x7E},
      {DType::E4M3FN, 465, 0x7F, 0x7E},
      {DType::E4M3FN, 480, 0x7F, 0x7E},
      {DType::E4M3FN, 1000, 0x7F, 0x7E},
      {DType::E4M3FN, -1000, 0xFF, 0xFE},
      {DType::E4M3FN, kInf, 0x7F, 0x7E},
      {DType::E4M3FN, -kInf, 0xFF, 0xFE},
      {DType::E4M3FN, -0.0, 0x80, 0x80},
      {DType::E4M3FN, 0x1p-10, 0, 0},
      {DType::E4M3FN, std::nextafterf(0x1p-10F, 1), 1, 1},
      {DType::E4M3FN, 0x1.8p-9, 2, 2},
      {DType::E4M3FN, 0x1p-6, 0x08, 0x08},
      {DType::E5M2, 57344, 0x7B, 0x7B},
      {DType::E5M2, 61439.99, 0x7B, 0x7B},
      {DType::E5M2, 61440, 0x7C, 0x7B},
      {DType::E5M2, 65536, 0x7C, 0x7B},
      {DType::E5M2, -kInf, 0xFC, 0xFB},
      {DType::E5M2, 0x1p-17, 0, 0},
      {DType::E4M3FNUZ, 240, 0x7F, 0x7F},
      {DType::E4M3FNUZ, 247.9, 0x7F, 0x7F},
      {DType::E4M3FNUZ, 248, 0x80, 0x7F},
      {DType::E4M3FNUZ, -300, 0x80, 0xFF},
      {DType::E4M3FNUZ, -0.0, 0, 0},
      {DType::E4M3FNUZ, -0x1p-12, 0, 0},
      {DType::E5M2FNUZ, 57344, 0x7F, 0x7F},
      {DType::E5M2FNUZ, 1e6, 0x80, 0x7F},
      {DType::F16, 65504, 0x7BFF, 0x7BFF},
      {DType::F16, 65519.99, 0x7BFF, 0x7BFF},
      {DType::F16, 65520, 0x7C00, 0x7BFF},
      {DType::BF16, 3.4e38, 0x7F80, 0x7F7F},
      {DType::F32, 1e39, 0x7F800000, 0x7F7FFFFF},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(encode(row.dtype, row.value, Overflow::Ieee), row.ieee) << name(row.dtype) << " " << row.value;
    EXPECT_EQ(encode(row.dtype, row.value, Overflow::Saturate), row.saturated) << name(row.dtype) << " " << row.value;
  }
  for (const DType dtype :
       {DType::F64, DType::F32, DType::F16, DType::BF16, DType::E4M3FN, DType::E5M2, DType::E4M3FNUZ, DType::E5M2FNUZ})
    for (const auto overflow : {Overflow::Ieee, Overflow::Saturate}) {
      EXPECT_TRUE(std::isnan(round_to(dtype, kNan, overflow))) << name(dtype);
      EXPECT_TRUE(std::isnan(round_to(dtype, -kNan, overflow))) << name(dtype);
    }
}

TEST(DType, FnBitsReadAsFnuzAreHalf) {  // the silent factor of two of a wrong dialect
  for (std::uint64_t code = 1; code < 0x7F; ++code)
    EXPECT_EQ(decode(DType::E4M3FNUZ, code), decode(DType::E4M3FN, code) / 2);
  EXPECT_TRUE(std::isnan(decode(DType::E4M3FNUZ, 0x80)));
}

TEST(DType, F32IsTheMachinesOwnRounding) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 2'000'000; ++i) {
    const auto value =
        std::bit_cast<double>((random() & 0x800FFFFFFFFFFFFF) | (std::uint64_t{860 + random() % 300} << 52));
    ASSERT_EQ(encode(DType::F32, value), std::bit_cast<std::uint32_t>(static_cast<float>(value))) << value;
  }
}

TEST(DType, ConstantsOfTheFormats) {
  EXPECT_EQ(format(DType::BF16).unit_roundoff(), 0x1p-8);
  EXPECT_EQ(format(DType::F16).unit_roundoff(), 0x1p-11);
  EXPECT_EQ(format(DType::E4M3FN).unit_roundoff(), 0x1p-4);
  EXPECT_EQ(format(DType::E5M2).unit_roundoff(), 0x1p-3);
  EXPECT_EQ(format(DType::E4M3FN).eta(), 0x1p-10);
  EXPECT_EQ(format(DType::BF16).eta(), 0x1p-134);
  EXPECT_EQ(format(DType::E4M3FN).max_value(), 448);
  EXPECT_EQ(format(DType::E5M2).max_value(), 57344);
  EXPECT_EQ(format(DType::E4M3FNUZ).max_value(), 240);
  EXPECT_EQ(format(DType::F16).max_value(), 65504);
  EXPECT_THROW(format(DType::Q8_0), std::invalid_argument);
  EXPECT_THROW(byte_size(DType::Q4_0), std::invalid_argument);
}

TEST(DType, ArraysAgreeWithScalars) {
  for (const DType dtype : {DType::F64, DType::F32, DType::F16, DType::BF16, DType::E4M3FN, DType::E5M2}) {
    const std::vector<double> values{0.0, -0.0, 1.5, -3.25, 1e-3, 447.0, -1e9, kNan};
    std::vector<std::byte> bytes(values.size() * byte_size(dtype));
    encode_array(dtype, values, bytes.data(), Overflow::Saturate);
    std::vector<double> back(values.size());
    std::vector<float> narrow(values.size());
    decode_array(dtype, bytes.data(), std::span<double>(back));
    decode_array(dtype, bytes.data(), std::span<float>(narrow));
    for (std::size_t i = 0; i < values.size(); ++i) {
      const double right = round_to(dtype, values[i], Overflow::Saturate);
      EXPECT_TRUE(back[i] == right || (std::isnan(back[i]) && std::isnan(right))) << name(dtype) << " " << values[i];
      EXPECT_EQ(std::isnan(narrow[i]), std::isnan(right));
      if (!std::isnan(right)) { EXPECT_EQ(narrow[i], static_cast<float>(right)); }
    }
  }
}

TEST(DType, NamesRoundTrip) {
  for (int i = 0; i <= static_cast<int>(DType::U8); ++i)
    EXPECT_EQ(dtype_from_name(name(static_cast<DType>(i))), static_cast<DType>(i));
  EXPECT_EQ(dtype_from_name("fp8"), std::nullopt);
}

}  // namespace
}  // namespace attest
