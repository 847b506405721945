#include "harness/study/diagnosis/sibling.h"

#include "harness/core/case_keys.h"
#include "harness/core/error.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace attest {
namespace {

constexpr std::array<std::string_view, 10> kProbes{"sentinel", "select", "gauss",   "mass", "identity",
                                                   "peaky",    "ramp",   "outlier", "tail", "sink"};
constexpr std::uint64_t kOtherSeed = 1000;
constexpr std::int64_t kMostWork = std::int64_t{3} << 20;
constexpr int kLongEnough = 160, kManyRows = 16;  // lengths that are left as they are
constexpr int kMoreKeys = 320, kLongestLonger = 1024;

bool writes(const Problem& problem) { return problem.op == Op::Write || problem.op == Op::WriteAttend; }
bool attends(const Problem& problem) { return problem.op != Op::Write && problem.op != Op::Rope; }

// Element by element, K and then V, in one order of (page, slot, head, dim).
template <typename At>
void for_each_cached(const Problem& p, const Call& call, const At& at) {
  const auto walk = [&](Slot slot, const CachePlace& place, int width) {
    for (int page = 0; page < p.num_pages; ++page)
      for (int s = 0; s < p.page_size; ++s)
        for (int head = 0; head < p.heads_kv; ++head)
          for (int dim = 0; dim < width; ++dim) at(call.ref(slot).storage, place.index(page, s, head, dim));
  };
  walk(Slot::KCache, call.layout.k, p.dim);
  walk(Slot::VCache, call.layout.v, p.dim_v);
}

double cached(DType dtype, const std::byte* storage, std::int64_t element) {
  return decode(dtype, load_code(dtype, storage + static_cast<std::size_t>(element) * byte_size(dtype)));
}

// The bound is far below the step to the next code: what is compared is codes.
Sight cache_sight(const Subject& subject) {
  Sight sight;
  const Problem& p = subject.prepared.problem;
  const double step = format(p.cache).unit_roundoff() / 8, least = format(p.cache).eta() / 8;
  for_each_cached(p, subject.prepared.call, [&](std::size_t storage, std::int64_t element) {
    const double value = cached(p.cache, subject.right.caches.at(storage).data(), element);
    sight.right.push_back(value);
    sight.bound.push_back(std::isfinite(value) ? std::max(std::abs(value) * step, least) : least);
  });
  return sight;
}

Sight sight_of(const ExpectedTensor& tensor) {
  return {.right = tensor.value,
          .bound = tensor.likely.empty() ? tensor.bound : tensor.likely,
          .row = static_cast<std::size_t>(tensor.dim)};
}

std::vector<double> values(const TensorView& view, const ExpectedTensor& like, bool lse) {
  std::vector<double> all;
  all.reserve(like.value.size());
  for (int row = 0; row < like.rows; ++row)
    for (int head = 0; head < like.heads; ++head)
      for (int dim = 0; dim < like.dim; ++dim)
        all.push_back(lse ? view.value({head, row}) : view.value({row, head, dim}));
  return all;
}

// Products that the case takes: of queries with keys, and of P with V.
std::int64_t work(const Case& c) {
  std::int64_t pairs = 0;
  for (const Sequence& s : c.seq) pairs += std::int64_t{s.len_q} * s.len_kv;
  return pairs * c.heads_q * (c.dim + c.value_dim());
}

Sequence halved(const Sequence& s, int page) {
  if (s.len_kv <= kLongEnough) return s;
  Sequence shorter = s;
  shorter.len_kv = s.len_kv / 2 / page * page + s.len_kv % page;
  if (s.len_q > kManyRows) shorter.len_q = s.len_q / 2;
  if (s.len_q <= s.len_kv) shorter.len_q = std::min(shorter.len_q, shorter.len_kv);
  return shorter;
}

}  // namespace

Case lighter(const Case& c) {
  Case light = c;
  if (work(light) > kMostWork && light.seq.size() > 3) {
    const auto longest = std::ranges::max_element(c.seq, {}, &Sequence::len_kv);
    light.seq = {c.seq.front(), *longest, c.seq.back()};
  }
  if (work(light) > kMostWork && light.heads_kv > 2) {
    light.heads_kv = 2;
    light.heads_q = 2 * c.group();
  }
  for (std::vector<Sequence> before; work(light) > kMostWork && light.seq != before;) {
    before = light.seq;
    for (Sequence& s : light.seq) s = halved(s, c.page);
  }
  return contradiction(light) ? c : light;
}

std::vector<Case> siblings(const Case& failing) {
  std::vector<Case> all{failing};
  if (failing.probe == Probe::File || failing.phase == Phase::Rope) return all;
  const CaseKey& key = *find_case_key("in");
  for (const auto probe : kProbes) {
    Case other = failing;
    other.seed += kOtherSeed;
    if (!key.parse(other, probe) && !contradiction(other) && other.probe != failing.probe) all.push_back(other);
  }
  // Reading what must not be read leaves NaN everywhere under the usual poison, whatever it was that was read.
  Case clean = failing;
  clean.seed += kOtherSeed;
  clean.poison = Poison::Zero;
  all.push_back(clean);
  // Faults of the steps from tile to tile are alike while there are two tiles.
  Case longer = failing;
  longer.seed += kOtherSeed;
  longer.probe = Probe::Peaky;
  longer.seq.back().len_kv += kMoreKeys;
  if (longer.seq.back().len_kv <= kLongestLonger && !contradiction(longer)) all.push_back(longer);
  return all;
}

std::vector<Sight> sights(const Subject& subject) {
  std::vector<Sight> all;
  const Problem& p = subject.prepared.problem;
  if (attends(p)) all.push_back(sight_of(subject.right.values.out));
  if (attends(p) && subject.prepared.call.has(Slot::Lse)) all.push_back(sight_of(subject.right.values.lse));
  if (writes(p)) all.push_back(cache_sight(subject));
  return all;
}

Seen seen(const Subject& subject, const Outputs& left) {
  const Problem& p = subject.prepared.problem;
  const Call& call = subject.prepared.call;
  const bool ok = left.reply.ok();
  Seen all;
  if (attends(p)) {
    const ExpectedTensor& out = subject.right.values.out;
    all.push_back(ok ? values(view(left, call, Slot::Out), out, false) : std::vector<double>{});
    if (call.has(Slot::Lse)) {
      const ExpectedTensor& lse = subject.right.values.lse;
      all.push_back(ok ? values(view(left, call, Slot::Lse), lse, true) : std::vector<double>{});
    }
  }
  if (!writes(p)) return all;
  std::vector<double> caches;
  if (ok)
    for_each_cached(p, call, [&](std::size_t storage, std::int64_t element) {
      caches.push_back(cached(p.cache, left.storages[storage].view().data, element));
    });
  all.push_back(std::move(caches));
  return all;
}

}  // namespace attest
