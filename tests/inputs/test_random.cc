// The generator: ranges, moments and tails, permutations, streams that have nothing in common.
#include "harness/inputs/random.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace attest {
namespace {

TEST(Random, IsAFunctionOfSeedStreamAndIndex) {
  EXPECT_EQ(Random(1, "q").bits(7), Random(1, "q").bits(7));
  std::set<std::uint64_t> seen;
  for (const std::uint64_t seed : {0, 1, 2})
    for (const char* stream : {"", "q", "k", "qk", "kq"})
      for (std::uint64_t index = 0; index < 1000; ++index) seen.insert(Random(seed, stream).bits(index));
  EXPECT_EQ(seen.size(), 3U * 5U * 1000U);
}

TEST(Random, BelowIsInRangeAndEven) {
  const Random random(3, "below");
  for (const std::uint64_t limit : {1ULL, 2ULL, 7ULL, 100ULL, 0xFFFFFFFFULL})
    for (std::uint64_t index = 0; index < 2000; ++index) ASSERT_LT(random.below(limit, index), limit);
  std::vector<int> count(7);
  const int draws = 70000;
  for (std::uint64_t index = 0; index < draws; ++index) ++count[random.below(7, index)];
  // Each of 7 has mean 10000 and deviation 93.
  for (const int c : count) EXPECT_NEAR(c, draws / 7, 5 * 93);
}

TEST(Random, GaussHasTheMomentsAndTailsOfTwelveUniforms) {
  const Random random(5, "gauss");
  const int draws = 400000;
  double sum = 0, square = 0, fourth = 0, most = 0;
  int beyond_two = 0;
  for (std::uint64_t index = 0; index < draws; ++index) {
    const double x = random.gauss(index);
    ASSERT_EQ(std::ldexp(x, 16), std::floor(std::ldexp(x, 16)));
    sum += x;
    square += x * x;
    fourth += x * x * x * x;
    beyond_two += std::abs(x) > 2;
    most = std::max(most, std::abs(x));
  }
  EXPECT_NEAR(sum / draws, 0, 5 / std::sqrt(draws));
  EXPECT_NEAR(square / draws, 1, 0.01);
  EXPECT_NEAR(fourth / draws, 3 - 6.0 / 5 / 12, 0.05);  // kurtosis of a uniform's sum: 3 - 6/5 by 12
  EXPECT_NEAR(static_cast<double>(beyond_two) / draws, 0.0455, 0.003);
  EXPECT_GT(most, 3.8);
  EXPECT_LE(most, 6);
}

TEST(Random, NeighboursAndStreamsAreUncorrelated) {
  const int draws = 100000;
  const auto correlation = [&](const Random& a, const Random& b, std::uint64_t shift) {
    double sum = 0;
    for (std::uint64_t index = 0; index < draws; ++index) sum += a.gauss(index) * b.gauss(index + shift);
    return sum / draws;
  };
  const Random q(1, "q"), k(1, "k"), other(2, "q");
  const double five_sigma = 5 / std::sqrt(draws);
  EXPECT_NEAR(correlation(q, q, 1), 0, five_sigma);
  EXPECT_NEAR(correlation(q, k, 0), 0, five_sigma);
  EXPECT_NEAR(correlation(q, other, 0), 0, five_sigma);
  EXPECT_NEAR(correlation(q, q, 0), 1, 0.03);
}

TEST(Random, PermutationIsOne) {
  const Random random(1, "pages");
  for (const int size : {0, 1, 2, 17, 200}) {
    auto order = random.permutation(size, 0);
    std::sort(order.begin(), order.end());
    for (int i = 0; i < size; ++i) ASSERT_EQ(order[static_cast<std::size_t>(i)], i);
  }
  EXPECT_NE(random.permutation(20, 0), random.permutation(20, 1));
  // Every place of every number, over many indices.
  std::set<std::pair<int, int>> places;
  for (std::uint64_t index = 0; index < 400; ++index) {
    const auto order = random.permutation(5, 1000 * index);
    for (int i = 0; i < 5; ++i) places.insert({i, order[static_cast<std::size_t>(i)]});
  }
  EXPECT_EQ(places.size(), 25U);
}

TEST(Random, CoordinatesHaveIndicesOfTheirOwn) {
  std::set<std::uint64_t> seen;
  for (std::uint64_t a = 0; a < 5; ++a)
    for (std::uint64_t b : {0, 1, 2, 4095, 65536})
      for (std::uint64_t c = 0; c < 9; ++c)
        for (std::uint64_t d = 0; d < 300; ++d) seen.insert(coordinate_index(a, b, c, d));
  EXPECT_EQ(seen.size(), 5U * 5U * 9U * 300U);
}

}  // namespace
}  // namespace attest
