// What the tensors hold: one value for each element of q, K and V, as a function of where it stands.
//
// Values are in stored units (value = stored * scale), before they are rounded to the tensor's dtype. Structured
// fills have known answers and survive 8-bit storage exactly; random ones come last in what they can tell.
#pragma once

#include "harness/core/problem.h"
#include "harness/inputs/scales.h"

#include <memory>
#include <optional>

namespace attest {

class Fill {
 public:
  virtual ~Fill() = default;
  virtual double q(int seq, int row, int head, int dim) const = 0;       // head: query head
  virtual double k(int seq, int position, int head, int dim) const = 0;  // head: KV head
  virtual double v(int seq, int position, int head, int dim) const = 0;
  virtual std::optional<double> sink(int) const { return std::nullopt; }  // of a query head; unset: the case's own
  virtual bool one_hot() const { return false; }                          // Call::one_hot
};

// What every fill is made from; outlives it.
struct FillContext {
  const Problem& problem;
  const CallScales& scales;
  std::uint64_t seed;
  double k_scale(int seq, int head) const { return problem.scales_apply ? scales.k.at(seq, head) : 1; }
  double v_scale(int seq, int head) const { return problem.scales_apply ? scales.v.at(seq, head) : 1; }
};

// Throws UsageError where the probe can't be made for the problem, e.g. a one-hot softmax under a wide q scale.
std::unique_ptr<Fill> make_fill(Probe probe, const FillContext& context);

std::unique_ptr<Fill> make_random_fill(Probe probe, const FillContext& context);  // gauss, peaky, outlier, special
std::unique_ptr<Fill> make_exact_fill(Probe probe, const FillContext& context);   // select, sentinel, identity, mass
std::unique_ptr<Fill> make_logit_fill(Probe probe, const FillContext& context);  // ramp, tail, sink, cap, ties, extreme
// `whole` with V zero but at `keys` positions of each sequence: its last, its first, and others drawn by the seed.
std::unique_ptr<Fill> make_sparse_fill(std::unique_ptr<Fill> whole, int keys, const FillContext& context);

// Keys that every row of a sequence sees, and that the row sees.
KeyRange visible_to_all(const Problem& problem, int seq);
KeyRange visible_to(const Problem& problem, int seq, int row);

}  // namespace attest
