#include "harness/study/selftest/sensitivity.h"

#include "harness/study/faults/output_faults.h"
#include "harness/study/selftest/judge_outputs.h"

#include <algorithm>
#include <cmath>

namespace attest {
namespace {

bool gain_seen(const Subject& subject, double e) {
  Outputs left = copy(subject.healthy);
  apply_gain(subject, e, left);
  return killed(judge(subject, left));
}

std::optional<double> smallest_gain(const Subject& subject) {
  if (!gain_seen(subject, 1)) return std::nullopt;
  double unseen = 0x1p-20, seen = 1;
  while (seen > unseen * 1.1) {
    const double middle = std::sqrt(seen * unseen);
    (gain_seen(subject, middle) ? seen : unseen) = middle;
  }
  return seen;
}

int longest_sequence(const Problem& p) {
  int longest = 0;
  for (int seq = 0; seq < static_cast<int>(p.seqs.size()); ++seq)
    if (p.seqs[static_cast<std::size_t>(seq)].len_kv > p.seqs[static_cast<std::size_t>(longest)].len_kv) longest = seq;
  return longest;
}

// V of `keys` positions of one sequence with its sign turned.
Call with_negated(const Subject& subject, int seq, int keys) {
  const Problem& p = subject.prepared.problem;
  Call call = copy(subject.prepared.call);
  const CachePlace& place = call.layout.v;
  const TensorView table = call.view(Slot::PageTable);
  std::byte* base = call.storages[call.ref(Slot::VCache).storage].view().data;
  const int length = p.seqs[static_cast<std::size_t>(seq)].len_kv;
  for (int i = 0; i < keys; ++i) {
    const int position = static_cast<int>((std::int64_t{2} * i + 1) * length / (std::int64_t{2} * keys));
    const auto page = table.integer({seq, position / p.page_size});
    for (int head = 0; head < p.heads_kv; ++head)
      for (std::int64_t dim = 0; dim < place.width; ++dim) {
        std::byte* at =
            base + static_cast<std::size_t>(place.index(page, position % p.page_size, head, dim)) * byte_size(p.cache);
        store_code(p.cache, at, encode(p.cache, -decode(p.cache, load_code(p.cache, at))));
      }
  }
  return call;
}

}  // namespace

void measure_sensitivity(const Subject& subject, Host& host, HealthyCase& healthy) {
  const Problem& p = subject.prepared.problem;
  if (p.op != Op::Attend) return;
  healthy.gain = smallest_gain(subject);
  const int seq = longest_sequence(p);
  healthy.longest = p.seqs[static_cast<std::size_t>(seq)].len_kv;
  for (int keys = 1; keys <= healthy.longest && !healthy.keys;
       keys = keys == healthy.longest ? keys + 1 : std::min(2 * keys, healthy.longest))
    if (killed(judge(subject, launch(subject, with_negated(subject, seq, keys), "", host)))) healthy.keys = keys;
}

}  // namespace attest
