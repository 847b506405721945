#include "harness/study/diagnosis/match.h"

#include <algorithm>
#include <cmath>

namespace attest {
namespace {

constexpr double kSilence = 1;    // bounds that a right kernel may be off: no shape
constexpr double kWeight = 0.05;  // of a sight's shape, below which it hardly counts
constexpr double kSpecial = 1e4;  // bounds that NaN and Inf count for
constexpr double kLargest = 1e12;
constexpr double kRounding = 1e-5;  // of two ways to compute one value in binary32

// Difference in bounds, NaN and Inf by their places.
double off(double value, double from, double bound) {
  const bool special = !std::isfinite(value), expected = !std::isfinite(from);
  if (special && expected) return std::isnan(value) == std::isnan(from) ? 0 : kSpecial;
  if (special || expected) return kSpecial;
  if (value == from) return 0;
  return std::clamp((value - from) / std::max(bound, 1e-300), -kLargest, kLargest);
}

double compressed(double bounds) {
  const double outside = std::max(0.0, std::abs(bounds) - kSilence);
  return std::copysign(std::log1p(outside * outside), bounds);
}

// A faulty output of ten times the size has errors of ten times the size: by how much a row's bound grows.
double growth(const Sight& sight, const std::vector<double>& faulty, std::size_t begin, std::size_t end) {
  double right = 0, wrong = 0;
  for (std::size_t i = begin; i < end; ++i) {
    if (std::isfinite(sight.right[i])) right = std::max(right, std::abs(sight.right[i]));
    if (std::isfinite(faulty[i])) wrong = std::max(wrong, std::abs(faulty[i]));
  }
  return right > 0 && wrong > right ? wrong / right : 1;
}

struct Sums {
  double difference = 0, size = 0;  // of shapes
  double faulty = 0, healthy = 0;   // squares of residuals within the bound
};

bool promised(double bound) { return bound < INFINITY; }

void add_row(const Sight& sight, const std::vector<double>& actual, const std::vector<double>& healthy,
             const std::vector<double>& faulty, std::size_t begin, Sums& sums, Match& total) {
  const std::size_t end = std::min(begin + sight.row, sight.right.size());
  const double grown = growth(sight, faulty, begin, end);
  for (std::size_t i = begin; i < end; ++i) {
    const double bound = sight.bound[i];
    if (!promised(bound)) continue;
    // Where the model can't be as exact as the kernel claims to be, only what the fault changes counts.
    const double right = sight.right[i], own = healthy[i] - right;
    const bool inexact = std::isfinite(own) && std::abs(own) > kSilence * bound;
    const double predicted = faulty[i] - (inexact ? own : 0), well = healthy[i] - (inexact ? own : 0);
    const double a = off(actual[i], right, bound), f = off(predicted, right, bound);
    const double to_faulty = off(actual[i], predicted, bound * grown), to_healthy = off(actual[i], well, bound);
    // What agrees within the (grown) bound agrees.
    const double shape_a = compressed(a), shape_f = std::abs(to_faulty) < kSilence ? shape_a : compressed(f);
    sums.difference += (shape_a - shape_f) * (shape_a - shape_f);
    sums.size += shape_a * shape_a + shape_f * shape_f;
    const double near_faulty = std::min(1.0, std::abs(to_faulty)), near_healthy = std::min(1.0, std::abs(to_healthy));
    sums.faulty += near_faulty * near_faulty;
    sums.healthy += near_healthy * near_healthy;
    total.ratio = std::max(total.ratio, std::abs(to_faulty) == kSpecial && !std::isfinite(actual[i] - predicted)
                                            ? INFINITY
                                            : std::abs(to_faulty));
    total.healthy = std::max(total.healthy, std::abs(to_healthy));
  }
}

}  // namespace

Match match(std::span<const Sight> sights, const Seen& actual, const Seen& healthy, const Seen& faulty) {
  Match total;
  double shapes = 0, shape_weight = 0, residuals = 0, residual_weight = 0;
  for (std::size_t s = 0; s < sights.size(); ++s) {
    const Sight& sight = sights[s];
    const std::size_t count = sight.right.size();
    if (actual[s].size() != count || healthy[s].size() != count || faulty[s].size() != count) continue;
    Sums sums;
    for (std::size_t begin = 0; begin < count; begin += sight.row)
      add_row(sight, actual[s], healthy[s], faulty[s], begin, sums, total);
    if (const double weight = sums.size / (sums.size + kWeight); sums.size > 0) {
      shapes += weight * sums.difference / sums.size;
      shape_weight += weight;
    }
    if (const double both = sums.faulty + sums.healthy; both > 0) {
      const double weight = both / (both + kWeight);
      residuals += weight * sums.faulty / both;
      residual_weight += weight;
    }
  }
  total.shape = shape_weight > 0 ? shapes / shape_weight : 0;
  total.residual = residual_weight > 0 ? residuals / residual_weight : 0.5;
  return total;
}

bool nearly_same(std::span<const Sight> sights, const Seen& a, const Seen& b) {
  for (std::size_t s = 0; s < a.size(); ++s) {
    if (a[s].size() != b[s].size()) return false;
    for (std::size_t i = 0; i < a[s].size(); ++i) {
      if (!promised(sights[s].bound[i])) continue;
      const double bound = std::max(0.5 * sights[s].bound[i], kRounding * std::abs(a[s][i]));
      if (!(std::abs(off(a[s][i], b[s][i], bound)) <= 1)) return false;
    }
  }
  return true;
}

double largest_difference(std::span<const Sight> sights, const Seen& a, const Seen& b) {
  double largest = 0;
  for (std::size_t s = 0; s < sights.size(); ++s) {
    if (a[s].size() != b[s].size()) return INFINITY;
    for (std::size_t i = 0; i < a[s].size() && i < sights[s].bound.size(); ++i)
      if (promised(sights[s].bound[i]))
        largest = std::max(largest, std::abs(off(a[s][i], b[s][i], sights[s].bound[i])));
  }
  return largest;
}

}  // namespace attest
