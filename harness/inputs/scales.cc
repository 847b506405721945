#include "harness/inputs/scales.h"

#include "harness/inputs/random.h"

namespace attest {
namespace {

// Per head 0.3 to 1.9, odd multiples of 2^-10, spread so that a head read with another's scale shows.
ScaleSet spread(const Dims& shape, std::uint64_t seed, std::string_view stream) {
  const Random random(seed, stream);
  ScaleSet set{.present = true, .shape = shape, .values = {}};
  for (std::int64_t i = 0; i < element_count(shape); ++i) {
    const auto step = 307 + 2 * random.below(819, static_cast<std::uint64_t>(i));
    set.values.push_back(static_cast<float>(step) / 1024.0F);
  }
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
    case Scales::Head:
    case Scales::SeqHead: {
      const Dims shape = p.scales == Scales::Head ? Dims{p.heads_kv} : Dims{static_cast<std::int64_t>(p.seqs.size()), p.heads_kv};
      scales.k = spread(shape, seed, "k_scale");
      scales.v = spread(shape, seed, "v_scale");
      if (scaled_q) scales.q = spread(shape, seed, "q_scale");
      break;
    }
  }
  return scales;
}

}  // namespace attest
