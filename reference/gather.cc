#define TORCH_ASSERT_ONLY_METHOD_OPERATORS
#include "reference/gather.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/ones.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <span>
#include <vector>

namespace attest {
namespace {

// The dims of one key of one head, as doubles.
class RowReader {
 public:
  RowReader(const Tensor& storage, const CachePlace& place)
      : place_(place),
        dtype_(storage.view().dtype),
        bytes_(storage.bytes().data()),
        in_a_row_(place.table.empty() && place.dim == 1) {}

  void read(std::int64_t page, std::int64_t slot, std::int64_t head, std::span<double> to) const {
    if (in_a_row_) return decode_array(dtype_, at(place_.index(page, slot, head, 0)), to);
    for (std::size_t dim = 0; dim < to.size(); ++dim)
      to[dim] = decode(dtype_, load_code(dtype_, at(place_.index(page, slot, head, static_cast<std::int64_t>(dim)))));
  }

 private:
  const std::byte* at(std::int64_t element) const {
    return bytes_ + static_cast<std::size_t>(element) * byte_size(dtype_);
  }

  const CachePlace& place_;
  DType dtype_;
  const std::byte* bytes_;
  bool in_a_row_;
};

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

at::Tensor CacheReader::gather(Slot slot, const CachePlace& place, int seq, HeadRange heads) const {
  const int length = problem_.seqs[static_cast<std::size_t>(seq)].len_kv, page_size = problem_.page_size;
  auto tensor = at::empty({heads.count, length, place.width}, at::kDouble);
  double* to = tensor.mutable_data_ptr<double>();
  const auto width = static_cast<std::size_t>(place.width);
  const TensorView table = call_.view(Slot::PageTable);
  const RowReader reader(call_.storages[call_.ref(slot).storage], place);
  std::vector<std::int64_t> pages;
  for (int position = 0; position < length; position += page_size)
    pages.push_back(table.integer({seq, position / page_size}));
  for (std::int64_t head = heads.begin; head < heads.begin + heads.count; ++head)
    for (int position = 0; position < length; ++position, to += width)
      reader.read(pages[static_cast<std::size_t>(position / page_size)], position % page_size, head, {to, width});
  if (cast_to_q_)
    for (double& value : std::span(tensor.mutable_data_ptr<double>(), static_cast<std::size_t>(tensor.numel())))
      value = round_to(problem_.q, value);
  return tensor;
}

at::Tensor CacheReader::keys(int seq, HeadRange heads) const {
  return gather(Slot::KCache, call_.layout.k, seq, heads);
}
at::Tensor CacheReader::values(int seq, HeadRange heads) const {
  return gather(Slot::VCache, call_.layout.v, seq, heads);
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
