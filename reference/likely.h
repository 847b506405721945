// Sums of independent errors: at six standard deviations they grow as the root of their number. What is not independent
// is added up first: keys of equal weights are rounded alike, and so are, nearly, those of nearly equal ones.
#pragma once

#include <ATen/core/Tensor.h>

namespace attest {

constexpr double kSigmas = 6;
// Standard deviation of a rounding to nearest in units of u |x|, for mantissas spread as those of random numbers are:
// 1/sqrt(3) (uniform within the unit) times 0.7355 (the unit against |x|).
constexpr double kRoundingSigma = 0.43;

// Scores of keys that are alike to the bit err alike; others agree in P by chance only to about this precision.
constexpr int kAlike = 16;

// Which keys' errors go together. Weights within a factor of 2^-precision / 2 are rounded alike unless a boundary lies
// between them; those that are alike to the bit are, in all tiles or, where each has a maximum of its own, within a
// tile of keys (0: not known).
struct Likeness {
  int precision = kAlike, tile = 0;
};

// f64 [b, r, dim_v]: the root of sum over groups of (sum_{j in group} e_j (v_j - o))^2, e f32 [b, r, n] the largest
// error of each weight, p its size. Both kinds of groups are added, of the second the worse reading. `centre`
// undefined: o = 0.
at::Tensor rounding_spread(const at::Tensor& e, const at::Tensor& p, const Likeness& like, const at::Tensor& values,
                           const at::Tensor& centre);

// f64 [b, r, 1]: the mean size of a group, each key counted: 1 where no two weights agree, n where all do.
at::Tensor mean_group(const at::Tensor& p, int precision);

}  // namespace attest
