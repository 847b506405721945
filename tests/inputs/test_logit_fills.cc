// The probes that shape the logits: what each promises of a row's softmax, read back from the tensors.
#include "harness/core/error.h"
#include "tests/reference/problems.h"
#include "tests/reference/row.h"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace attest {
namespace {

const std::vector<std::string> kTypes{"q=bf16/kv=auto", "q=bf16/kv=fp8_e4m3/scales=odd",
                                      "q=f16/kv=fp8_e5m2/scales=head", "q=fp8_e4m3/kv=fp8_e4m3/scales=seq_head"};

test::Made made(const std::string& types, const std::string& rest) {
  return test::make(fmt::format("prefill/test/{}/h=4:2/d=64/page=16/{}#3", types, rest));
}

double share(const test::Row& row, std::size_t from, std::size_t to) {
  test::Real sum = 0;
  for (std::size_t j = from; j < to; ++j) sum += row.p[j];
  return static_cast<double>(sum);
}

TEST(Ramp, RisesOrFallsByOneToFourUnitsIn64Keys) {
  for (const auto& types : kTypes) {
    const auto call = made(types, "seq=6x1024/mask=full/in=ramp");
    std::set<bool> directions;
    for (const test::Row& row : test::rows_of(call.problem, call.call)) {
      // Means over 64 keys: the noise of a quarter of a nat falls to 0.03.
      const auto mean = [&](std::size_t from) {
        test::Real sum = 0;
        for (std::size_t j = from; j < from + 64; ++j) sum += row.capped[j];
        return static_cast<double>(sum / 64);
      };
      const double rise = (mean(960) - mean(0)) / 15 / std::log(2.0);
      EXPECT_GT(std::abs(rise), 0.6) << types;
      EXPECT_LT(std::abs(rise), 6) << types;
      for (std::size_t tile = 0; tile < 15; ++tile)
        EXPECT_GT((mean(64 * tile + 64) - mean(64 * tile)) / rise, 0) << types << " tile " << tile;
      directions.insert(rise > 0);
    }
    EXPECT_EQ(directions.size(), 2U);
  }
}

TEST(Tail, OneKeyAtAnEndAndTheOthersFarBelow) {
  for (const auto& types : kTypes) {
    const auto call = made(types, "seq=4x500/mask=full/in=tail");
    int firsts = 0, lasts = 0;
    for (const test::Row& row : test::rows_of(call.problem, call.call)) {
      const bool first = row.p.front() > row.p.back();
      (first ? firsts : lasts)++;
      const test::Real peak = first ? row.capped.front() : row.capped.back();
      for (std::size_t j = 1; j + 1 < row.p.size(); ++j) {
        ASSERT_LT(row.capped[j], peak - 6) << types;
        ASSERT_GT(row.capped[j], peak - 13) << types;
      }
      const double tail = share(row, 1, row.p.size() - 1);
      EXPECT_GT(tail, 0.02) << types;  // 500 e^-9.2 = 0.05
      EXPECT_LT(tail, 0.12) << types;
    }
    EXPECT_EQ(firsts, lasts);
  }
}

TEST(Sink, TakesAboutHalf) {
  for (const auto& types : kTypes) {
    const auto call = made(types, "seq=4x300,2x280/mask=full/sink=f32/in=sink");
    for (const test::Row& row : test::rows_of(call.problem, call.call)) {
      const double keys = share(row, 0, row.p.size());
      EXPECT_GT(keys, 0.25) << types;
      EXPECT_LT(keys, 0.7) << types;
    }
  }
  EXPECT_THROW(parse_token("prefill/test/q=bf16/h=4:2/d=64/page=16/seq=4x30/in=sink#3"), UsageError);
}

TEST(Cap, LogitsLieAroundTheCap) {
  for (const auto& types : kTypes) {
    const auto call = made(types, "seq=4x300/mask=full/cap=20/in=cap");
    for (const test::Row& row : test::rows_of(call.problem, call.call)) {
      int low = 0, middle = 0, high = 0;
      for (const test::Real c : row.capped) {
        const double part = static_cast<double>(std::abs(c)) / 20;
        low += part < 0.35;
        middle += part > 0.6 && part < 0.9;  // tanh 1 = 0.76
        high += part > 0.95;
      }
      EXPECT_EQ(low + middle + high, 300) << types;
      for (const int count : {low, middle, high}) EXPECT_GT(count, 60) << types;
    }
  }
  EXPECT_THROW(parse_token("prefill/test/q=bf16/h=4:2/d=64/page=16/seq=4x30/in=cap#3"), UsageError);
}

TEST(Ties, ThreeValuesOfP) {
  for (const auto& types : kTypes) {
    const auto call = made(types, "seq=4x300/mask=full/in=ties");
    for (const test::Row& row : test::rows_of(call.problem, call.call))
      EXPECT_EQ(std::set<test::Real>(row.p.begin(), row.p.end()).size(), 3U) << types;
  }
}

TEST(Extreme, HoldsTheEndsOfTheFormatAndFiniteLogits) {
  for (const auto& types : kTypes) {
    const auto call = made(types, "seq=4x300/mask=full/in=extreme");
    const FloatFormat& f = format(call.problem.cache);
    double most = 0, least = f.max_value();
    for (const test::Row& row : test::rows_of(call.problem, call.call)) {
      for (const auto& key : row.k)
        for (const double k : key) {
          most = std::max(most, std::abs(k));
          if (k != 0) least = std::min(least, std::abs(k));
        }
      const double shift = static_cast<double>(row.capped[0]);
      EXPECT_GT(std::abs(shift), 2) << types;
      for (const test::Real c : row.capped) EXPECT_LT(std::abs(static_cast<double>(c) - shift), 30) << types;
      EXPECT_LT(*std::ranges::max_element(row.p), 0.9) << types;
    }
    EXPECT_EQ(most, std::min(f.max_value(), 0x1p15)) << types;
    EXPECT_EQ(least, std::max(2 * f.eta(), 0x1p-24)) << types;
  }
}

TEST(Keys, LeaveVAtThatManyPositions) {
  for (const int count : {1, 2, 5, 40}) {
    const auto call = made("q=bf16/kv=fp8_e4m3", fmt::format("seq=2x30,1x3,1x0/in=gauss/keys={}", count));
    for (int seq = 0; seq < 2; ++seq) {
      const int length = call.problem.seqs[static_cast<std::size_t>(seq)].len_kv;
      std::set<int> held;
      for (int key = 0; key < length; ++key)
        for (int dim = 0; dim < 64; ++dim)
          if (test::naive_cached(call.problem, call.call, Slot::VCache, seq, key, 0, dim) != 0) held.insert(key);
      EXPECT_EQ(static_cast<int>(held.size()), std::min(count, length));
      EXPECT_TRUE(held.contains(length - 1));
    }
  }
}

}  // namespace
}  // namespace attest
