// The reference of the KV write against bytes worked out by hand: rounding, saturation, scales and which of them, NaN
// payloads, layouts; and every byte that it must leave alone.
#include "reference/kv_write.h"
#include "tests/reference/problems.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

namespace attest {
namespace {

using test::Made;
using test::put;

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// One code of the cache after the write.
struct Written {
  const Made& made;
  std::map<std::size_t, std::vector<std::byte>> caches;

  explicit Written(const Made& m, const WriteArithmetic& a = {}) : made(m), caches(write_cache(m.problem, m.call, a)) {}
  std::uint64_t at(Slot slot, std::int64_t page, std::int64_t in_page, std::int64_t head, std::int64_t dim) const {
    const CachePlace& place = slot == Slot::KCache ? made.call.layout.k : made.call.layout.v;
    const auto element = static_cast<std::size_t>(place.index(page, in_page, head, dim));
    return load_code(made.problem.cache,
                     &caches.at(made.call.ref(slot).storage)[element * byte_size(made.problem.cache)]);
  }
  std::uint64_t token(Slot slot, std::int64_t token, std::int64_t head, std::int64_t dim) const {
    const auto flat = made.call.view(Slot::SlotMapping).integer({token});
    return at(slot, flat / made.problem.page_size, flat % made.problem.page_size, head, dim);
  }
};

void set_mapping(const Made& made, std::int64_t token, std::int64_t value) {
  const TensorView view = made.call.view(Slot::SlotMapping);
  std::memcpy(view.data + view.offset({token}) * 8, &value, 8);
}

// Two tokens in one page of 4 slots, flat slots 5 and 2 of pages 1 and 0.
Made two_tokens(const std::string& options, const Contract& contract = test::open_contract()) {
  Made made = test::make("write/test/" + options + "/page=4/seq=2x2#1", contract);
  set_mapping(made, 0, 5);
  set_mapping(made, 1, 2);
  return made;
}

TEST(KvWrite, RoundsToNearestEvenAndSaturates) {
  const auto made = two_tokens("q=f32/kv=fp8_e4m3/h=1:1/d=8");
  const double values[]{1.0625, 1.1875, 464.0, 1e6, -1e6, 0x1p-10, 0x1.8p-10, -0.0};
  for (int dim = 0; dim < 8; ++dim) put(made.call, Slot::KNew, {0, 0, dim}, values[dim]);
  const Written after(made);
  // 1.0625 lies between 1 (0x38) and 1.125 (0x39): to even; 1.1875 between 0x39 and 0x3A; 2^-10 is half of the least
  // subnormal.
  const std::uint64_t codes[]{0x38, 0x3A, 0x7E, 0x7E, 0xFE, 0x00, 0x01, 0x80};
  for (int dim = 0; dim < 8; ++dim) EXPECT_EQ(after.token(Slot::KCache, 0, 0, dim), codes[dim]) << values[dim];
}

TEST(KvWrite, OverflowIsTheContracts) {
  const auto made = two_tokens("q=f32/kv=fp8_e5m2/h=1:1/d=4");
  const double values[]{61440, kInf, -kInf, kNan};
  for (int dim = 0; dim < 4; ++dim) put(made.call, Slot::VNew, {1, 0, dim}, values[dim]);
  const Written saturating(made), ieee(made, {.overflow = Overflow::Ieee});
  const std::uint64_t saturated[]{0x7B, 0x7B, 0xFB, 0x7F}, rounded[]{0x7C, 0x7C, 0xFC, 0x7F};
  for (int dim = 0; dim < 4; ++dim) {
    EXPECT_EQ(saturating.token(Slot::VCache, 1, 0, dim), saturated[dim]);
    EXPECT_EQ(ieee.token(Slot::VCache, 1, 0, dim), rounded[dim]);
  }
}

TEST(KvWrite, DividesOrMultipliesByTheRoundedReciprocal) {
  // In bf16 1/10 is 205 * 2^-11; 13/10 = 166.4 * 2^-7 rounds to 166 * 2^-7, and 13 * 205 * 2^-11 = 166.56 * 2^-7 to
  // 167.
  const auto made = two_tokens("q=bf16/kv=bf16/h=1:1/d=1/scales=odd");
  put(made.call, Slot::KScale, {0}, 10);
  put(made.call, Slot::KNew, {0, 0, 0}, 13);
  EXPECT_EQ(Written(made, {.compute = DType::BF16}).token(Slot::KCache, 0, 0, 0), 0x3FA6);
  EXPECT_EQ(Written(made, {.by_reciprocal = true, .compute = DType::BF16}).token(Slot::KCache, 0, 0, 0), 0x3FA7);
  EXPECT_EQ(Written(made).token(Slot::KCache, 0, 0, 0), 0x3FA6);  // 1.3 in f32, then in bf16
}

TEST(KvWrite, BothWaysInBinary32OnTheEdgesOfCodes) {
  // Around scale * (the midpoint of two codes) the two ways part; the reference follows the floats of this machine.
  const float scale = 0.37F;
  const auto made = two_tokens("q=f32/kv=fp8_e4m3/h=1:1/d=1/scales=odd");
  put(made.call, Slot::KScale, {0}, scale);
  int differ = 0;
  for (std::uint64_t code = 0; code < 0x7E; ++code) {
    const auto edge = static_cast<float>(scale * (decode(DType::E4M3FN, code) + decode(DType::E4M3FN, code + 1)) / 2);
    for (const float x : {std::nextafter(edge, 0.0F), edge, std::nextafter(edge, 1e9F)}) {
      put(made.call, Slot::KNew, {0, 0, 0}, x);
      const auto divided = Written(made).token(Slot::KCache, 0, 0, 0),
                 multiplied = Written(made, {.by_reciprocal = true}).token(Slot::KCache, 0, 0, 0);
      ASSERT_EQ(divided, encode(DType::E4M3FN, x / scale));
      ASSERT_EQ(multiplied, encode(DType::E4M3FN, x * (1 / scale)));
      differ += divided != multiplied;
    }
  }
  EXPECT_GT(differ, 10);
}

TEST(KvWrite, ScalesByHeadAndBySequenceAndHead) {
  const auto by_head = two_tokens("q=f32/kv=fp8_e4m3/h=2:2/d=1/scales=head");
  for (int head = 0; head < 2; ++head) {
    put(by_head.call, Slot::KScale, {head}, head ? 0.5 : 4);
    put(by_head.call, Slot::VScale, {head}, head ? 2 : 0.25);
    put(by_head.call, Slot::KNew, {0, head, 0}, 3);
    put(by_head.call, Slot::VNew, {0, head, 0}, 3);
  }
  const Written heads(by_head);
  EXPECT_EQ(heads.token(Slot::KCache, 0, 0, 0), encode(DType::E4M3FN, 0.75));
  EXPECT_EQ(heads.token(Slot::KCache, 0, 1, 0), encode(DType::E4M3FN, 6));
  EXPECT_EQ(heads.token(Slot::VCache, 0, 0, 0), encode(DType::E4M3FN, 12));
  EXPECT_EQ(heads.token(Slot::VCache, 0, 1, 0), encode(DType::E4M3FN, 1.5));

  const auto both = test::make("write/test/q=f32/kv=fp8_e4m3/h=2:2/d=1/page=4/seq=1x1,2x2/scales=seq_head#1");
  for (int seq = 0; seq < 2; ++seq)
    for (int head = 0; head < 2; ++head) put(both.call, Slot::KScale, {seq, head}, 1 << (2 * seq + head));
  for (int token = 0; token < 3; ++token)
    for (int head = 0; head < 2; ++head) put(both.call, Slot::KNew, {token, head, 0}, 24);
  set_mapping(both, 1, 9);
  set_mapping(both, 2, 10);
  const Written by_both(both);
  EXPECT_EQ(by_both.token(Slot::KCache, 0, 1, 0), encode(DType::E4M3FN, 12));
  EXPECT_EQ(by_both.token(Slot::KCache, 1, 0, 0), encode(DType::E4M3FN, 6));
  EXPECT_EQ(by_both.token(Slot::KCache, 2, 1, 0), encode(DType::E4M3FN, 3));
}

TEST(KvWrite, InertScalesAreInert) {
  auto contract = test::open_contract();
  contract.rules[0].claims.push_back({"scales", "quantised_only", "test", false});
  const auto inert = two_tokens("q=bf16/kv=bf16/h=1:1/d=1/scales=odd", contract),
             applied = two_tokens("q=bf16/kv=bf16/h=1:1/d=1/scales=odd");
  for (const auto* made : {&inert, &applied}) put(made->call, Slot::KNew, {0, 0, 0}, 1.5);
  EXPECT_EQ(Written(inert).token(Slot::KCache, 0, 0, 0), 0x3FC0);
  EXPECT_EQ(Written(applied).token(Slot::KCache, 0, 0, 0), encode(DType::BF16, 1.5F / 0.37F));
  // An FP8 cache is quantised: there the rule changes nothing.
  const auto quantised = two_tokens("q=bf16/kv=fp8_e4m3/h=1:1/d=1/scales=odd", contract);
  put(quantised.call, Slot::KNew, {0, 0, 0}, 1.5);
  EXPECT_EQ(Written(quantised).token(Slot::KCache, 0, 0, 0), encode(DType::E4M3FN, 1.5F / 0.37F));
}

TEST(KvWrite, CodesOfTheSameFormatAreCopied) {
  const auto made = two_tokens("q=bf16/kv=bf16/h=1:1/d=4");
  const TensorView from = made.call.view(Slot::KNew);
  const std::uint64_t codes[]{0x7FA5, 0xFF81, 0x8000, 0x0001};  // signalling NaNs with payloads, -0, a subnormal
  for (int dim = 0; dim < 4; ++dim) store_code(DType::BF16, from.data + from.offset({0, 0, dim}) * 2, codes[dim]);
  const Written after(made);
  for (int dim = 0; dim < 4; ++dim) EXPECT_EQ(after.token(Slot::KCache, 0, 0, dim), codes[dim]);
}

TEST(KvWrite, NegativeSlotsAreSkippedAndAllElseIsAsItWas) {
  const auto made = two_tokens("q=bf16/kv=fp8_e5m2/h=2:2/d=3/dv=5");
  set_mapping(made, 0, -1);
  const Written after(made);
  for (const Slot slot : {Slot::KCache, Slot::VCache}) {
    const auto before = made.call.storages[made.call.ref(slot).storage].bytes();
    const auto& bytes = after.caches.at(made.call.ref(slot).storage);
    const CachePlace& place = slot == Slot::KCache ? made.call.layout.k : made.call.layout.v;
    ASSERT_EQ(bytes.size(), before.size());
    std::vector<bool> written(bytes.size());
    for (int head = 0; head < 2; ++head)
      for (int dim = 0; dim < place.width; ++dim)
        written[static_cast<std::size_t>(place.index(0, 2, head, dim))] = true;
    for (std::size_t at = 0; at < bytes.size(); ++at)
      EXPECT_EQ(bytes[at] != before[at], written[at]) << name(slot) << " byte " << at;
  }
}

TEST(KvWrite, LayoutsThatNestOtherwise) {
  using enum CacheAxis;
  auto contract = test::open_contract();
  // K as vLLM's CPU kernels keep it, [page, head, dim, slot], and both halves of one storage.
  contract.layouts[Strides::Fused] = {
      .k = {{Page, Head, Slot, Dim}, {Page, Head, Kv, Slot, Dim}, {Page, Head, Kv, Dim, Slot}},
      .v = {{Page, Head, Slot, Dim}, {Page, Head, Kv, Slot, Dim}, {Page, Head, Kv, Slot, Dim}}};
  const auto made = two_tokens("q=f16/kv=f16/h=2:2/d=3/strides=fused", contract);
  for (int token = 0; token < 2; ++token)
    for (int head = 0; head < 2; ++head)
      for (int dim = 0; dim < 3; ++dim) {
        put(made.call, Slot::KNew, {token, head, dim}, 100 * token + 10 * head + dim + 1);
        put(made.call, Slot::VNew, {token, head, dim}, -(100 * token + 10 * head + dim + 1));
      }
  const auto caches = write_cache(made.problem, made.call, {});
  ASSERT_EQ(caches.size(), 1U);
  const auto value = [&](int element) {
    return decode(DType::F16, load_code(DType::F16, &caches.begin()->second[static_cast<std::size_t>(element) * 2]));
  };
  // Page 1 begins at 2 heads * 2 * 4 slots * 3 dims = 48; head 1 24 behind it; V 12 behind K.
  for (int head = 0; head < 2; ++head)
    for (int dim = 0; dim < 3; ++dim) {
      EXPECT_EQ(value(48 + 24 * head + 4 * dim + 1), 10 * head + dim + 1);  // token 0: page 1, slot 1
      EXPECT_EQ(value(48 + 24 * head + 12 + 3 * 1 + dim), -(10 * head + dim + 1));
      EXPECT_EQ(value(24 * head + 4 * dim + 2), 100 + 10 * head + dim + 1);  // token 1: page 0, slot 2
      EXPECT_EQ(value(24 * head + 12 + 3 * 2 + dim), -(100 + 10 * head + dim + 1));
    }
}

}  // namespace
}  // namespace attest
