// Which elements of a storage its slots reach, and what poison looks like: what tests of inputs look up.
#pragma once

#include "harness/core/call.h"
#include "harness/inputs/poison.h"

#include <functional>
#include <vector>

namespace attest::test {

// Calls `visit` with each element of the slot, as an index into its storage.
inline void for_each_element(const SlotRef& ref, const std::function<void(std::int64_t)>& visit) {
  Dims index(ref.shape.size(), 0);
  for (std::int64_t left = element_count(ref.shape); left > 0; --left) {
    std::int64_t at = ref.offset;
    for (std::size_t axis = 0; axis < index.size(); ++axis) at += index[axis] * ref.strides[axis];
    visit(at);
    for (std::size_t axis = index.size(); axis-- > 0;) {
      if (++index[axis] < ref.shape[axis]) break;
      index[axis] = 0;
    }
  }
}

// How many slots reach each element of a storage.
inline std::vector<int> reach(const Call& call, std::size_t storage) {
  const Tensor& tensor = call.storages[storage];
  std::vector<int> count(tensor.bytes().size() / byte_size(tensor.view().dtype));
  for (const auto& ref : call.slots)
    if (ref && ref->storage == storage)
      for_each_element(*ref, [&](std::int64_t at) { ++count[static_cast<std::size_t>(at)]; });
  return count;
}

// For each element: are its bytes those that poison puts there?
inline std::vector<bool> poisoned(const Tensor& tensor, Poison kind) {
  const DType dtype = tensor.view().dtype;
  const Tensor fresh(dtype, tensor.view().shape);
  poison(fresh, kind);
  std::vector<bool> same;
  const std::size_t size = byte_size(dtype);
  for (std::size_t at = 0; at < fresh.bytes().size(); at += size)
    same.push_back(load_code(dtype, &fresh.bytes()[at]) == load_code(dtype, &tensor.bytes()[at]));
  return same;
}

// FNV-1a over all storages.
inline std::uint64_t hash(const Call& call) {
  std::uint64_t value = 0xCBF29CE484222325;
  for (const Tensor& storage : call.storages)
    for (const std::byte byte : storage.bytes()) value = (value ^ static_cast<std::uint64_t>(byte)) * 0x100000001B3;
  return value;
}

}  // namespace attest::test
