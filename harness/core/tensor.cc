#include "harness/core/tensor.h"

#include <sys/mman.h>

#include <cstring>
#include <new>
#include <stdexcept>
#include <utility>

namespace attest {

std::int64_t element_count(const Dims& shape) {
  std::int64_t count = 1;
  for (const auto size : shape) count *= size;
  return count;
}

Dims contiguous_strides(const Dims& shape) {
  Dims strides(shape.size());
  std::int64_t stride = 1;
  for (std::size_t i = shape.size(); i-- > 0;) {
    strides[i] = stride;
    stride *= shape[i];
  }
  return strides;
}

std::int64_t extent(const Dims& shape, const Dims& strides) {
  std::int64_t last = 0;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == 0) return 0;
    last += (shape[i] - 1) * strides[i];
  }
  return last + 1;
}

std::int64_t TensorView::offset(std::initializer_list<std::int64_t> index) const {
  std::int64_t at = 0;
  std::size_t axis = 0;
  for (const auto i : index) at += i * strides[axis++];
  return at;
}

double TensorView::value(std::initializer_list<std::int64_t> index) const {
  return decode(dtype, load_code(dtype, data + static_cast<std::size_t>(offset(index)) * byte_size(dtype)));
}

std::int64_t TensorView::integer(std::initializer_list<std::int64_t> index) const {
  const auto* at = data + static_cast<std::size_t>(offset(index)) * byte_size(dtype);
  if (dtype == DType::I32) {
    std::int32_t value;
    std::memcpy(&value, at, sizeof value);
    return value;
  }
  if (dtype != DType::I64) throw std::logic_error("TensorView::integer of a " + std::string(name(dtype)) + " tensor");
  std::int64_t value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

Tensor::Tensor(DType dtype, Dims shape, GuardMode mode) {
  const auto bytes = static_cast<std::size_t>(element_count(shape)) * byte_size(dtype);
  region_ = place(mapping_bytes_, bytes, mode);
  void* mapping = mmap(nullptr, mapping_bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapping == MAP_FAILED) throw std::bad_alloc();
  mapping_ = static_cast<std::byte*>(mapping);
  write_bands({mapping_, mapping_bytes_}, region_);
  if (region_.pages)
    for (const ByteRange& page : {page_before(region_), page_after(region_)})
      if (mprotect(mapping_ + page.offset, page.bytes, PROT_NONE) != 0)
        throw std::runtime_error("no guard pages: mprotect failed");
  Dims strides = contiguous_strides(shape);
  view_ = {mapping_ + region_.payload, dtype, std::move(shape), std::move(strides)};
}

Tensor::Tensor(Tensor&& other) noexcept { *this = std::move(other); }

Tensor& Tensor::operator=(Tensor&& other) noexcept {
  std::swap(mapping_, other.mapping_);
  std::swap(mapping_bytes_, other.mapping_bytes_);
  std::swap(region_, other.region_);
  std::swap(view_, other.view_);
  return *this;
}

Tensor::~Tensor() {
  if (mapping_) munmap(mapping_, mapping_bytes_);
}

std::span<std::byte> Tensor::bytes() const { return {view_.data, region_.bytes}; }

std::optional<GuardDamage> Tensor::guard_damage() const {
  if (!mapping_) return std::nullopt;
  return damage({mapping_, mapping_bytes_}, region_);
}

}  // namespace attest
