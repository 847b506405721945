#include "reference/kv_write.h"

#include <algorithm>

namespace attest {
namespace {

// x / scale, or x * (1 / scale), each rounded to the format of the computation. Products and quotients of binary32
// numbers survive the detour through binary64 unharmed (53 >= 2 * 24 + 2).
double scaled(double value, double scale, const WriteArithmetic& a) {
  if (a.by_reciprocal) return round_to(a.compute, value * round_to(a.compute, 1 / scale));
  return round_to(a.compute, value / scale);
}

double scale_of(const Call& call, Slot slot, std::int64_t seq, std::int64_t head) {
  const TensorView view = call.view(slot);
  if (view.shape.size() == 2) return view.value({seq, head});
  return view.value({view.shape[0] == 1 ? 0 : head});
}

}  // namespace

std::map<std::size_t, std::vector<std::byte>> write_cache(const Problem& p, const Call& call,
                                                          const WriteArithmetic& a) {
  std::map<std::size_t, std::vector<std::byte>> caches;
  for (const Slot slot : {Slot::KCache, Slot::VCache}) {
    const auto bytes = call.storages[call.ref(slot).storage].bytes();
    caches[call.ref(slot).storage].assign(bytes.begin(), bytes.end());
  }
  const TensorView mapping = call.view(Slot::SlotMapping);
  struct Side {
    Slot from, cache, scale;
    const CachePlace& place;
  };
  for (const Side& side : {Side{Slot::KNew, Slot::KCache, Slot::KScale, call.layout.k},
                           Side{Slot::VNew, Slot::VCache, Slot::VScale, call.layout.v}}) {
    const TensorView from = call.view(side.from);
    auto& to = caches.at(call.ref(side.cache).storage);
    const bool scales = p.scales_apply && call.has(side.scale);
    const bool copies = !scales && from.dtype == p.cache;
    std::int64_t token = 0;
    for (std::int64_t seq = 0; seq < static_cast<std::int64_t>(p.seqs.size()); ++seq)
      for (int row = 0; row < p.seqs[static_cast<std::size_t>(seq)].len_q; ++row, ++token) {
        const std::int64_t at = mapping.integer({token});
        if (at < 0) continue;
        for (std::int64_t head = 0; head < p.heads_kv; ++head)
          for (std::int64_t dim = 0; dim < side.place.width; ++dim) {
            const auto element =
                static_cast<std::size_t>(side.place.index(at / p.page_size, at % p.page_size, head, dim));
            std::byte* byte = &to[element * byte_size(p.cache)];
            if (copies) {
              const std::byte* source =
                  from.data + static_cast<std::size_t>(from.offset({token, head, dim})) * byte_size(from.dtype);
              std::copy_n(source, byte_size(p.cache), byte);
              continue;
            }
            const double value = from.value({token, head, dim});
            store_code(
                p.cache, byte,
                encode(p.cache, scales ? scaled(value, scale_of(call, side.scale, seq, head), a) : value, a.overflow));
          }
      }
  }
  return caches;
}

}  // namespace attest
