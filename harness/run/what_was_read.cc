#include "harness/run/what_was_read.h"

#include "harness/inputs/select_address.h"

#include <vector>

namespace attest {
namespace {

double v_scale(const Problem& p, const Call& call, int seq, int head_kv) {
  if (!p.scales_apply || !call.has(Slot::VScale)) return 1;
  const TensorView scales = call.view(Slot::VScale);
  if (scales.shape.size() == 2) return scales.value({seq, head_kv});
  return scales.value({scales.shape[0] == 1 ? 0 : head_kv});
}

// The one that belongs there first; then none; then those of other heads and sequences.
std::vector<double> scales_to_try(const Problem& p, const Call& call, double own) {
  std::vector<double> all{own, 1};
  for (int seq = 0; seq < static_cast<int>(p.seqs.size()); ++seq)
    for (int head = 0; head < p.heads_kv; ++head) all.push_back(v_scale(p, call, seq, head));
  return all;
}

bool is_zero(const TensorView& out, int row, int head, int dim_v) {
  for (int dim = 0; dim < dim_v; ++dim)
    if (out.value({row, head, dim}) != 0) return false;
  return true;
}

}  // namespace

std::optional<std::string> what_was_read(const Problem& p, const Call& call, const ExpectedTensor& right,
                                         const TensorView& out, const Place& place) {
  const int row = p.first_row(place.seq) + place.row;
  const double own = v_scale(p, call, place.seq, place.head / p.group());
  const auto wanted = read_address([&](int dim) { return right.value[right.index(row, place.head, dim)] / own; },
                                   p.dim_v, {.head_kv = place.head / p.group() % 64, .seq = place.seq % 64});
  if (!wanted) return std::nullopt;
  if (is_zero(out, row, place.head, p.dim_v)) return "the row holds zeros";
  for (const double scale : scales_to_try(p, call, own)) {
    const auto stored = [&](int dim) { return out.value({row, place.head, dim}) / scale; };
    if (const auto read = read_address(stored, p.dim_v, *wanted); read && *read != *wanted) return text(*read, *wanted);
  }
  return std::nullopt;
}

}  // namespace attest
