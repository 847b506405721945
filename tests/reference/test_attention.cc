// The reference of attention against numbers worked out by hand, and against the naive implementation over every
// option: masks, caps, sinks, scales, head groups, page tables, empty rows.
#include "reference/attention.h"
#include "tests/reference/naive.h"
#include "tests/reference/problems.h"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include <cmath>

namespace attest {
namespace {

using test::make;
using test::naive_row;
using test::put;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

Arithmetic exact() {
  Arithmetic a;
  a.qk_acc.dtype = a.p = a.sum_acc = a.pv_acc.dtype = DType::F64;
  return a;
}

void expect_naive(const std::string& token) {
  const auto made = make(token);
  const Expected got = attend(made.problem, made.call, exact(), {});
  for (int seq = 0; seq < static_cast<int>(made.problem.seqs.size()); ++seq)
    for (int row = 0; row < made.problem.seqs[static_cast<std::size_t>(seq)].len_q; ++row)
      for (int head = 0; head < made.problem.heads_q; ++head) {
        const auto naive = naive_row(made.problem, made.call, seq, row, head);
        const int at = made.problem.first_row(seq) + row;
        const double lse = got.lse.value[got.lse.index(at, head, 0)];
        const bool same_lse = naive.lse == -INFINITY
                                  ? lse == -INFINITY
                                  : std::abs(lse - static_cast<double>(naive.lse)) <= 1e-12 * (1 + std::abs(lse));
        EXPECT_TRUE(same_lse) << token << ": " << lse << " against " << static_cast<double>(naive.lse);
        for (int dim = 0; dim < made.problem.dim_v; ++dim) {
          const double right = static_cast<double>(naive.out[static_cast<std::size_t>(dim)]);
          ASSERT_NEAR(got.out.value[got.out.index(at, head, dim)], right, 1e-12 * (1 + std::abs(right)))
              << token << " seq " << seq << " row " << row << " head " << head << " dim " << dim;
          ASSERT_GE(got.out.bound[got.out.index(at, head, dim)], 0) << token;
        }
      }
}

TEST(Attention, AgreesWithTheNaiveOneOverEveryOption) {
  for (const char* mask :
       {"", "/mask=full", "/mask=window:3,0", "/mask=window:2,2", "/mask=window:-1,1", "/mask=chunk:4"})
    for (const char* extra : {"", "/cap=2", "/sink=f32", "/sink=bf16/cap=5", "/scales=odd", "/scales=head",
                              "/scales=seq_head/cap=3/sink=f32"})
      expect_naive(
          fmt::format("mixed/test/q=f32/kv=fp8_e4m3/h=6:2/d=8/page=4/seq=1x5,3x3,4x9,2x1,1x0{}{}#7", mask, extra));
}

TEST(Attention, AgreesOverDtypesHeadsTablesAndProbes) {
  for (const char* shape : {"q=bf16/kv=bf16/h=3:1/d=16/page=8", "q=f16/kv=fp8_e5m2/h=7:1/d=12/dv=20/page=3",
                            "q=fp8_e4m3/kv=fp8_e4m3/h=4:4/d=8/page=16", "q=f64/kv=auto/h=2:1/d=5/page=4",
                            "q=bf16/kv=fp8_e4m3fnuz/h=2:2/d=8/page=4"})
    for (const char* table : {"", "/table=ordered", "/table=aliased", "/table=interleaved"})
      for (const char* probe :
           {"", "/in=peaky", "/in=outlier", "/in=identity", "/in=mass", "/in=sentinel", "/in=select"})
        expect_naive(fmt::format("mixed/test/{}/seq=1x13,4x17,1x1{}{}{}#3", shape, table,
                                 std::string(shape).starts_with("q=fp8") ? "/scales=odd" : "", probe));
}

TEST(Attention, ByHandTwoKeys) {
  // One query (2, 0) against keys (1, 0) and (0, 5), d = 2, V = 10 and 30: scores 2/sqrt(2) and 0,
  // weights e^1.41421 = 4.11325 and 1, output (10 * 4.11325 + 30) / 5.11325.
  const auto made = make("decode/test/q=f64/kv=auto/h=1:1/d=2/dv=1/page=4/seq=1x2#1");
  const auto page = made.call.view(Slot::PageTable).integer({0, 0});
  put(made.call, Slot::Q, {0, 0, 0}, 2);
  put(made.call, Slot::Q, {0, 0, 1}, 0);
  put(made.call, Slot::KCache, {page, 0, 0, 0}, 1);
  put(made.call, Slot::KCache, {page, 0, 0, 1}, 0);
  put(made.call, Slot::KCache, {page, 1, 0, 0}, 0);
  put(made.call, Slot::KCache, {page, 1, 0, 1}, 5);
  put(made.call, Slot::VCache, {page, 0, 0, 0}, 10);
  put(made.call, Slot::VCache, {page, 1, 0, 0}, 30);
  const Expected got = attend(made.problem, made.call, exact(), {});
  const double e = std::exp(std::sqrt(2.0));
  EXPECT_DOUBLE_EQ(got.out.value[0], (10 * e + 30) / (e + 1));
  EXPECT_DOUBLE_EQ(got.lse.value[0], std::log(e + 1));
}

TEST(Attention, ByHandMassAndSink) {
  // V = 1 and a sink: the output is what the sink leaves, 1 - e^(sink - lse).
  const auto made = make("decode/test/q=bf16/kv=bf16/h=2:1/d=16/page=4/seq=1x9/sink=f32/in=mass#5");
  const Expected got = attend(made.problem, made.call, exact(), {});
  for (int head = 0; head < 2; ++head) {
    const double sink = made.call.view(Slot::Sinks).value({head});
    EXPECT_NEAR(got.out.value[got.out.index(0, head, 0)], 1 - std::exp(sink - got.lse.value[got.lse.index(0, head, 0)]),
                1e-14);
  }
}

TEST(Attention, SelectReturnsTheVOfTheTarget) {
  const auto made = make("prefill/test/q=bf16/kv=fp8_e5m2/h=4:2/d=64/page=16/seq=5x37,3x16/in=select/scales=unit#9");
  const Expected got = attend(made.problem, made.call, exact(), {});
  int targets = 0;
  for (int seq = 0; seq < 2; ++seq)
    for (int row = 0; row < made.problem.seqs[static_cast<std::size_t>(seq)].len_q; ++row)
      for (int head = 0; head < 4; ++head) {
        const auto naive = naive_row(made.problem, made.call, seq, row, head);
        const auto best =
            static_cast<int>(std::max_element(naive.scores.begin(), naive.scores.end()) - naive.scores.begin());
        for (std::size_t key = 0; key < naive.scores.size(); ++key)
          EXPECT_TRUE(static_cast<int>(key) == best ||
                      naive.scores[static_cast<std::size_t>(best)] - naive.scores[key] >= 104);
        ++targets;
        for (int dim = 0; dim < 64; ++dim) {
          const std::size_t at = got.out.index(made.problem.first_row(seq) + row, head, dim);
          EXPECT_EQ(got.out.value[at],
                    test::naive_cached(made.problem, made.call, Slot::VCache, seq, best, head / 2, dim));
          EXPECT_LT(got.out.bound[at], 1e-40);
        }
      }
  EXPECT_EQ(targets, 32);
}

TEST(Attention, EmptyRowsFollowTheContract) {
  const auto made =
      make("prefill/test/q=bf16/kv=bf16/h=1:1/d=8/page=4/seq=3x1,1x0#1");  // rows 0, 1 and the last see nothing
  for (const auto& [rule, value] : {std::pair{EmptyRow::Zero, 0.0}, {EmptyRow::Nan, kNan}}) {
    const Expected got = attend(made.problem, made.call, exact(), {.empty_row = rule});
    for (const int row : {0, 1, 3}) {
      EXPECT_EQ(got.lse.value[static_cast<std::size_t>(row)], -INFINITY);
      const double out = got.out.value[got.out.index(row, 0, 0)];
      EXPECT_TRUE(std::isnan(value) ? std::isnan(out) : out == value);
    }
    EXPECT_TRUE(std::isfinite(got.lse.value[2]));
  }
  const Expected free = attend(made.problem, made.call, exact(), {.empty_row = EmptyRow::Unspecified});
  EXPECT_EQ(free.out.bound[0], INFINITY);
}

TEST(Attention, SpecialValuesReachTheRowsThatSeeThem) {
  const auto made = make("prefill/test/q=f32/kv=f32/h=2:1/d=8/page=4/seq=3x9/in=special#2");
  const Expected got = attend(made.problem, made.call, exact(), {});
  int nan = 0, inf = 0, finite = 0;
  for (const double value : got.out.value) {
    nan += std::isnan(value);
    inf += std::isinf(value);
    finite += std::isfinite(value);
  }
  EXPECT_EQ(nan, 6);  // one dim of each (row, head)
  EXPECT_EQ(inf, 6);
  EXPECT_EQ(finite, 36);
  for (const double bound : got.out.bound) EXPECT_TRUE(std::isfinite(bound));
}

TEST(Attention, HiddenSpecialValuesDoNot) {
  const auto made = make("prefill/test/q=f32/kv=f32/h=1:1/d=4/page=16/seq=3x3#2");
  const auto page = made.call.view(Slot::PageTable).integer({0, 0});
  put(made.call, Slot::VCache, {page, 2, 0, 0}, kNan);  // only row 2 sees key 2
  put(made.call, Slot::KCache, {page, 2, 0, 0}, 1e30);
  const Expected got = attend(made.problem, made.call, exact(), {});
  for (int dim = 0; dim < 4; ++dim) {
    EXPECT_TRUE(std::isfinite(got.out.value[got.out.index(0, 0, dim)]));
    EXPECT_TRUE(std::isfinite(got.out.value[got.out.index(1, 0, dim)]));
  }
  EXPECT_TRUE(std::isnan(got.out.value[got.out.index(2, 0, 0)]));
}

TEST(Attention, CallersCastIsPartOfTheInput) {
  const auto made = make("decode/test/q=bf16/kv=f32/h=1:1/d=16/page=4/seq=1x7#1");
  const Expected stored = attend(made.problem, made.call, exact(), {});
  const Expected cast = attend(made.problem, made.call, exact(), {.k_to_q = true});
  double most = 0;
  for (std::size_t i = 0; i < stored.out.value.size(); ++i)
    most = std::max(most, std::abs(stored.out.value[i] - cast.out.value[i]));
  EXPECT_GT(most, 1e-4);
  EXPECT_LT(most, 2e-2);
}

TEST(Attention, F32StaysWithinTheBoundsF32Terms) {
  const auto made = make("mixed/test/q=bf16/kv=bf16/h=4:2/d=64/page=16/seq=1x300,7x90,1x1#4");
  Arithmetic f32;
  const Expected wide = attend(made.problem, made.call, f32, {}),
                 narrow = attend(made.problem, made.call, f32, {}, {Precision::F32});
  for (std::size_t i = 0; i < wide.out.value.size(); ++i)
    EXPECT_LE(std::abs(wide.out.value[i] - narrow.out.value[i]), wide.out.bound[i]);
}

TEST(Attention, UniformIsTheMeanOfVisibleV) {
  const auto made = make("prefill/test/q=f32/kv=f32/h=1:1/d=4/page=2/seq=2x3#1");
  const ExpectedTensor mean = uniform_attention(made.problem, made.call, {});
  double sum = 0;
  for (int key = 0; key < 2; ++key) sum += test::naive_cached(made.problem, made.call, Slot::VCache, 0, key, 0, 1);
  EXPECT_DOUBLE_EQ(mean.value[mean.index(0, 0, 1)], sum / 2);
}

}  // namespace
}  // namespace attest
