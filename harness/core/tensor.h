// Tensors: a view (pointer, dtype, shape, strides in elements, as in DLPack) and an owner of guarded memory.
//
// A storage may be larger than what one view shows: strided tensors leave gaps, and q, k, v may be slices of
// one storage. Gaps belong to the storage, hold poison, and are compared with it.
#pragma once

#include "harness/core/dtype.h"
#include "harness/core/guard.h"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace attest {

using Dims = std::vector<std::int64_t>;

std::int64_t element_count(const Dims& shape);
Dims contiguous_strides(const Dims& shape);
// Elements from the first to the last one that the strides reach, 0 when the shape is empty.
std::int64_t extent(const Dims& shape, const Dims& strides);

struct TensorView {
  std::byte* data = nullptr;
  DType dtype = DType::F32;
  Dims shape;
  Dims strides;  // elements

  std::int64_t offset(std::initializer_list<std::int64_t> index) const;  // elements
  double value(std::initializer_list<std::int64_t> index) const;
  std::int64_t integer(std::initializer_list<std::int64_t> index) const;  // I32 and I64
};

// Owns zeroed memory of its own mapping, between guard bands or guard pages. Movable only.
class Tensor {
 public:
  Tensor() = default;
  Tensor(DType dtype, Dims shape, GuardMode mode = GuardMode::Bands);
  Tensor(Tensor&& other) noexcept;
  Tensor& operator=(Tensor&& other) noexcept;
  ~Tensor();

  const TensorView& view() const { return view_; }
  std::span<std::byte> bytes() const;               // the payload
  std::optional<GuardDamage> guard_damage() const;  // what was written outside of it

 private:
  std::byte* mapping_ = nullptr;
  std::size_t mapping_bytes_ = 0;
  Region region_;
  TensorView view_;
};

}  // namespace attest
