// Covering arrays on random small instances with random exclusions, against all rows there are: what can be covered is,
// what is said to be out of reach is out of reach.
#include "harness/matrix/pairwise.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace attest {
namespace {

using Row = std::vector<int>;
using Pair = std::tuple<std::size_t, int, std::size_t, int>;
using Allowed = std::function<bool(const Row&)>;

std::set<Pair> pairs_of(const Row& row) {
  std::set<Pair> pairs;
  for (std::size_t a = 0; a < row.size(); ++a)
    for (std::size_t b = a + 1; b < row.size(); ++b) pairs.emplace(a, row[a], b, row[b]);
  return pairs;
}

std::vector<Row> all_rows(const std::vector<int>& sizes) {
  std::vector<Row> rows{{}};
  for (const int size : sizes) {
    std::vector<Row> longer;
    for (const Row& row : rows)
      for (int value = 0; value < size; ++value) {
        longer.push_back(row);
        longer.back().push_back(value);
      }
    rows = std::move(longer);
  }
  return rows;
}

struct Truth {
  std::set<Pair> feasible, all;
};

Truth truth(const std::vector<int>& sizes, const Allowed& allowed) {
  Truth t;
  for (const Row& row : all_rows(sizes)) {
    const auto pairs = pairs_of(row);
    t.all.insert(pairs.begin(), pairs.end());
    if (allowed(row)) t.feasible.insert(pairs.begin(), pairs.end());
  }
  return t;
}

// "" or what is wrong with a cover.
std::string fault(const PairCover& cover, const std::vector<int>& sizes, const Allowed& allowed) {
  const Truth t = truth(sizes, allowed);
  std::set<Pair> covered, unreached;
  std::set<Row> rows;
  for (const Row& row : cover.rows) {
    if (row.size() != sizes.size() || !allowed(row)) return "a row that is not allowed";
    for (std::size_t i = 0; i < row.size(); ++i)
      if (row[i] < 0 || row[i] >= sizes[i]) return "a value that is none";
    if (!rows.insert(row).second) return "a row twice";
    const auto pairs = pairs_of(row);
    covered.insert(pairs.begin(), pairs.end());
  }
  for (const auto& p : cover.unreached)
    if (!unreached.emplace(p.axis_a, p.value_a, p.axis_b, p.value_b).second) return "a pair unreached twice";
  if (covered != t.feasible) return "a pair that could be covered is not";
  for (const Pair& pair : t.all)
    if (unreached.contains(pair) == t.feasible.contains(pair))
      return "a pair unreached that is feasible, or the other way round";
  return "";
}

// Excludes each triple of values with a probability, as exclusions of a matrix do.
Allowed exclusions(const std::vector<int>& sizes, unsigned seed, unsigned percent) {
  std::mt19937 random(seed);
  std::set<std::pair<Pair, Pair>> banned;
  for (const Row& row : all_rows(sizes))
    if (sizes.size() >= 3 && random() % 100 < percent) {
      const std::size_t a = random() % sizes.size(), b = random() % sizes.size(), c = random() % sizes.size();
      banned.insert({{a, row[a], b, row[b]}, {b, row[b], c, row[c]}});
    }
  return [banned](const Row& row) {
    for (const auto& [first, second] : banned) {
      const auto holds = [&](const Pair& p) {
        return row[std::get<0>(p)] == std::get<1>(p) && row[std::get<2>(p)] == std::get<3>(p);
      };
      if (holds(first) && holds(second)) return false;
    }
    return true;
  };
}

TEST(Pairwise, CoversWhatCanBeCovered) {
  std::mt19937 random(7);
  std::size_t unreached = 0;
  for (unsigned i = 0; i < 150; ++i) {
    std::vector<int> sizes(2 + random() % 4);
    for (int& size : sizes) size = 1 + static_cast<int>(random() % 4);
    const Allowed allowed = exclusions(sizes, i, random() % 12);
    const PairCover cover = cover_pairs(sizes, allowed);
    ASSERT_EQ(fault(cover, sizes, allowed), "") << i;
    unreached += cover.unreached.size();
  }
  EXPECT_GT(unreached, 20U) << "the instances exclude no whole pair";
}

TEST(Pairwise, TheCheckCatchesWrongCovers) {
  const std::vector<int> sizes{3, 3, 3};
  const Allowed allowed = [](const Row& row) { return row[0] != 0 || row[1] != 0; };
  const PairCover right = cover_pairs(sizes, allowed);
  ASSERT_EQ(fault(right, sizes, allowed), "");
  ASSERT_EQ(right.unreached.size(), 1U);
  PairCover wrong = right;
  while (fault({{wrong.rows.begin(), wrong.rows.end() - 1}, right.unreached}, sizes, allowed).empty())
    wrong.rows.pop_back();
  wrong.rows.pop_back();
  EXPECT_EQ(fault(wrong, sizes, allowed), "a pair that could be covered is not");
  wrong = right;
  wrong.rows.push_back(wrong.rows[0]);
  EXPECT_EQ(fault(wrong, sizes, allowed), "a row twice");
  wrong = right;
  wrong.rows.push_back({0, 0, 0});
  EXPECT_EQ(fault(wrong, sizes, allowed), "a row that is not allowed");
  wrong = right;
  wrong.unreached.clear();
  EXPECT_EQ(fault(wrong, sizes, allowed), "a pair unreached that is feasible, or the other way round");
  wrong = right;
  wrong.unreached.push_back({.axis_a = 0, .value_a = 1, .axis_b = 1, .value_b = 1});
  EXPECT_EQ(fault(wrong, sizes, allowed), "a pair unreached that is feasible, or the other way round");
}

TEST(Pairwise, IsTheSameEveryTime) {
  const std::vector<int> sizes{4, 3, 5, 2, 6};
  const Allowed allowed = exclusions(sizes, 3, 5);
  const PairCover once = cover_pairs(sizes, allowed), again = cover_pairs(sizes, allowed);
  EXPECT_EQ(once.rows, again.rows);
  EXPECT_EQ(once.unreached.size(), again.unreached.size());
}

TEST(Pairwise, TakesFarFewerRowsThanTheProduct) {
  const std::vector<int> sizes{8, 7, 6, 5, 4, 4, 3, 3, 2, 2};  // 967,680 rows; no cover has fewer than 56
  const PairCover cover = cover_pairs(sizes, [](const Row&) { return true; });
  EXPECT_GE(cover.rows.size(), 56U);
  EXPECT_LE(cover.rows.size(), 56U * 3 / 2);
  EXPECT_TRUE(cover.unreached.empty());
  std::set<Pair> covered;
  for (const Row& row : cover.rows) covered.merge(pairs_of(row));
  std::size_t pairs = 0;
  for (std::size_t a = 0; a < sizes.size(); ++a)
    for (std::size_t b = a + 1; b < sizes.size(); ++b) pairs += static_cast<std::size_t>(sizes[a] * sizes[b]);
  EXPECT_EQ(covered.size(), pairs);
}

TEST(Pairwise, FewAxes) {
  const Allowed any = [](const Row&) { return true; };
  EXPECT_TRUE(cover_pairs({}, any).rows.empty());
  EXPECT_EQ(cover_pairs({3}, any).rows, (std::vector<Row>{{0}, {1}, {2}}));
  EXPECT_EQ(cover_pairs({3}, [](const Row& row) { return row[0] != 1; }).rows, (std::vector<Row>{{0}, {2}}));
  EXPECT_EQ(cover_pairs({1, 1, 1}, any).rows, (std::vector<Row>{{0, 0, 0}}));
  EXPECT_EQ(cover_pairs({2, 3}, any).rows.size(), 6U) << "two axes: their product";
  const PairCover none = cover_pairs({2, 2}, [](const Row&) { return false; });
  EXPECT_TRUE(none.rows.empty());
  EXPECT_EQ(none.unreached.size(), 4U);
}

}  // namespace
}  // namespace attest
