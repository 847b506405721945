// The comparison with a bound: what is within, what is not, what is out of place, and where the worst element is.
#include "harness/judge/compare.h"
#include "tests/judge/small.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace attest {
namespace {

using test::numbered;
using test::ragged_problem;

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// One element: row 0, head 0, dim 0.
Comparison one(double expected, double actual, double bound) {
  ExpectedTensor t(1, 1, 1);
  t.value[0] = expected;
  t.bound[0] = bound;
  return compare(
      t, [=](int, int, int) { return actual; }, ragged_problem("1x1", "1:1"));
}

bool holds(double expected, double actual, double bound) { return one(expected, actual, bound).holds(); }

TEST(Compare, ABoundIsInclusive) {
  EXPECT_TRUE(holds(1, 1.5, 0.5));
  EXPECT_TRUE(holds(1, 0.5, 0.5));
  EXPECT_FALSE(holds(0, std::nextafter(0.5, 1), 0.5));
  EXPECT_FALSE(holds(0, -std::nextafter(0.5, 1), 0.5));
}

TEST(Compare, AZeroBoundWantsEquality) {
  EXPECT_TRUE(holds(1, 1, 0));
  EXPECT_TRUE(holds(0, -0.0, 0));
  EXPECT_FALSE(holds(1, std::nextafter(1, 2), 0));
  EXPECT_FALSE(holds(0, std::numeric_limits<double>::denorm_min(), 0));
  EXPECT_EQ(one(1, 1, 0).ratio, 0);
  EXPECT_EQ(one(1, 2, 0).ratio, kInf);
}

TEST(Compare, NanAndInfMustBeWhereTheyBelong) {
  EXPECT_TRUE(holds(kNan, kNan, 0));
  EXPECT_TRUE(holds(kNan, -kNan, 0));
  EXPECT_TRUE(holds(kInf, kInf, 0));
  EXPECT_TRUE(holds(-kInf, -kInf, 0));
  for (const auto& [expected, actual] : {std::pair{kNan, 1.0},
                                         {kNan, kInf},
                                         {kInf, -kInf},
                                         {kInf, 1e300},
                                         {kInf, kNan},
                                         {-kInf, kInf},
                                         {1.0, kNan},
                                         {1.0, kInf},
                                         {1.0, -kInf}}) {
    const Comparison c = one(expected, actual, 1e300);  // no bound is wide enough
    EXPECT_FALSE(c.holds()) << expected << " got " << actual;
    EXPECT_TRUE(c.special.has_value()) << expected << " got " << actual;
    EXPECT_EQ(c.failing, 1);
  }
  EXPECT_FALSE(one(1, 5, 1).special.has_value());
}

TEST(Compare, NothingIsPromisedUnderAnInfiniteBound) {
  for (const double actual : {1.0, 1e300, kNan, kInf}) {
    const Comparison c = one(1, actual, kInf);
    EXPECT_TRUE(c.holds());
    EXPECT_EQ(c.elements, 0);
    EXPECT_FALSE(c.worst.has_value());
  }
}

TEST(Compare, ABoundThatIsNoNumberFails) { EXPECT_FALSE(holds(1, 1.25, kNan)); }

TEST(Compare, TheWorstElementAndItsRatio) {
  const auto expected = numbered(3, 2, 3);
  const auto actual = [&](int row, int head, int dim) {
    double value = expected.value[expected.index(row, head, dim)];
    if (row == 1 && head == 1 && dim == 2) value += 0.3;
    if (row == 2 && head == 0 && dim == 1) value -= 0.4;  // sequence 2, its row 0
    return value;
  };
  const Comparison c = compare(expected, actual, ragged_problem());
  EXPECT_TRUE(c.holds());
  EXPECT_EQ(c.elements, 18);
  EXPECT_NEAR(c.ratio, 0.8, 1e-12);
  ASSERT_TRUE(c.worst.has_value());
  EXPECT_EQ(c.worst->place.seq, 2);
  EXPECT_EQ(c.worst->place.row, 0);
  EXPECT_EQ(c.worst->place.head, 0);
  EXPECT_EQ(c.worst->place.dim, 1);
  EXPECT_EQ(c.worst->expected, 202);
  EXPECT_NEAR(c.worst->actual, 201.6, 1e-12);
  EXPECT_EQ(c.worst->bound, 0.5);
}

TEST(Compare, TheRatioIsOfErrorToBoundNotOfErrors) {
  auto expected = numbered(3, 2, 3);
  expected.bound[0] = 1e-3;
  const Comparison c = compare(
      expected,
      [&](int row, int head, int dim) {
        return expected.value[expected.index(row, head, dim)] + (row == 0 && head == 0 && dim == 0 ? 9e-4 : 0.4);
      },
      ragged_problem());
  EXPECT_NEAR(c.ratio, 0.9, 1e-9);
  EXPECT_EQ(c.worst->place.row, 0);
}

TEST(Compare, ANanElsewhereHidesNoNumberOutsideItsBound) {
  const auto expected = numbered(3, 2, 3);
  const Comparison c = compare(
      expected,
      [&](int row, int head, int dim) {
        if (row == 0 && head == 0 && dim == 0) return kNan;
        return expected.value[expected.index(row, head, dim)] + (row == 2 ? 5 : 0);
      },
      ragged_problem());
  EXPECT_EQ(c.failing, 1 + 6);
  ASSERT_TRUE(c.special.has_value());
  EXPECT_EQ(c.special->place.row, 0);
  EXPECT_EQ(c.worst->place.seq, 2);
  EXPECT_NEAR(c.ratio, 10, 1e-12);
}

TEST(Compare, CellsAreTheSequencesAndHeadsThatFail) {
  const auto expected = numbered(3, 2, 3);
  const Comparison c = compare(
      expected,
      [&](int row, int head, int dim) {
        const bool wrong = (row == 1 && head == 0) || (row == 2 && head == 1 && dim == 0);
        return expected.value[expected.index(row, head, dim)] + wrong;
      },
      ragged_problem());
  EXPECT_EQ(c.cells, (std::vector<std::string>{"0.0", "2.1"}));
  EXPECT_EQ(c.failing, 4);
}

TEST(Compare, ReadsTensorsByRowHeadDimAndTheLseByHeadRow) {
  const Tensor out(DType::F32, {3, 2, 3}), lse(DType::F32, {2, 3});
  const auto put = [](const Tensor& t, std::initializer_list<std::int64_t> at, double value) {
    store_code(DType::F32, t.view().data + t.view().offset(at) * 4, encode(DType::F32, value));
  };
  const auto expected = numbered(3, 2, 3), expected_lse = numbered(3, 2, 1);
  for (int row = 0; row < 3; ++row)
    for (int head = 0; head < 2; ++head) {
      for (int dim = 0; dim < 3; ++dim) put(out, {row, head, dim}, expected.value[expected.index(row, head, dim)]);
      put(lse, {head, row}, expected_lse.value[expected_lse.index(row, head, 0)]);
    }
  EXPECT_EQ(compare(expected, elements_of(out.view()), ragged_problem()).ratio, 0);
  EXPECT_EQ(compare(expected_lse, elements_of_lse(lse.view()), ragged_problem()).ratio, 0);
  put(lse, {1, 2}, 7);
  EXPECT_EQ(compare(expected_lse, elements_of_lse(lse.view()), ragged_problem()).cells,
            (std::vector<std::string>{"2.1"}));
}

TEST(Compare, SaysWhereInWords) {
  Miss miss{{1, 3, 0, 17}, 0.25, 0.5, 0.001};
  EXPECT_EQ(text(miss), "sequence 1, head 3, row 0, dim 17: got 0.5, expected 0.25 within 0.001");
  miss.place.dim = -1;
  miss.actual = -kNan;
  EXPECT_EQ(text(miss), "sequence 1, head 3, row 0: got nan, expected 0.25 within 0.001");
}

}  // namespace
}  // namespace attest
