// How close simulated kernels come to the error bound of a call.
#pragma once

#include "reference/attention.h"
#include "tests/reference/problems.h"
#include "tests/reference/simulator.h"

#include <cmath>

namespace attest::test {

// No rounding anywhere: what a test then adds is all there is.
inline Arithmetic exact_arithmetic() {
  Arithmetic a;
  a.qk_acc.dtype = a.p = a.sum_acc = a.pv_acc.dtype = DType::F64;
  a.score_roundings = a.final_roundings = 0;
  return a;
}

struct Held {
  double out = 0, lse = 0;  // the largest |error| / bound
  long pairs = 0;           // (element, trial) that were looked at
};

// A kernel of one arithmetic held to the bound of another: every row, dim and kind of noise, `trials` times each.
inline Held hold(const Made& made, const Arithmetic& declared, const Arithmetic& real, int splits, int trials,
                 std::uint64_t seed) {
  const Expected expected = attend(made.problem, made.call, declared, {});
  const auto ratio = [](Real error, double bound) {
    return error == 0 || bound == INFINITY ? 0 : static_cast<double>(std::abs(error)) / bound;
  };
  const auto raise = [](double& most, double to) {
    if (!(to <= most)) most = to;
  };
  Held held;
  for (const Row& row : rows_of(made.problem, made.call))
    for (const Noise::Kind kind : Noise::kinds)
      for (int trial = 0; trial < trials; ++trial) {
        for (int dim = 0; dim < made.problem.dim_v; ++dim, ++held.pairs) {
          Noise noise(kind, ++seed);
          const Real error =
              Simulator(row, real, dim, noise).out(splits) - row.exact[static_cast<std::size_t>(dim)] * row.v_scale;
          raise(held.out, ratio(error, expected.out.bound[expected.out.index(row.token, row.head, dim)]));
        }
        Noise noise(kind, ++seed);
        const Real error = Simulator(row, real, Simulator::kLse, noise).lse(splits) - row.lse;
        raise(held.lse, ratio(error, expected.lse.bound[expected.lse.index(row.token, row.head, 0)]));
      }
  return held;
}

}  // namespace attest::test
