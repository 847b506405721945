#include "harness/inputs/scales.h"

#include "harness/inputs/random.h"

#include <cmath>

namespace attest {
namespace {

// Per head 0.3 to 1.9, odd multiples of 2^-10. K's, V's and q's are thirds of one permutation: no two alike, so that a
// scale read in another's place shows.
constexpr int kSteps = 819;
enum class Third { K, V, Q };

ScaleSet spread(const Dims& shape, std::uint64_t seed, Third third) {
  const Random random(seed, "scales");
  const auto order = random.permutation(kSteps, 0);
  ScaleSet set{.present = true, .shape = shape, .values = {}};
  for (std::int64_t i = 0; i < element_count(shape); ++i) {
    const auto step = order[static_cast<std::size_t>((static_cast<int>(third) * kSteps / 3 + i) % kSteps)];
    set.values.push_back(static_cast<float>(307 + 2 * step) / 1024.0F);
  }
  return set;
}

// Each times a power of two from 2^-6 to 2^6, the same for no two neighbours.
ScaleSet wide(ScaleSet set, std::uint64_t seed, Third third) {
  constexpr int kMost = 6;
  const auto powers = Random(seed, "wide scales").permutation(2 * kMost + 1, static_cast<std::uint64_t>(third) * 100);
  for (std::size_t i = 0; i < set.values.size(); ++i)
    set.values[i] = std::ldexp(set.values[i], powers[i % powers.size()] - kMost);
  return set;
}

ScaleSet per_tensor(float value) { return {.present = true, .shape = {1}, .values = {value}}; }

}  // namespace

double ScaleSet::at(int seq, int head_kv) const {
  if (!present) return 1;
  if (shape.size() == 2) return values[static_cast<std::size_t>(seq * shape[1] + head_kv)];
  return values[shape[0] == 1 ? 0 : static_cast<std::size_t>(head_kv)];
}

CallScales make_scales(const Problem& p, std::uint64_t seed) {
  const bool scaled_q = is_fp8(p.q);  // a wide q has no scale
  CallScales scales;
  switch (p.scales) {
    case Scales::None: break;
    case Scales::KOnly: scales.k = per_tensor(0.37F); break;
    case Scales::VOnly: scales.v = per_tensor(0.71F); break;
    case Scales::Unit:
      scales.k = per_tensor(1);
      scales.v = per_tensor(1);
      if (scaled_q) scales.q = per_tensor(1);
      break;
    case Scales::Odd:
      scales.k = per_tensor(0.37F);
      scales.v = per_tensor(0.71F);
      if (scaled_q) scales.q = per_tensor(0.53F);
      break;
    case Scales::Wide:
      scales.k = wide(spread({p.heads_kv}, seed, Third::K), seed, Third::K);
      scales.v = wide(spread({p.heads_kv}, seed, Third::V), seed, Third::V);
      if (scaled_q) scales.q = wide(spread({p.heads_kv}, seed, Third::Q), seed, Third::Q);
      break;
    case Scales::Head:
    case Scales::SeqHead: {
      const Dims shape =
          p.scales == Scales::Head ? Dims{p.heads_kv} : Dims{static_cast<std::int64_t>(p.seqs.size()), p.heads_kv};
      scales.k = spread(shape, seed, Third::K);
      scales.v = spread(shape, seed, Third::V);
      if (scaled_q) scales.q = spread(shape, seed, Third::Q);
      break;
    }
  }
  return scales;
}

}  // namespace attest
