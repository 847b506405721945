#include "harness/inputs/builder.h"

#include "harness/inputs/poison.h"

#include <cstring>
#include <utility>

namespace attest {

void CallBuilder::add_poisoned(Slot slot, DType dtype, Dims shape, std::optional<Dims> strides, Poison kind) {
  Dims steps = strides ? std::move(*strides) : contiguous_strides(shape);
  call_.storages.emplace_back(dtype, Dims{extent(shape, steps)});
  poison(call_.storages.back(), kind);
  add_slice(slot, call_.storages.size() - 1, 0, std::move(shape), std::move(steps));
}

void CallBuilder::add(Slot slot, DType dtype, Dims shape, std::optional<Dims> strides) {
  add_poisoned(slot, dtype, std::move(shape), std::move(strides), poison_);
}

void CallBuilder::add_output(Slot slot, DType dtype, Dims shape, std::optional<Dims> strides) {
  add_poisoned(slot, dtype, std::move(shape), std::move(strides), Poison::Nan);
}

std::size_t CallBuilder::add_storage(DType dtype, std::int64_t elements) {
  call_.storages.emplace_back(dtype, Dims{elements});
  poison(call_.storages.back(), poison_);
  return call_.storages.size() - 1;
}

void CallBuilder::add_slice(Slot slot, std::size_t storage, std::int64_t offset, Dims shape, Dims strides) {
  call_.slots[static_cast<std::size_t>(slot)] =
      SlotRef{storage, offset, call_.storages[storage].view().dtype, std::move(shape), std::move(strides)};
}

std::byte* CallBuilder::at(Slot slot, std::initializer_list<std::int64_t> index) {
  const TensorView view = call_.view(slot);
  return view.data + static_cast<std::size_t>(view.offset(index)) * byte_size(view.dtype);
}

void CallBuilder::set(Slot slot, std::initializer_list<std::int64_t> index, double value, Overflow overflow) {
  const DType dtype = call_.ref(slot).dtype;
  store_code(dtype, at(slot, index), encode(dtype, value, overflow));
}

void CallBuilder::set_integer(Slot slot, std::initializer_list<std::int64_t> index, std::int64_t value) {
  std::memcpy(at(slot, index), &value, byte_size(call_.ref(slot).dtype));  // little-endian: the low bytes come first
}

void CallBuilder::set_element(std::size_t storage, std::int64_t element, double value, Overflow overflow) {
  const Tensor& tensor = call_.storages[storage];
  const DType dtype = tensor.view().dtype;
  store_code(dtype, &tensor.bytes()[static_cast<std::size_t>(element) * byte_size(dtype)],
             encode(dtype, value, overflow));
}

void CallBuilder::fill_floats(Slot slot, std::span<const float> values) {
  std::memcpy(call_.view(slot).data, values.data(), values.size_bytes());
}

}  // namespace attest
