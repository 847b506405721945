// Where a KV cache keeps K and V: what tensor the kernel is shown, and at which element of the storage the value
// of (page, slot, head, dim) lies. A contract says it in axes, outermost first:
//
//     shape:   [page, head, slot, dim]       the tensor the kernel is shown
//     storage: [page, head, kv, slot, dim]   how that tensor lies in memory (default: as shape); an axis kv
//                                            says that K and V share one storage, K first
//     order:   [page, head, kv, dim, slot]   how the elements really lie (default: as storage)
//
// Only inputs and reference/kv_write use it, so every kernel's private layout is data.
#pragma once

#include "harness/core/tensor.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace attest {

enum class CacheAxis { Page, Slot, Head, Kv, Dim };
std::string_view name(CacheAxis axis);
std::optional<CacheAxis> cache_axis_from_name(std::string_view name);

struct CacheSpec {  // of K or of V
  std::vector<CacheAxis> shape, storage, order;
};

struct LayoutSpec {
  CacheSpec k, v;
  bool indexed_by_plugin = false;  // the plug-in's cache_index() places the elements; `order` is not used
  bool one_storage() const;        // K and V share it
};

// nullopt, or what is wrong with the axes; of a layout, also with how K and V lie together.
std::optional<std::string> check(const CacheSpec& spec);
std::optional<std::string> check(const LayoutSpec& spec);

struct CacheExtents {
  std::int64_t pages, page_size, heads, dim, dim_v;
};

// One of K and V placed in its storage. Offsets and strides in elements.
struct CachePlace {
  Dims shape, strides;       // as shown to the kernel
  std::int64_t base = 0;     // of the shown tensor in the storage
  std::int64_t storage = 0;  // elements of the whole storage
  std::int64_t page = 0, slot = 0, head = 0, dim = 0;
  std::vector<std::int64_t> table;  // by [page][slot][head][dim] instead of the strides, when not empty
  CacheExtents extents{};
  std::int64_t width = 0;  // dim or dim_v

  std::int64_t index(std::int64_t p, std::int64_t s, std::int64_t h, std::int64_t d) const {
    if (table.empty()) return base + p * page + s * slot + h * head + d * dim;
    return table[static_cast<std::size_t>(((p * extents.page_size + s) * extents.heads + h) * width + d)];
  }
};

struct CacheLayout {
  CachePlace k, v;
  bool one_storage = false;
};

// Throws std::invalid_argument when K and V share a storage but not their dims.
CacheLayout place_cache(const LayoutSpec& spec, const CacheExtents& extents);

}  // namespace attest
