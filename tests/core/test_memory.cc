// Guard bands and tensors: a byte written outside is found wherever it lies, nothing is found where nothing was
// written, and guard pages stop the program that touches them.
#include "harness/core/guard.h"
#include "harness/core/tensor.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <iterator>
#include <random>

namespace attest {
namespace {

struct Memory {  // a mapping with one region, the payload zeroed
  explicit Memory(std::size_t bytes, std::size_t cursor = 0, GuardMode mode = GuardMode::Bands)
      : region(place(cursor, bytes, mode)), mapping(cursor) {
    write_bands(mapping, region);
  }
  Region region;
  std::vector<std::byte> mapping;
};

TEST(Guard, RegionsAreApartAlignedAndWideEnough) {
  std::mt19937 random(1);
  for (const GuardMode mode : {GuardMode::Bands, GuardMode::Pages}) {
    std::size_t cursor = random() % 1000, before = cursor;
    for (int i = 0; i < 300; ++i) {
      const std::size_t bytes = i % 7 == 0 ? 0 : random() % 9000;
      const Region r = place(cursor, bytes, mode);
      ASSERT_EQ(r.bytes, bytes);
      ASSERT_EQ(r.payload % 64, 0U);
      ASSERT_GE(r.payload - r.band_begin, kGuardBand);
      if (mode == GuardMode::Bands) {
        ASSERT_GE(r.band_begin, before);
        ASSERT_GE(r.band_end - r.payload - bytes, kGuardBand);
        ASSERT_FALSE(r.pages);
      } else {
        ASSERT_TRUE(r.pages);
        ASSERT_GE(page_before(r).offset, before);
        ASSERT_EQ(page_before(r).offset + page_before(r).bytes, r.band_begin);
        ASSERT_EQ(page_after(r).offset, r.band_end);
        ASSERT_EQ(r.band_begin % page_bytes(), 0U);
        ASSERT_EQ(r.band_end % page_bytes(), 0U);
        ASSERT_LT(r.band_end - r.payload - bytes, 64U) << "the payload ends at the page, but for its alignment";
      }
      const std::size_t end = mode == GuardMode::Bands ? r.band_end : page_after(r).offset + page_after(r).bytes;
      ASSERT_LE(end, cursor);
      before = cursor;
    }
  }
}

TEST(Guard, FindsOneByteAtEveryDistance) {
  for (const GuardMode mode : {GuardMode::Bands, GuardMode::Pages})
    for (const std::size_t bytes : {0, 1, 63, 64, 65, 4096}) {
      Memory memory(bytes, 12, mode);
      const Region& r = memory.region;
      ASSERT_FALSE(damage(memory.mapping, r));
      for (std::size_t at = r.band_begin; at < r.band_end; ++at) {
        const bool inside = at >= r.payload && at < r.payload + bytes;
        const std::byte old = memory.mapping[at];
        memory.mapping[at] ^= std::byte{1};  // the smallest change there is
        const auto found = damage(memory.mapping, r);
        ASSERT_EQ(found.has_value(), !inside) << at;
        if (found) {
          ASSERT_EQ(found->after, at >= r.payload + bytes);
          ASSERT_EQ(found->distance, found->after ? at - (r.payload + bytes) + 1 : r.payload - at);
          ASSERT_EQ(found->changed, 1U);
        }
        memory.mapping[at] = old;
      }
      ASSERT_FALSE(damage(memory.mapping, r));
    }
}

TEST(Guard, SaysHowMuchAndHowNear) {
  Memory memory(100);
  const Region& r = memory.region;
  for (const std::size_t at : {r.payload + 103, r.payload + 110, r.band_end - 1}) memory.mapping[at] = std::byte{0};
  EXPECT_EQ(damage(memory.mapping, r)->text(), "3 bytes written past the end, the nearest 4 from the edge");
  Memory front(100);
  front.mapping[front.region.payload - 2] = front.mapping[front.region.band_begin] = std::byte{0};
  EXPECT_EQ(damage(front.mapping, front.region)->text(),
            "2 bytes written before the begin, the nearest 2 from the edge");
}

TEST(Guard, BandsReadAsNanOrHuge) {
  Memory memory(64);
  const Region& r = memory.region;
  for (const std::size_t begin : {r.band_begin, r.payload + r.bytes})
    for (std::size_t i = 0; i + 8 <= kGuardBand; i += 8) {
      const std::byte* at = memory.mapping.data() + begin + i;
      for (const DType dtype : {DType::F64, DType::F32, DType::F16, DType::BF16, DType::E4M3FN, DType::E5M2}) {
        EXPECT_TRUE(std::isnan(decode(dtype, load_code(dtype, at)))) << name(dtype);
        EXPECT_TRUE(std::isnan(decode(dtype, load_code(dtype, at + 8 - byte_size(dtype))))) << name(dtype);
      }
      for (const DType dtype : {DType::E4M3FNUZ, DType::E5M2FNUZ})
        EXPECT_EQ(std::abs(decode(dtype, load_code(dtype, at))), format(dtype).max_value());
      std::int32_t integer = 0;
      std::memcpy(&integer, at, sizeof integer);
      EXPECT_GT(integer, 2'000'000'000);
    }
}

TEST(Tensor, IsZeroedAlignedAndGuarded) {
  for (const GuardMode mode : {GuardMode::Bands, GuardMode::Pages})
    for (const Dims& shape : {Dims{}, Dims{1}, Dims{3, 5}, Dims{2, 0, 4}, Dims{7, 129}}) {
      const Tensor tensor(DType::F16, shape, mode);
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(tensor.view().data) % 64, 0U);
      EXPECT_EQ(tensor.view().shape, shape);
      EXPECT_EQ(tensor.view().strides, contiguous_strides(shape));
      EXPECT_EQ(tensor.bytes().size(), 2 * static_cast<std::size_t>(element_count(shape)));
      for (const std::byte byte : tensor.bytes()) ASSERT_EQ(byte, std::byte{0});
      std::memset(tensor.bytes().data(), 0xAB, tensor.bytes().size());
      EXPECT_FALSE(tensor.guard_damage()) << "the payload is free to write";
    }
}

TEST(Tensor, FindsWritesOutsideOfIt) {
  for (const std::int64_t elements : {0, 1, 5, 64}) {
    Tensor tensor(DType::F32, {elements});
    std::byte* end = tensor.view().data + 4 * elements;
    *end = std::byte{0};
    ASSERT_TRUE(tensor.guard_damage());
    EXPECT_TRUE(tensor.guard_damage()->after);
    EXPECT_EQ(tensor.guard_damage()->distance, 1U);
    Tensor other(DType::F32, {elements});
    other.view().data[-1] = std::byte{0};
    ASSERT_TRUE(other.guard_damage());
    EXPECT_FALSE(other.guard_damage()->after);
  }
}

TEST(Tensor, Moves) {
  Tensor first(DType::U8, {10});
  first.bytes()[3] = std::byte{7};
  const std::byte* data = first.view().data;
  Tensor second = std::move(first);
  EXPECT_EQ(second.view().data, data);
  EXPECT_EQ(second.bytes()[3], std::byte{7});
  EXPECT_EQ(first.view().data, nullptr);
  EXPECT_TRUE(first.bytes().empty());
  EXPECT_FALSE(first.guard_damage());

  Tensor third(DType::U8, {20});
  third.view().data[20] = std::byte{0};
  third = std::move(second);
  EXPECT_EQ(third.view().data, data);
  EXPECT_FALSE(third.guard_damage()) << "the bands move with their memory";
  Tensor& self = third;
  third = std::move(self);
  EXPECT_EQ(third.bytes()[3], std::byte{7});
  EXPECT_FALSE(Tensor().guard_damage());
}

TEST(Tensor, FreesItsMemory) {
  const auto mappings = [] {  // guard pages keep neighbours apart, so each tensor is several lines
    std::ifstream maps("/proc/self/maps");
    return std::count(std::istreambuf_iterator<char>(maps), {}, '\n');
  };
  std::vector<Tensor> kept(200);
  const auto before = mappings();
  for (Tensor& tensor : kept) tensor = Tensor(DType::U8, {5}, GuardMode::Pages);
  EXPECT_GE(mappings(), before + 200);
  for (Tensor& tensor : kept) tensor = Tensor(DType::U8, {7}, GuardMode::Pages);
  kept.clear();
  EXPECT_LT(mappings(), before + 100);
}

TEST(TensorView, ReadsThroughItsStrides) {
  Tensor tensor(DType::F32, {24});
  std::vector<double> values(24);
  for (int i = 0; i < 24; ++i) values[static_cast<std::size_t>(i)] = i;
  encode_array(DType::F32, values, tensor.bytes().data());
  const TensorView transposed{tensor.view().data, DType::F32, {2, 3}, {4, 8}};
  EXPECT_EQ(transposed.value({1, 2}), 20);
  EXPECT_EQ(transposed.value({0, 1}), 8);
  EXPECT_EQ(transposed.offset({1, 1}), 12);

  Tensor integers(DType::I64, {3});
  const std::int64_t raw[]{-1, 1LL << 40, 5};
  std::memcpy(integers.bytes().data(), raw, sizeof raw);
  EXPECT_EQ(integers.view().integer({1}), 1LL << 40);
  EXPECT_EQ((TensorView{integers.view().data, DType::I32, {6}, {1}}.integer({0})), -1);
  EXPECT_THROW(tensor.view().integer({0}), std::logic_error);
}

TEST(Dims, CountsAndExtents) {
  EXPECT_EQ(element_count({}), 1);
  EXPECT_EQ(element_count({3, 0, 2}), 0);
  EXPECT_EQ(contiguous_strides({2, 3, 4}), (Dims{12, 4, 1}));
  EXPECT_EQ(extent({2, 3}, {10, 2}), 15);
  EXPECT_EQ(extent({}, {}), 1);
  EXPECT_EQ(extent({2, 0}, {10, 2}), 0);
  EXPECT_EQ(extent({4}, {0}), 1) << "one element, shown four times";
}

using GuardPagesDeathTest = testing::Test;

TEST(GuardPagesDeathTest, StopWhoTouchesThem) {
  const auto page = static_cast<std::int64_t>(page_bytes());
  const auto last_in_reach = [](const Tensor& t) {  // the payload's end, but for its alignment
    return t.view().data + (t.bytes().size() + 63) / 64 * 64;
  };
  for (const std::int64_t bytes : {0, 1, 64, 100, 4096, 5000}) {
    Tensor tensor(DType::U8, {bytes}, GuardMode::Pages);
    volatile std::byte* after = last_in_reach(tensor);
    EXPECT_DEATH(*after = std::byte{0}, "") << bytes;
    EXPECT_DEATH(static_cast<void>(*after), "") << bytes;
    // In front the payload begins anywhere in its first page; the page before the band is out of reach.
    volatile std::byte* before =
        after - ((bytes + 63) / 64 * 64 + static_cast<std::int64_t>(kGuardBand) + page - 1) / page * page - 1;
    EXPECT_DEATH(*before = std::byte{0}, "") << bytes;
    EXPECT_FALSE(tensor.guard_damage()) << "looking for damage stays inside";
  }
}

TEST(GuardPagesDeathTest, BandsAloneStopNobody) {
  Tensor tensor(DType::U8, {100});
  tensor.view().data[100] = tensor.view().data[-1] = std::byte{0};
  EXPECT_EQ(tensor.guard_damage()->changed, 2U);
}

}  // namespace
}  // namespace attest
