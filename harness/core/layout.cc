#include "harness/core/layout.h"

#include <algorithm>
#include <array>
#include <stdexcept>

namespace attest {
namespace {

constexpr std::array<std::string_view, 5> kAxisNames{"page", "slot", "head", "kv", "dim"};

std::int64_t size_of(CacheAxis axis, const CacheExtents& e, std::int64_t width) {
  switch (axis) {
    case CacheAxis::Page: return e.pages;
    case CacheAxis::Slot: return e.page_size;
    case CacheAxis::Head: return e.heads;
    case CacheAxis::Kv: return 2;
    case CacheAxis::Dim: return width;
  }
  return 0;
}

// Stride of each axis (by its enumerator) when the axes are nested in this order without gaps.
std::array<std::int64_t, 5> nest(const std::vector<CacheAxis>& axes, const CacheExtents& e, std::int64_t width) {
  std::array<std::int64_t, 5> strides{};
  std::int64_t stride = 1;
  for (std::size_t i = axes.size(); i-- > 0;) {
    strides[static_cast<std::size_t>(axes[i])] = stride;
    stride *= size_of(axes[i], e, width);
  }
  return strides;
}

bool holds(const std::vector<CacheAxis>& axes, CacheAxis axis) {
  return std::find(axes.begin(), axes.end(), axis) != axes.end();
}

// The axes from 'kv' on are the same, in any order; none where there is no 'kv'.
bool same_inside_kv(const std::vector<CacheAxis>& a, const std::vector<CacheAxis>& b) {
  const auto from_a = std::find(a.begin(), a.end(), CacheAxis::Kv),
             from_b = std::find(b.begin(), b.end(), CacheAxis::Kv);
  return std::is_permutation(from_a, a.end(), from_b, b.end());
}

CachePlace place_one(const CacheSpec& spec, const CacheExtents& e, std::int64_t width, bool second) {
  const auto at = [](CacheAxis axis) { return static_cast<std::size_t>(axis); };
  const auto shown = nest(spec.storage, e, width), real = nest(spec.order, e, width);
  CachePlace place;
  for (const CacheAxis axis : spec.shape) {
    place.shape.push_back(size_of(axis, e, width));
    place.strides.push_back(shown[at(axis)]);
  }
  place.base = second ? real[at(CacheAxis::Kv)] : 0;
  place.storage = e.pages * e.page_size * e.heads * width * (holds(spec.storage, CacheAxis::Kv) ? 2 : 1);
  place.page = real[at(CacheAxis::Page)];
  place.slot = real[at(CacheAxis::Slot)];
  place.head = real[at(CacheAxis::Head)];
  place.dim = real[at(CacheAxis::Dim)];
  place.extents = e;
  place.width = width;
  return place;
}

}  // namespace

std::string_view name(CacheAxis axis) { return kAxisNames[static_cast<std::size_t>(axis)]; }

std::optional<CacheAxis> cache_axis_from_name(std::string_view text) {
  for (std::size_t i = 0; i < kAxisNames.size(); ++i)
    if (kAxisNames[i] == text) return static_cast<CacheAxis>(i);
  return std::nullopt;
}

std::optional<std::string> check(const CacheSpec& spec) {
  for (const auto& [what, axes] : {std::pair{"shape", &spec.shape}, {"storage", &spec.storage}, {"order", &spec.order}})
    for (const CacheAxis axis : {CacheAxis::Page, CacheAxis::Slot, CacheAxis::Head, CacheAxis::Dim})
      if (std::count(axes->begin(), axes->end(), axis) != 1)
        return std::string(what) + " must name the axis '" + std::string(name(axis)) + "' once";
  if (holds(spec.shape, CacheAxis::Kv)) return "shape can't name the axis 'kv': K and V are shown as two tensors";
  const auto shared = std::count(spec.storage.begin(), spec.storage.end(), CacheAxis::Kv);
  if (shared > 1 || shared != std::count(spec.order.begin(), spec.order.end(), CacheAxis::Kv))
    return "storage and order must both name the axis 'kv' once, or neither";
  // K and V lie the same distance apart in both, or the shown tensors could not begin where their elements do.
  if (!same_inside_kv(spec.storage, spec.order)) return "storage and order must nest the same axes inside 'kv'";
  return std::nullopt;
}

std::optional<std::string> check(const LayoutSpec& spec) {
  for (const CacheSpec* one : {&spec.k, &spec.v})
    if (auto wrong = check(*one)) return wrong;
  // Otherwise the two would overlap.
  if (!same_inside_kv(spec.k.storage, spec.v.storage))
    return "k and v must nest the same axes inside 'kv', or both have a storage without it";
  return std::nullopt;
}

bool LayoutSpec::one_storage() const { return holds(k.storage, CacheAxis::Kv); }

CacheLayout place_cache(const LayoutSpec& spec, const CacheExtents& extents) {
  CacheLayout layout;
  layout.one_storage = spec.one_storage();
  if (layout.one_storage && extents.dim != extents.dim_v)
    throw std::invalid_argument("K and V share one storage, so their head dims must be equal");
  layout.k = place_one(spec.k, extents, extents.dim, false);
  layout.v = place_one(spec.v, extents, extents.dim_v, layout.one_storage);
  return layout;
}

}  // namespace attest
