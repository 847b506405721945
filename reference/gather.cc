#define TORCH_ASSERT_ONLY_METHOD_OPERATORS
#include "reference/gather.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/ones.h>

#include <algorithm>
#include <cmath>

namespace attest {
namespace {

std::vector<double> decode_storage(const Tensor& storage) {
  std::vector<double> values(static_cast<std::size_t>(element_count(storage.view().shape)));
  decode_array(storage.view().dtype, storage.bytes().data(), std::span<double>(values));
  return values;
}

double scale_at(const Call& call, Slot slot, int seq, int head_kv) {
  if (!call.has(slot)) return 1;
  const TensorView view = call.view(slot);
  if (view.shape.size() == 2) return view.value({seq, head_kv});
  return view.value({view.shape[0] == 1 ? 0 : head_kv});
}

at::Tensor factors(const Problem& p, const std::function<double(int)>& of_head) {
  auto tensor = at::empty({p.heads_kv}, at::kDouble);
  for (int head = 0; head < p.heads_kv; ++head) tensor.mutable_data_ptr<double>()[head] = of_head(head);
  return tensor;
}

}  // namespace

CacheReader::CacheReader(const Problem& problem, const Call& call, bool cast_to_q) : problem_(problem), call_(call) {
  k_ = decode_storage(call.storages[call.ref(Slot::KCache).storage]);
  const bool shared = call.layout.one_storage;
  if (!shared) v_ = decode_storage(call.storages[call.ref(Slot::VCache).storage]);
  if (!cast_to_q) return;
  for (auto* values : {&k_, &v_})
    for (double& value : *values) value = round_to(problem.q, value);
}

at::Tensor CacheReader::gather(const std::vector<double>& storage, const CachePlace& place, int seq) const {
  const int length = problem_.seqs[static_cast<std::size_t>(seq)].len_kv;
  auto tensor = at::empty({problem_.heads_kv, length, place.width}, at::kDouble);
  double* to = tensor.mutable_data_ptr<double>();
  const TensorView table = call_.view(Slot::PageTable);
  std::vector<std::int64_t> pages;
  for (int position = 0; position < length; position += problem_.page_size)
    pages.push_back(table.integer({seq, position / problem_.page_size}));
  for (int head = 0; head < problem_.heads_kv; ++head)
    for (int position = 0; position < length; ++position) {
      const std::int64_t page = pages[static_cast<std::size_t>(position / problem_.page_size)],
                         slot = position % problem_.page_size;
      for (std::int64_t dim = 0; dim < place.width; ++dim)
        *to++ = storage[static_cast<std::size_t>(place.index(page, slot, head, dim))];
    }
  return tensor;
}

at::Tensor CacheReader::keys(int seq) const { return gather(k_, call_.layout.k, seq); }
at::Tensor CacheReader::values(int seq) const {
  return gather(call_.layout.one_storage ? k_ : v_, call_.layout.v, seq);
}

at::Tensor queries(const Problem& p, const Call& call, int seq) {
  const int rows = p.seqs[static_cast<std::size_t>(seq)].len_q, first = p.first_row(seq), group = p.group();
  auto tensor = at::empty({p.heads_kv, rows * group, p.dim}, at::kDouble);
  double* to = tensor.mutable_data_ptr<double>();
  const TensorView q = call.view(Slot::Q);
  for (int head_kv = 0; head_kv < p.heads_kv; ++head_kv)
    for (int row = 0; row < rows; ++row)
      for (int g = 0; g < group; ++g)
        for (int dim = 0; dim < p.dim; ++dim) *to++ = q.value({first + row, head_kv * group + g, dim});
  return tensor;
}

at::Tensor score_factors(const Problem& p, const Call& call, int seq) {
  return factors(p, [&](int head) {
    const double k_scale = p.scales_apply ? scale_at(call, Slot::KScale, seq, head) : 1;
    return p.softmax_scale * k_scale * scale_at(call, Slot::QScale, seq, head);
  });
}

bool rounds(const Call& call, Slot slot) {
  if (!call.has(slot)) return false;
  const TensorView view = call.view(slot);
  int exponent = 0;
  for (std::int64_t i = 0; i < element_count(view.shape); ++i)
    if (std::frexp(std::abs(decode(view.dtype, load_code(view.dtype, view.data + static_cast<std::size_t>(i) *
                                                                                     byte_size(view.dtype)))),
                   &exponent) != 0.5)
      return true;
  return false;
}

at::Tensor value_factors(const Problem& p, const Call& call, int seq) {
  return factors(p, [&](int head) { return p.scales_apply ? scale_at(call, Slot::VScale, seq, head) : 1; });
}

at::Tensor sinks(const Problem& p, const Call& call) {
  if (!call.has(Slot::Sinks)) return {};
  auto tensor = at::empty({p.heads_kv, p.group()}, at::kDouble);
  const TensorView view = call.view(Slot::Sinks);
  for (int head = 0; head < p.heads_q; ++head) tensor.mutable_data_ptr<double>()[head] = view.value({head});
  return tensor;
}

at::Tensor hidden(const Problem& p, int seq) {
  const Sequence& s = p.seqs[static_cast<std::size_t>(seq)];
  auto tensor = at::ones({s.len_q, p.group(), s.len_kv}, at::kBool);
  bool* to = tensor.mutable_data_ptr<bool>();
  for (int row = 0; row < s.len_q; ++row) {
    const KeyRange seen = visible_keys(p.mask, s, row);
    for (int g = 0; g < p.group(); ++g, to += s.len_kv)
      if (seen.size() > 0) std::fill(to + seen.begin, to + seen.end, false);
  }
  return tensor.view({s.len_q * p.group(), s.len_kv});
}

}  // namespace attest
