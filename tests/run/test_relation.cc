// A second launch that does not go with the first is seen, and one that does is not, whatever part of it is compared.
#include "harness/run/relation.h"
#include "tests/reference/naive.h"
#include "tests/reference/problems.h"

#include <gtest/gtest.h>

#include <cmath>

namespace attest {
namespace {

const std::string kCase = "prefill/test/q=bf16/kv=fp8_e4m3/h=2:1/d=8/page=4/seq=3x9,2x6";

Contract claiming(const std::string& determinism) {
  Contract contract = test::open_contract();
  contract.rules.push_back({.when = {}, .claims = {{"determinism", determinism, "test", false}}});
  return contract;
}

// Two launches of the case and its relation, whose outputs agree.
struct Pair {
  test::Made first;
  Related second;
  test::Made made;
  Left left, again;
  Expected right;

  Pair(const std::string& relation, const std::string& determinism)
      : first(test::make(kCase + "/rel=" + relation + "#1")),
        second(related(first.c, claiming(determinism))),
        made(test::make(token(second.c))) {
    right = {.out = ExpectedTensor(5, 2, 8), .lse = ExpectedTensor(5, 2, 1), .k_out = {}};
    std::fill(right.out.bound.begin(), right.out.bound.end(), 0.5);
    for (int i = 0; i < 5 * 2 * 8; ++i) left.out.push_back(i + 1);
    for (int i = 0; i < 5 * 2; ++i) left.lse.push_back(-i);
  }
  std::optional<Failure> compare() const {
    return compare_related(second, first.problem, left, made.problem, again, right);
  }
};

TEST(Relation, BitForBitOrWithinBothBounds) {
  Pair bits("pages_moved", "run_to_run"), loose("batch_alone", "run_to_run");
  bits.again = loose.again = bits.left;
  loose.again.out.resize(3 * 2 * 8);
  loose.again.lse.resize(3 * 2);
  EXPECT_FALSE(bits.compare());
  EXPECT_FALSE(loose.compare());
  bits.again.out[17] += 0.25;
  loose.again.out[17] += 0.25;
  ASSERT_TRUE(bits.compare());
  EXPECT_EQ(bits.compare()->kind, FailKind::Relation);
  EXPECT_NE(bits.compare()->message.find("sequence 0, head 0, row 1, dim 1 is 18, and 18.25"), std::string::npos)
      << bits.compare()->message;
  EXPECT_FALSE(loose.compare());
  loose.again.out[17] += 1;
  EXPECT_TRUE(loose.compare());
  loose.again.out[17] = NAN;
  EXPECT_TRUE(loose.compare());
}

TEST(Relation, TheLseIsComparedToo) {
  Pair pair("v_negated", "run_to_run");
  for (const double value : pair.left.out) pair.again.out.push_back(-value);
  pair.again.lse = pair.left.lse;
  EXPECT_FALSE(pair.compare());
  pair.again.lse[9] = 1;
  EXPECT_TRUE(pair.compare());
  pair.again.lse = pair.left.lse;
  pair.again.out = pair.left.out;
  EXPECT_TRUE(pair.compare()) << "not negated";
}

TEST(Relation, OnlyTheFirstSequenceWhereTheOthersChange) {
  Pair pair("neighbours_changed", "run_to_run");
  pair.again = pair.left;
  pair.again.out.back() = 1e9;
  EXPECT_FALSE(pair.compare());
  pair.again.out[3 * 2 * 8 - 1] = 1e9;
  EXPECT_TRUE(pair.compare());
}

TEST(Relation, TheLastRowOfAPrefillIsTheDecode) {
  Pair pair("prefill_as_decode", "batch_invariant");
  pair.again.out.assign(pair.left.out.begin() + 2 * 2 * 8, pair.left.out.begin() + 3 * 2 * 8);
  pair.again.lse.assign(pair.left.lse.begin() + 2 * 2, pair.left.lse.begin() + 3 * 2);
  EXPECT_FALSE(pair.compare());
  pair.again.out[0] += 1e-9;
  EXPECT_TRUE(pair.compare());
}

TEST(Relation, ContentsMoveWithTheirSequence) {
  for (const char* relation :
       {"pages_moved", "poison_changed", "batch_alone", "prefill_as_decode", "v_negated", "neighbours_changed"}) {
    const Pair pair(relation, "run_to_run");
    Call call = test::make(token(pair.second.c)).call;
    call = related_call(pair.second, pair.first.problem, pair.first.call, pair.made.problem, std::move(call));
    const test::Made second{pair.second.c, pair.made.problem, std::move(call)};
    for (int seq = 0; seq < static_cast<int>(second.problem.seqs.size()); ++seq)
      for (int key = 0; key < second.problem.seqs[static_cast<std::size_t>(seq)].len_kv; ++key)
        for (int dim = 0; dim < 8; ++dim) {
          const auto at = [&](const test::Made& made, Slot slot) {
            return test::naive_cached(made.problem, made.call, slot, seq, key, 0, dim);
          };
          EXPECT_EQ(at(second, Slot::KCache), at(pair.first, Slot::KCache)) << relation;
          const bool negated = pair.second.negates_v || (pair.second.changes_neighbours && seq > 0);
          EXPECT_EQ(at(second, Slot::VCache), (negated ? -1 : 1) * at(pair.first, Slot::VCache)) << relation;
        }
    const Sequence &a = pair.first.problem.seqs[0], &b = second.problem.seqs[0];
    EXPECT_EQ(second.call.view(Slot::Q).value({b.len_q - 1, 1, 3}),
              pair.first.call.view(Slot::Q).value({a.len_q - 1, 1, 3}));
  }
}

}  // namespace
}  // namespace attest
