// A trivial output is accepted exactly when the case's rule could not tell it from the right one.
#include "harness/judge/vacuous.h"
#include "tests/judge/small.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

namespace attest {
namespace {

using test::numbered;
using test::ragged_problem;

std::vector<std::string> names(const ExpectedTensor& expected, const Problem& problem) {
  std::vector<std::string> all;
  for (const auto& trivial : trivial_outputs(expected, problem)) all.emplace_back(trivial.name);
  return all;
}

std::optional<std::string> accepted(const ExpectedTensor& expected, const Problem& problem) {
  return accepted_trivial(expected, trivial_outputs(expected, problem), problem);
}

// The values of some elements changed.
template <typename Change>
ExpectedTensor changed(ExpectedTensor tensor, Change change) {
  for (int row = 0; row < tensor.rows; ++row)
    for (int head = 0; head < tensor.heads; ++head)
      for (int dim = 0; dim < tensor.dim; ++dim) {
        double& value = tensor.value[tensor.index(row, head, dim)];
        value = change(row, head, dim, value);
      }
  return tensor;
}

TEST(Vacuous, TrivialOutputsThatExist) {
  const std::string zeros = "zeros", negated = "the output negated", constant = "a constant", row = "another row",
                    head = "another head", sequence = "another sequence";
  EXPECT_EQ(names(numbered(3, 2, 3), ragged_problem()), (std::vector{zeros, negated, constant, row, sequence, head}));
  EXPECT_EQ(names(numbered(1, 1, 3), ragged_problem("1x4", "1:1")), (std::vector{zeros, negated, constant}));
  EXPECT_EQ(names(numbered(2, 1, 3), ragged_problem("1x4,1x5", "1:1")),
            (std::vector{zeros, negated, constant, sequence}));
  EXPECT_EQ(names(numbered(2, 1, 3), ragged_problem("2x4,0x5", "1:1")), (std::vector{zeros, negated, constant, row}));
}

TEST(Vacuous, NothingIsAcceptedOfTellableOutputs) {
  EXPECT_EQ(accepted(numbered(3, 2, 3), ragged_problem()), std::nullopt);
}

TEST(Vacuous, ZerosWhenAllAreWithinTheirBoundOfZero) {
  const auto small = changed(numbered(3, 2, 3), [](int row, int, int, double) { return row == 1 ? -0.5 : 0.5; });
  EXPECT_EQ(accepted(small, ragged_problem()), "zeros");
  // One element that zero is outside of is enough.
  EXPECT_NE(
      accepted(changed(small, [](int row, int head, int dim, double v) { return row + head + dim == 0 ? 0.51 : v; }),
               ragged_problem()),
      "zeros");
}

TEST(Vacuous, AConstantWhenOneLiesWithinAllBounds) {
  auto expected = numbered(1, 1, 3);
  const auto problem = ragged_problem("1x4", "1:1");
  expected.value = {1.0, 1.5, 2.0};
  expected.bound = {0.6, 0.1, 0.6};
  EXPECT_EQ(accepted(expected, problem), "a constant");
  expected.likely = {0.45, 0.1, 0.6};  // what judges
  EXPECT_EQ(accepted(expected, problem), "a constant");
  expected.likely = {0.3, 0.1, 0.6};
  EXPECT_EQ(accepted(expected, problem), std::nullopt);
}

TEST(Vacuous, TheNegatedWhenTwiceTheValueIsWithinTheBound) {
  auto expected = numbered(1, 1, 3);
  expected.value = {0.2, -0.25, 0.25};
  expected.bound = {0.5, 0.5, 0.5};
  const auto problem = ragged_problem("1x4", "1:1");
  EXPECT_EQ(accepted(expected, problem), "zeros");
  expected.bound = {0.5, 0.3, 0.1};
  EXPECT_EQ(accepted(expected, problem), std::nullopt);
  expected.value[2] = 0;  // zeros, and its negative, are right there
  expected.bound = {0.4, 0.5, 0};
  EXPECT_EQ(accepted(expected, problem), "zeros");
  // Infinite values: only the negated output would be told by its sign.
  expected.value = {std::numeric_limits<double>::infinity(), 0, 0};
  EXPECT_EQ(accepted(expected, problem), std::nullopt);
  expected.value[0] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(accepted(expected, problem), "the output negated");  // zeros are out of place at the NaN
}

TEST(Vacuous, AnotherRowHeadOrSequenceWhenTheyAreAlike) {
  const Problem problem = ragged_problem();
  // Rows of a sequence alike, sequences and heads not.
  const auto rows = changed(
      numbered(3, 2, 3), [](int row, int head, int dim, double) { return (row == 2 ? 100 : 200) + 10 * head + dim; });
  EXPECT_EQ(accepted(rows, problem), "another row");
  const auto heads = changed(numbered(3, 2, 3), [](int row, int, int dim, double) { return 100 * row + dim + 1; });
  EXPECT_EQ(accepted(heads, problem), "another head");
  // Sequence 2 stands in for row 0 and row 1 (its last row), sequence 0's first row for it: rows 0 and 1 differ from 2.
  const auto one_row_each =
      changed(numbered(2, 2, 3), [](int, int head, int dim, double) { return 10 * head + dim + 1; });
  EXPECT_EQ(accepted(one_row_each, ragged_problem("1x9,1x5")), "another sequence");
}

TEST(Vacuous, NothingPromisedMeansAllIsAccepted) {
  auto expected = numbered(3, 2, 3);
  std::ranges::fill(expected.bound, std::numeric_limits<double>::infinity());
  EXPECT_EQ(accepted(expected, ragged_problem()), "zeros");
}

TEST(Vacuous, OutputsOfTheCallerCountToo) {
  const auto expected = numbered(3, 2, 3), near = changed(expected, [](int, int, int, double v) { return v + 0.4; });
  auto all = trivial_outputs(expected, ragged_problem());
  all.push_back({"the mean of V", elements_of(near)});
  EXPECT_EQ(accepted_trivial(expected, all, ragged_problem()), "the mean of V");
}

}  // namespace
}  // namespace attest
