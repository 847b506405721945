// The probe SELECT over many shapes, scales and formats: one key wins by 104 nats in each row, it is one that the row
// sees, rows and heads take different ones, and V says where it stands.
#include "harness/core/error.h"
#include "tests/reference/problems.h"
#include "tests/reference/row.h"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace attest {
namespace {

using test::Made;

struct Winner {
  int key;
  long double gap;  // nats to the second best
};

Winner winner(const Made& made, int seq, int row, int head) {
  const auto naive = test::naive_row(made.problem, made.call, seq, row, head);
  const auto best = std::ranges::max_element(naive.scores);
  long double second = -INFINITY;
  for (auto score = naive.scores.begin(); score != naive.scores.end(); ++score)
    if (score != best) second = std::max(second, *score);
  return {static_cast<int>(best - naive.scores.begin()), *best - second};
}

void expect_one_hot(const std::string& token) {
  const auto made = test::make(token);
  const Problem& p = made.problem;
  EXPECT_TRUE(made.call.one_hot);
  for (int seq = 0; seq < static_cast<int>(p.seqs.size()); ++seq)
    for (int row = 0; row < p.seqs[static_cast<std::size_t>(seq)].len_q; ++row)
      for (int head = 0; head < p.heads_q; ++head) {
        const KeyRange seen = visible_keys(p.mask, p.seqs[static_cast<std::size_t>(seq)], row);
        if (seen.size() == 0) continue;
        const Winner best = winner(made, seq, row, head);
        ASSERT_GE(best.gap, 104) << token;
        ASSERT_GE(best.key, seen.begin) << token;
        ASSERT_LT(best.key, seen.end) << token;
        const int head_kv = head / p.group(), seed = static_cast<int>(made.c.seed & 63);
        const int digits[]{best.key % 8, best.key / 8 % 8, best.key / 64 % 8, best.key / 512 % 8, 0,       head_kv % 8,
                           head_kv / 8,  seq % 8,          seq / 8,           seed % 8,           seed / 8};
        for (int dim = 0; dim < p.dim_v; ++dim) {
          const double v = test::naive_cached(p, made.call, Slot::VCache, seq, best.key, head_kv, dim);
          ASSERT_EQ(dim % 2 ? -v : v, digits[dim % 11]) << token;
        }
      }
}

TEST(Select, OneKeyWinsByTheGapWhateverTheShape) {
  for (const char* shape :
       {"h=2:2/d=64/page=16/seq=1x1,1x15,1x16,1x17", "h=7:1/d=80/page=16/seq=3x40,9x9,2x300",
        "h=8:2/d=16/page=32/seq=4x1000", "h=6:2/d=9/dv=12/page=4/seq=2x300,1x2", "h=4:4/d=256/dv=16/page=16/seq=5x3"})
    for (const char* mask : {"", "/mask=full", "/mask=window:8,0", "/mask=window:5,3", "/mask=chunk:8"})
      for (const int seed : {1, 2, 77})
        expect_one_hot(fmt::format("prefill/test/q=bf16/kv=auto/{}{}/in=select#{}", shape, mask, seed));
}

TEST(Select, OneKeyWinsByTheGapWhateverTheScalesAndFormats) {
  for (const char* types : {"q=f32/kv=f32", "q=bf16/kv=fp8_e4m3", "q=f16/kv=fp8_e5m2", "q=bf16/kv=fp8_e4m3fnuz",
                            "q=fp8_e4m3/kv=fp8_e4m3", "q=fp8_e5m2/kv=fp8_e5m2", "q=f16/kv=bf16"})
    for (const char* scales : {"none", "k_only", "v_only", "unit", "odd", "head", "seq_head"})
      for (const char* sink : {"", "/sink=f32"})
        expect_one_hot(fmt::format("mixed/test/{}/h=6:2/d=64/page=16/seq=1x16,9x18,1x1,4x32/scales={}{}/in=select#3",
                                   types, scales, sink));
}

TEST(Select, NeighbouringRowsAndHeadsTakeDifferentKeys) {
  int pairs = 0, equal = 0;
  std::map<int, int> kinds;
  for (const int seed : {1, 2, 3, 4}) {
    const auto made = test::make(
        fmt::format("prefill/test/q=bf16/kv=auto/h=4:2/d=64/page=16/seq=8x100,8x77/mask=full/in=select#{}", seed));
    for (int seq = 0; seq < 2; ++seq)
      for (int row = 0; row < 8; ++row)
        for (int head = 0; head < 4; ++head) {
          const int key = winner(made, seq, row, head).key,
                    last = made.problem.seqs[static_cast<std::size_t>(seq)].len_kv - 1;
          ++kinds[key == 0 ? 0 : key == last ? 1 : key % 16 == 0 || key % 16 == 15 ? 2 : 3];
          if (row > 0) ++pairs, equal += key == winner(made, seq, row - 1, head).key;
          if (head > 0) ++pairs, equal += key == winner(made, seq, row, head - 1).key;
        }
  }
  EXPECT_LT(equal, pairs / 20);
  for (int kind = 0; kind < 4; ++kind) EXPECT_GT(kinds[kind], 20) << "first, last, page's edge, any: " << kind;
}

TEST(Select, SaysWhereNoKeyCanWin) {
  // Stored q is at most 256 and stored K 16: with a softmax scale of 1e-4 the gap can't be had.
  auto c = parse_token("decode/test/q=fp8_e4m3/kv=fp8_e4m3/h=1:1/d=4/page=4/seq=1x16/in=select/scales=odd#1");
  Problem p = make_problem(c, test::open_contract());
  p.softmax_scale = 1e-4;
  EXPECT_THROW(make_inputs(c, p), UsageError);
}

}  // namespace
}  // namespace attest
