// Changing tensors in place, element by element: what faults of delivery and output are made of.
#pragma once

#include "harness/core/problem.h"
#include "harness/core/tensor.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <stdexcept>
#include <vector>

namespace attest {

inline std::byte* element(const TensorView& view, std::initializer_list<std::int64_t> index) {
  return view.data + static_cast<std::size_t>(view.offset(index)) * byte_size(view.dtype);
}

inline void put(const TensorView& view, std::initializer_list<std::int64_t> index, double value) {
  const Overflow overflow = std::isfinite(value) ? Overflow::Saturate : Overflow::Ieee;  // Inf stays Inf
  store_code(view.dtype, element(view, index), encode(view.dtype, value, overflow));
}

inline void put_integer(const TensorView& view, std::initializer_list<std::int64_t> index, std::int64_t value) {
  if (view.dtype == DType::I32) {
    const auto narrow = static_cast<std::int32_t>(value);
    std::memcpy(element(view, index), &narrow, sizeof narrow);
  } else if (view.dtype == DType::I64) {
    std::memcpy(element(view, index), &value, sizeof value);
  } else {
    throw std::logic_error("put_integer() into a tensor of floats");
  }
}

// Codes of [rows, heads, dim] as they lie, so that what is moved keeps its bits.
inline std::vector<std::uint64_t> codes(const TensorView& view) {
  std::vector<std::uint64_t> all;
  for (std::int64_t row = 0; row < view.shape[0]; ++row)
    for (std::int64_t head = 0; head < view.shape[1]; ++head)
      for (std::int64_t dim = 0; dim < view.shape[2]; ++dim)
        all.push_back(load_code(view.dtype, element(view, {row, head, dim})));
  return all;
}

// The element (row, head, dim) of `view` gets the code that stood at source(row, head, dim).
template <typename Source>  // -> std::array<std::int64_t, 3>
void rearrange(const TensorView& view, Source source) {
  const auto before = codes(view);
  for (std::int64_t row = 0; row < view.shape[0]; ++row)
    for (std::int64_t head = 0; head < view.shape[1]; ++head)
      for (std::int64_t dim = 0; dim < view.shape[2]; ++dim) {
        const auto [r, h, d] = source(row, head, dim);
        store_code(view.dtype, element(view, {row, head, dim}),
                   before[static_cast<std::size_t>((r * view.shape[1] + h) * view.shape[2] + d)]);
      }
}

struct RowOf {
  int seq, row, len_q;  // of a row among all query rows
};

inline std::vector<RowOf> rows_of(const Problem& problem) {
  std::vector<RowOf> all;
  for (int seq = 0; seq < static_cast<int>(problem.seqs.size()); ++seq) {
    const int rows = problem.seqs[static_cast<std::size_t>(seq)].len_q;
    for (int row = 0; row < rows; ++row) all.push_back({seq, row, rows});
  }
  return all;
}

// For each query row, the one of the next sequence that has rows which stands in its place.
inline std::vector<std::int64_t> rows_of_next_sequence(const Problem& problem) {
  const int seqs = static_cast<int>(problem.seqs.size());
  std::vector<std::int64_t> map;
  for (const RowOf& at : rows_of(problem)) {
    int other = (at.seq + 1) % seqs;
    while (problem.seqs[static_cast<std::size_t>(other)].len_q == 0) other = (other + 1) % seqs;
    map.push_back(problem.first_row(other) + std::min(at.row, problem.seqs[static_cast<std::size_t>(other)].len_q - 1));
  }
  return map;
}

}  // namespace attest
