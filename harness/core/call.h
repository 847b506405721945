// The tensors of one call: storages, and the named slots that are views into them. Several slots may be slices of
// one storage (a fused QKV tensor, K and V halves of one cache). What a storage holds outside of its slots is
// poison, and belongs to what must not change.
#pragma once

#include "harness/core/layout.h"
#include "harness/core/slot.h"
#include "harness/core/tensor.h"

#include <array>
#include <optional>
#include <vector>

namespace attest {

struct SlotRef {
  std::size_t storage = 0;
  std::int64_t offset = 0;  // elements from the storage's begin
  DType dtype = DType::F32;
  Dims shape, strides;
};

struct Call {
  std::vector<Tensor> storages;
  std::array<std::optional<SlotRef>, kSlots> slots;
  CacheLayout layout;
  bool one_hot = false;  // each row's softmax is one key, exactly: the output is that key's V, times its scale

  bool has(Slot slot) const { return slots[static_cast<std::size_t>(slot)].has_value(); }
  const SlotRef& ref(Slot slot) const { return *slots[static_cast<std::size_t>(slot)]; }
  TensorView view(Slot slot) const {
    const SlotRef& r = ref(slot);
    return {storages[r.storage].view().data + static_cast<std::size_t>(r.offset) * byte_size(r.dtype), r.dtype, r.shape,
            r.strides};
  }
};

}  // namespace attest
