// What a fault would leave against what is there: the right fault scores best, whatever its size, and where only its
// shape agrees too.
#include <gtest/gtest.h>

#include "harness/study/diagnosis/match.h"

#include <cmath>
#include <limits>

namespace attest {
namespace {

const std::vector<Sight> kSights{{.right = {1, -2, 3, 4}, .bound = {.1, .1, .1, .1}, .row = 4}};

Seen plus(const std::vector<double>& by) {
  Seen all{kSights.front().right};
  for (std::size_t i = 0; i < by.size(); ++i) all[0][i] += by[i];
  return all;
}

const Seen kHealthy = plus({.01, 0, -.02, 0});

Match of(const Seen& actual, const Seen& faulty) { return match(kSights, actual, kHealthy, faulty); }

TEST(Match, TheSameOutputMatches) {
  const Seen actual = plus({0, 5, 0, 5});
  const Match m = of(actual, actual);
  EXPECT_EQ(m.ratio, 0);
  EXPECT_NEAR(m.healthy, 50, 1);
  EXPECT_EQ(m.score(), 0);
}

TEST(Match, WithinTheBoundIsTheSameShape) {
  const Match m = of(plus({0, 5, 0, 5}), plus({.02, 5.03, -.02, 4.96}));
  EXPECT_LT(m.ratio, 1);
  EXPECT_EQ(m.shape, 0);
  EXPECT_LT(m.residual, 0.1);
}

TEST(Match, AnErrorElsewhereHasNothingInCommon) {
  const Match m = of(plus({0, 5, 0, 0}), plus({5, 0, 0, 0}));
  EXPECT_GT(m.ratio, 10);
  EXPECT_NEAR(m.shape, 1, 0.05);
}

TEST(Match, TheOtherSignIsWorseThanNothingInCommon) {
  EXPECT_GT(of(plus({0, 5, 0, 5}), plus({0, -5, 0, -5})).shape, 1.5);
}

TEST(Match, ALikeShapeOfOtherSizeIsNearerThanAnother) {
  const Seen actual = plus({0, 5, 0, 5});
  EXPECT_LT(of(actual, plus({0, 3, 0, 8})).score(), of(actual, plus({0, 3, 6, 0})).score());
}

TEST(Match, FaultsWithinTheBoundAreToldByTheirResidual) {
  const Seen actual = plus({.05, -.06, .04, -.05});
  EXPECT_LT(of(actual, plus({.04, -.05, .05, -.05})).residual, 0.1);
  EXPECT_GT(of(actual, plus({-.05, .06, -.04, .05})).residual, 0.6);
}

TEST(Match, NanMustStandWhereTheFaultPutsIt) {
  const double nan = std::nan("");
  const Seen actual = plus({0, nan, 0, 0});
  EXPECT_EQ(of(actual, plus({0, nan, 0, 0})).shape, 0);
  EXPECT_TRUE(std::isinf(of(actual, plus({nan, 0, 0, 0})).ratio));
  EXPECT_GT(of(actual, plus({nan, 0, 0, 0})).shape, 0.9);
}

TEST(Match, AModelLessExactThanTheKernelIsNoEvidence) {
  const Seen coarse = plus({.3, .3, .3, .3});  // healthy, but three bounds off
  const Match m = match(kSights, plus({0, 5, 0, 0}), coarse, plus({.3, 5.3, .3, .3}));
  EXPECT_LT(m.ratio, 1);
  EXPECT_EQ(m.shape, 0);
}

TEST(Match, AnOutputThatGrewHasABoundThatGrew) {
  const Match m = of(plus({9, -18, 27, 36}), plus({9.5, -18.5, 27.5, 36.5}));  // ten times
  EXPECT_LT(m.ratio, 1);
}

TEST(Match, NothingIsPromisedWhereTheBoundIsInfinite) {
  auto sights = kSights;
  sights[0].bound[2] = std::numeric_limits<double>::infinity();
  EXPECT_EQ(match(sights, plus({0, 0, 99, 0}), kHealthy, plus({0, 0, 0, 0})).shape, 0);
}

TEST(Match, NearlyTheSameIsHalfABoundOrTheRoundingOfTheValue) {
  EXPECT_TRUE(nearly_same(kSights, plus({0, 0, 0, 0}), plus({.04, 0, 0, 0})));
  EXPECT_FALSE(nearly_same(kSights, plus({0, 0, 0, 0}), plus({.06, 0, 0, 0})));
  EXPECT_TRUE(nearly_same(kSights, plus({1e6, 0, 0, 0}), plus({1e6 + 5, 0, 0, 0})));
  EXPECT_FALSE(nearly_same(kSights, plus({std::nan(""), 0, 0, 0}), plus({0, 0, 0, 0})));
}

TEST(Match, ALaunchThatLeftNothingIsLeftOut) {
  EXPECT_EQ(of(plus({}), Seen{{}}).score(), 0.5);
  EXPECT_TRUE(std::isinf(largest_difference(kSights, plus({}), Seen{{}})));
}

}  // namespace
}  // namespace attest
