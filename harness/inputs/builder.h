// Puts a call together: storages filled with poison, slots as views into them, elements by their coordinates.
#pragma once

#include "harness/core/call.h"
#include "harness/core/case.h"

#include <span>

namespace attest {

class CallBuilder {
 public:
  explicit CallBuilder(Poison kind) : poison_(kind) {}

  // A storage of its own, dense unless strides are given.
  void add(Slot slot, DType dtype, Dims shape, std::optional<Dims> strides = std::nullopt);
  // Output: holds NaN whatever the case's poison is, so that what is left unwritten shows.
  void add_output(Slot slot, DType dtype, Dims shape, std::optional<Dims> strides = std::nullopt);
  // Several slots as slices of one storage.
  std::size_t add_storage(DType dtype, std::int64_t elements);
  void add_slice(Slot slot, std::size_t storage, std::int64_t offset, Dims shape, Dims strides);

  void set(Slot slot, std::initializer_list<std::int64_t> index, double value, Overflow overflow = Overflow::Saturate);
  void set_integer(Slot slot, std::initializer_list<std::int64_t> index, std::int64_t value);
  void set_element(std::size_t storage, std::int64_t element, double value, Overflow overflow = Overflow::Saturate);
  void fill_floats(Slot slot, std::span<const float> values);

  Call& call() { return call_; }
  Call take() { return std::move(call_); }

 private:
  void add_poisoned(Slot slot, DType dtype, Dims shape, std::optional<Dims> strides, Poison kind);
  std::byte* at(Slot slot, std::initializer_list<std::int64_t> index);

  Poison poison_;
  Call call_;
};

}  // namespace attest
