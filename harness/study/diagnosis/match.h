// How well what a kernel left agrees with what a model leaves under one fault. Elements are measured in units of their
// error bound. Two views are added: the shape of what is outside the bound (compressed, so that one huge element does
// not hide all others, and so that a fault is known again though its tiles begin elsewhere), and the residual within
// it, by which faults of rounding are told apart.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace attest {

// One tensor of one case, as it should be: what a kernel's is measured against.
struct Sight {
  std::vector<double> right, bound;
  std::size_t row = 1;  // elements a row, which share the size of their errors
};

using Seen = std::vector<std::vector<double>>;  // by sight; empty: the launch left nothing

struct Match {
  double ratio = 0;     // largest |actual - faulty| / bound; inf where NaN and Inf are not at the same places
  double healthy = 0;   // largest |actual - healthy| / bound
  double shape = 0;     // 0 the same, 1 nothing in common, 2 opposite
  double residual = 0;  // 0 explained, 1/2 as good as no fault, 1 worse
  double score() const { return shape + residual; }  // small is good
};

Match match(std::span<const Sight> sights, const Seen& actual, const Seen& healthy, const Seen& faulty);

// The largest difference of two predictions in units of the bound; inf where NaN and Inf differ.
double largest_difference(std::span<const Sight> sights, const Seen& a, const Seen& b);

// Are two predictions nowhere farther apart than half a bound, or than the rounding of the values themselves?
bool nearly_same(std::span<const Sight> sights, const Seen& a, const Seen& b);

}  // namespace attest
