// Which errors are added up, and which grow as the root of their number.
#include "reference/likely.h"

#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>

#include <gtest/gtest.h>

#include <cmath>

namespace attest {
namespace {

constexpr int kKeys = 256;

// One row of 256 keys.
struct Row {
  at::Tensor errors = at::full({1, 1, kKeys}, 0.01F), weights = at::ones({1, 1, kKeys}),
             values = at::ones({1, kKeys, 1});

  template <typename Change>
  void each(at::Tensor& of, const Change& change) {
    for (int j = 0; j < kKeys; ++j) of.mutable_data_ptr<float>()[j] = static_cast<float>(change(j));
  }
  double spread(const Likeness& like) const {
    return rounding_spread(errors, weights, like, values, {}).item<double>() / 0.01;
  }
};

TEST(Likely, DifferentWeightsGrowAsTheRoot) {
  Row row;
  row.each(row.weights, [](int j) { return std::exp2(-j / 16.0); });  // farther apart than half a unit of 4 bits
  EXPECT_NEAR(row.spread({4, 128}), std::sqrt(2.0 * kKeys), 1e-5);
}

TEST(Likely, EqualWeightsAddUp) {
  const Row row;
  EXPECT_GE(row.spread({4, 128}), kKeys);
  EXPECT_LE(row.spread({4, 128}), 1.5 * kKeys);
}

TEST(Likely, NearlyEqualOnesDoNotCancel) {
  Row row;  // two kinds, 1 % apart, under opposite V: a boundary between them rounds only one
  row.each(row.weights, [](int j) { return j % 2 ? 1 : 0.99; });
  row.each(row.values, [](int j) { return j % 2 ? 1 : -1; });
  EXPECT_GE(row.spread({4, 0}), kKeys / 2);
  EXPECT_GE(row.spread({4, 128}), kKeys / 2);
}

TEST(Likely, TilesDoNotCancelEachOther) {
  Row row;  // each tile has a maximum of its own
  row.each(row.values, [](int j) { return j < kKeys / 2 ? 1 : -1; });
  EXPECT_GE(row.spread({4, 128}), kKeys / 2);
  EXPECT_GE(row.spread({4, 0}), kKeys / 4) << "nor where the tile is not known";
}

TEST(Likely, MeanGroup) {
  Row row;
  EXPECT_EQ(mean_group(row.weights, kAlike).item<double>(), kKeys);
  row.each(row.weights, [](int j) { return 1 + j / 256.0; });
  EXPECT_EQ(mean_group(row.weights, kAlike).item<double>(), 1);
  row.each(row.weights, [](int j) { return 1 + j % 4; });
  EXPECT_EQ(mean_group(row.weights, kAlike).item<double>(), kKeys / 4);
  row.each(row.weights, [](int j) { return j < 200 ? 0 : 1; });
  EXPECT_EQ(mean_group(row.weights, kAlike).item<double>(), kKeys - 200) << "keys that are not seen do not count";
  row.each(row.weights, [](int) { return NAN; });
  EXPECT_EQ(mean_group(row.weights, kAlike).item<double>(), 1) << "a row that sees no key";
}

}  // namespace
}  // namespace attest
