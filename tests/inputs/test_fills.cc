// The other probes: what each promises of its values, read back from the tensors.
#include "tests/reference/problems.h"
#include "tests/reference/row.h"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace attest {
namespace {

using test::Made;

double v_at(const Made& made, int seq, int key, int head, int dim) {
  return test::naive_cached(made.problem, made.call, Slot::VCache, seq, key, head, dim);
}

// Of each (sequence, KV head, dim), the keys whose V is not 0.
std::vector<int> non_zero(const Made& made, int seq, int head, int dim) {
  std::vector<int> keys;
  for (int key = 0; key < made.problem.seqs[static_cast<std::size_t>(seq)].len_kv; ++key)
    if (v_at(made, seq, key, head, dim) != 0) keys.push_back(key);
  return keys;
}

TEST(Sentinel, OneKeyADimOnTheEdgesOfWhatRowsSee) {
  for (const char* mask : {"", "/mask=full", "/mask=window:8,0", "/mask=window:5,3", "/mask=chunk:8"}) {
    const auto made = test::make(fmt::format(
        "prefill/test/q=bf16/kv=fp8_e4m3/h=4:2/d=16/dv=64/page=16/seq=3x100,1x5,4x33{}/in=sentinel#2", mask));
    const Problem& p = made.problem;
    for (int seq = 0; seq < 3; ++seq) {
      std::set<int> hit;
      std::set<double> values;
      for (int head = 0; head < 2; ++head)
        for (int dim = 0; dim < 64; ++dim) {
          const auto keys = non_zero(made, seq, head, dim);
          ASSERT_EQ(keys.size(), 1U) << mask;
          hit.insert(keys[0]);
          values.insert(v_at(made, seq, keys[0], head, dim));
        }
      EXPECT_EQ(values.size(), 14U);  // +-1 .. +-7
      const Sequence& s = p.seqs[static_cast<std::size_t>(seq)];
      for (int row = 0; row < s.len_q; ++row) {
        const KeyRange seen = visible_keys(p.mask, s, row);
        int edges = 0;
        for (const int edge : {seen.begin - 1, seen.begin, seen.end - 1, seen.end}) edges += hit.contains(edge);
        EXPECT_GE(edges, seen.begin > 0 || seen.end < s.len_kv ? 2 : 1)
            << mask << " sequence " << seq << " row " << row;
      }
    }
  }
}

TEST(Sentinel, WeightsAreAlikeOrOddKeysThreeTimes) {
  for (const char* scales : {"none", "odd", "head"}) {
    const auto made = test::make(fmt::format(
        "prefill/test/q=bf16/kv=fp8_e4m3/h=4:2/d=80/page=16/seq=3x100/mask=full/scales={}/in=sentinel#2", scales));
    int alike = 0;
    for (int row = 0; row < 3; ++row)
      for (int head = 0; head < 4; ++head) {
        const auto p = test::naive_row(made.problem, made.call, 0, row, head).p;
        if ((row + head) % 2 == 1) {
          ++alike;
          for (const auto weight : p) ASSERT_DOUBLE_EQ(static_cast<double>(weight), 0.01);
        } else {
          for (std::size_t key = 0; key < 100; key += 2)
            ASSERT_DOUBLE_EQ(static_cast<double>(p[key]), static_cast<double>(p[0]));
          EXPECT_GT(p[1] / p[0], 1.9);
          EXPECT_LT(p[1] / p[0], 5);
        }
      }
    EXPECT_EQ(alike, 6);
  }
}

TEST(Identity, TheOutputIsAStretchOfP) {
  for (const char* lengths : {"1x100", "3x40,1x5", "2x16"}) {
    const auto made = test::make(
        fmt::format("prefill/test/q=bf16/kv=fp8_e5m2/h=4:2/d=16/dv=24/page=16/seq={}/in=identity#2", lengths));
    for (int seq = 0; seq < static_cast<int>(made.problem.seqs.size()); ++seq)
      for (int head = 0; head < 2; ++head) {
        const int len = made.problem.seqs[static_cast<std::size_t>(seq)].len_kv;
        std::set<int> bases;
        for (int dim = 0; dim < 24; ++dim) {
          const auto keys = non_zero(made, seq, head, dim);
          ASSERT_LE(keys.size(), 1U);
          if (keys.empty()) continue;
          EXPECT_EQ(v_at(made, seq, keys[0], head, dim), 1);
          bases.insert(keys[0] - dim);
        }
        ASSERT_EQ(bases.size(), 1U);
        EXPECT_EQ(*bases.begin() % 24, 0);
        EXPECT_LT(*bases.begin(), len);
      }
  }
}

TEST(Mass, VIsOneButForAnEighthOfTheDims) {
  const auto made =
      test::make("decode/test/q=bf16/kv=fp8_e4m3/h=4:2/d=16/dv=64/page=16/seq=1x40,1x5/scales=odd/in=mass#2");
  std::set<double> others;
  for (int seq = 0; seq < 2; ++seq)
    for (int key = 0; key < made.problem.seqs[static_cast<std::size_t>(seq)].len_kv; ++key)
      for (int dim = 0; dim < 64; ++dim) {
        const double v = v_at(made, seq, key, 1, dim);
        if (dim < 56) {
          ASSERT_EQ(v, 1);
        } else {
          others.insert(v);
        }
      }
  EXPECT_GT(others.size(), 30U);
}

// Over all rows: the largest |score|, and how many keys carry a row (1 / sum p^2) on average.
std::pair<double, double> loudness(const char* probe, const char* types) {
  const auto made =
      test::make(fmt::format("prefill/test/{}/h=4:2/d=128/page=16/seq=8x200/mask=full/in={}#2", types, probe));
  double most = 0, carrying = 0;
  for (const test::Row& row : test::rows_of(made.problem, made.call)) {
    long double square = 0;
    for (std::size_t j = 0; j < row.p.size(); ++j) {
      most = std::max(most, static_cast<double>(std::abs(row.capped[j])));
      square += row.p[j] * row.p[j];
    }
    carrying += static_cast<double>(1 / square) / 32;
  }
  return {most, carrying};
}

TEST(RandomFills, AreAsLoudAsTheyAreCalled) {
  for (const char* types :
       {"q=bf16/kv=auto", "q=bf16/kv=fp8_e4m3/scales=odd", "q=fp8_e4m3/kv=fp8_e4m3/scales=seq_head"}) {
    const auto [gauss, gauss_keys] = loudness("gauss", types);
    EXPECT_GT(gauss, 3) << types;
    EXPECT_LT(gauss, 6) << types;
    EXPECT_GT(gauss_keys, 40) << types;
    const auto [peaky, peaky_keys] = loudness("peaky", types);
    EXPECT_GT(peaky, 9) << types;
    EXPECT_GT(peaky_keys, 1.5) << types;
    EXPECT_LT(peaky_keys, 20) << types;
  }
  EXPECT_GT(loudness("outlier", "q=bf16/kv=auto").first, 1000);
  EXPECT_GT(loudness("outlier", "q=bf16/kv=fp8_e5m2").first, 900);
  EXPECT_GT(loudness("outlier", "q=bf16/kv=fp8_e4m3").first, 800);
}

TEST(RandomFills, ValuesDifferBetweenAllPlaces) {
  const auto made = test::make("prefill/test/q=f32/kv=f32/h=4:2/d=16/page=16/seq=3x20,2x9#2");
  std::multiset<double> all;
  for (int seq = 0; seq < 2; ++seq)
    for (int key = 0; key < made.problem.seqs[static_cast<std::size_t>(seq)].len_kv; ++key)
      for (int head = 0; head < 2; ++head)
        for (int dim = 0; dim < 16; ++dim) {
          all.insert(v_at(made, seq, key, head, dim));
          all.insert(test::naive_cached(made.problem, made.call, Slot::KCache, seq, key, head, dim));
        }
  const std::set<double> distinct(all.begin(), all.end());
  EXPECT_GT(distinct.size(), all.size() * 98 / 100);  // multiples of 2^-16: a few meet by chance
}

TEST(Special, NanAndInfAtKeysThatAllRowsSee) {
  for (const char* kv : {"auto", "fp8_e4m3", "fp8_e5m2", "fp8_e4m3fnuz"})
    for (const char* mask : {"", "/mask=window:8,0"}) {
      const auto made = test::make(
          fmt::format("prefill/test/q=bf16/kv={}/h=4:2/d=16/page=16/seq=3x100,1x5{}/in=special#2", kv, mask));
      for (int seq = 0; seq < 2; ++seq) {
        const Sequence& s = made.problem.seqs[static_cast<std::size_t>(seq)];
        for (int head = 0; head < 2; ++head) {
          int nan = 0, inf = 0, at = -1;
          for (int key = 0; key < s.len_kv; ++key)
            for (int dim = 0; dim < 16; ++dim) {
              const double v = v_at(made, seq, key, head, dim);
              nan += std::isnan(v);
              inf += std::isinf(v);
              if (!std::isfinite(v)) at = key;
            }
          EXPECT_EQ(nan, 1) << kv;
          EXPECT_LE(inf, 1) << kv;
          if (!format(made.problem.cache).infinity) { EXPECT_EQ(inf, 0) << kv; }
          for (int row = 0; row < s.len_q; ++row) {
            const KeyRange seen = visible_keys(made.problem.mask, s, row);
            EXPECT_TRUE(seen.begin <= at && at < seen.end) << kv << mask;
          }
        }
      }
    }
}

TEST(Codes, EveryCodeOfTheCacheComesUp) {
  for (const auto& [types, wanted] : {std::pair{"q=bf16/kv=fp8_e4m3", 256U},
                                      {"q=bf16/kv=fp8_e5m2", 252U},
                                      {"q=bf16/kv=fp8_e4m3fnuz", 256U},
                                      {"q=f16/kv=auto", 252U},
                                      {"q=bf16/kv=auto", 256U}}) {
    // e5m2, and f16's spread of 256, hold three NaNs of either sign, which all become the quiet one.
    const auto made = test::make(fmt::format("write/test/{}/h=2:2/d=64/page=16/seq=3x5,8x40/in=codes#1", types));
    for (const Slot slot : {Slot::KNew, Slot::VNew}) {
      const TensorView view = made.call.view(slot);
      std::set<std::uint64_t> codes;
      for (int token = 0; token < 11; ++token)
        for (int head = 0; head < 2; ++head)
          for (int dim = 0; dim < 64; ++dim) codes.insert(encode(made.problem.cache, view.value({token, head, dim})));
      EXPECT_EQ(codes.size(), wanted) << types;
    }
  }
}

}  // namespace
}  // namespace attest
