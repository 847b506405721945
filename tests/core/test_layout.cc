// Layouts of caches: every element of K and V has a place of its own inside the storage, the shown tensors lie where
// their axes say, and what would overlap is refused.
#include "harness/core/layout.h"
#include "harness/core/slot.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

namespace attest {
namespace {

using Axes = std::vector<CacheAxis>;
constexpr auto page = CacheAxis::Page, slot = CacheAxis::Slot, head = CacheAxis::Head, kv = CacheAxis::Kv,
               dim = CacheAxis::Dim;

CacheSpec spec(Axes shape, Axes storage = {}, Axes order = {}) {
  if (storage.empty()) storage = shape;
  if (order.empty()) order = storage;
  return {std::move(shape), std::move(storage), std::move(order)};
}

struct Named {
  std::string name;
  LayoutSpec layout;
};

std::vector<Named> layouts() {
  const CacheSpec nhd = spec({page, slot, head, dim}), hnd = spec({page, head, slot, dim});
  return {
      {"flash", {nhd, nhd}},
      {"heads outside", {hnd, hnd}},
      {"vllm cpu: K as [dim, slot]", {spec({page, head, slot, dim}, {}, {page, head, dim, slot}), hnd}},
      {"vllm cpu fused",
       {spec({page, head, slot, dim}, {page, head, kv, slot, dim}, {page, head, kv, dim, slot}),
        spec({page, head, slot, dim}, {page, head, kv, slot, dim})}},
      {"halves of a page",
       {spec({page, slot, head, dim}, {page, kv, slot, head, dim}),
        spec({page, slot, head, dim}, {page, kv, slot, head, dim})}},
      {"one tensor of both",
       {spec({page, slot, head, dim}, {kv, page, slot, head, dim}),
        spec({page, slot, head, dim}, {kv, page, slot, head, dim})}},
      {"rpa: K and V heads in turns",
       {spec({page, slot, head, dim}, {page, slot, head, kv, dim}),
        spec({page, slot, head, dim}, {page, slot, head, kv, dim})}},
      {"lane by lane",
       {spec({page, slot, head, dim}, {page, slot, head, dim, kv}),
        spec({page, slot, head, dim}, {page, slot, head, dim, kv})}},
      {"V outside in another order",
       {spec({page, slot, head, dim}, {page, slot, head, kv, dim}),
        spec({page, slot, head, dim}, {head, page, slot, kv, dim})}},
  };
}

constexpr CacheExtents kExtents{.pages = 3, .page_size = 4, .heads = 2, .dim = 5, .dim_v = 5};

template <typename Visit>
void each_element(const CachePlace& place, const Visit& visit) {
  for (std::int64_t p = 0; p < place.extents.pages; ++p)
    for (std::int64_t s = 0; s < place.extents.page_size; ++s)
      for (std::int64_t h = 0; h < place.extents.heads; ++h)
        for (std::int64_t d = 0; d < place.width; ++d) visit(p, s, h, d);
}

// Elements that lie outside of their storage or where another one lies already.
int misplaced(const CacheLayout& layout) {
  int wrong = 0;
  std::set<std::int64_t> taken;
  for (const CachePlace* place : {&layout.k, &layout.v}) {
    if (!layout.one_storage) taken.clear();
    each_element(*place, [&](auto p, auto s, auto h, auto d) {
      const auto at = place->index(p, s, h, d);
      wrong += at < 0 || at >= place->storage || !taken.insert(at).second;
    });
    if (layout.one_storage && place == &layout.v) wrong += taken.size() != static_cast<std::size_t>(place->storage);
    if (!layout.one_storage) wrong += taken.size() != static_cast<std::size_t>(place->storage);
  }
  return wrong;
}

TEST(Layout, EveryElementHasAPlaceOfItsOwn) {
  for (const auto& [name, layout] : layouts()) {
    EXPECT_EQ(check(layout), std::nullopt) << name;
    EXPECT_EQ(misplaced(place_cache(layout, kExtents)), 0) << name;
    EXPECT_EQ(misplaced(place_cache(layout, {.pages = 1, .page_size = 1, .heads = 1, .dim = 1, .dim_v = 1})), 0)
        << name;
    EXPECT_EQ(place_cache(layout, kExtents).one_storage,
              name != "flash" && name != "heads outside" && name != "vllm cpu: K as [dim, slot]")
        << name;
  }
}

TEST(Layout, TheCheckCatchesOverlaps) {
  CacheLayout layout = place_cache(layouts()[0].layout, kExtents);
  layout.k.head = 0;
  EXPECT_GT(misplaced(layout), 0) << "all heads in one place";
  layout = place_cache(layouts()[4].layout, kExtents);
  layout.v.base = layout.k.base;
  EXPECT_GT(misplaced(layout), 0) << "V over K";
  layout = place_cache(layouts()[4].layout, kExtents);
  ++layout.v.base;
  EXPECT_GT(misplaced(layout), 0) << "V one element on";
}

// What the kernel is shown: with no order of its own, the element is where the shown tensor says.
TEST(Layout, ShownTensorsLieWhereTheElementsDo) {
  for (const auto& [name, spec_of_both] : layouts()) {
    const CacheLayout layout = place_cache(spec_of_both, kExtents);
    for (const auto& [place, one] : {std::pair{&layout.k, &spec_of_both.k}, {&layout.v, &spec_of_both.v}}) {
      std::set<std::int64_t> shown, real;
      int apart = 0;
      each_element(*place, [&](auto p, auto s, auto h, auto d) {
        std::int64_t at = place->base;
        for (std::size_t axis = 0; axis < place->shape.size(); ++axis) {
          const auto i = one->shape[axis] == page ? p : one->shape[axis] == slot ? s : one->shape[axis] == head ? h : d;
          ASSERT_LT(i, place->shape[axis]);
          at += i * place->strides[axis];
        }
        shown.insert(at);
        real.insert(place->index(p, s, h, d));
        apart += at != place->index(p, s, h, d);
      });
      EXPECT_EQ(shown, real) << name << ": the kernel is shown other memory than its elements lie in";
      EXPECT_EQ(apart == 0, one->order == one->storage) << name;
    }
  }
}

TEST(Layout, ByHand) {
  const CacheLayout fused = place_cache(layouts()[3].layout, kExtents);  // [3, 2, 2 (kv), 4, 5]
  EXPECT_EQ(fused.k.shape, (Dims{3, 2, 4, 5}));
  EXPECT_EQ(fused.k.strides, (Dims{80, 40, 5, 1}));
  EXPECT_EQ(fused.k.base, 0);
  EXPECT_EQ(fused.v.base, 20);
  EXPECT_EQ(fused.k.storage, 240);
  EXPECT_EQ(fused.k.index(1, 3, 1, 2), 80 + 40 + 2 * 4 + 3) << "K's dims are outside of its slots";
  EXPECT_EQ(fused.v.index(1, 3, 1, 2), 20 + 80 + 40 + 3 * 5 + 2);
  const CacheLayout flash =
      place_cache(layouts()[0].layout, {.pages = 3, .page_size = 4, .heads = 2, .dim = 5, .dim_v = 7});
  EXPECT_EQ(flash.k.storage, 120);
  EXPECT_EQ(flash.v.storage, 168);
  EXPECT_EQ(flash.v.strides, (Dims{56, 14, 7, 1}));
  EXPECT_EQ(flash.v.index(2, 1, 1, 6), 2 * 56 + 14 + 7 + 6);
}

TEST(Layout, ATableOverridesTheStrides) {
  CacheLayout layout = place_cache(layouts()[0].layout, kExtents);
  for (std::int64_t i = layout.k.storage; i-- > 0;) layout.k.table.push_back(i);
  EXPECT_EQ(layout.k.index(0, 0, 0, 0), 119);
  EXPECT_EQ(layout.k.index(0, 0, 0, 1), 118);
  EXPECT_EQ(layout.k.index(0, 0, 1, 0), 114);
  EXPECT_EQ(layout.k.index(0, 1, 0, 0), 109);
  EXPECT_EQ(layout.k.index(2, 3, 1, 4), 0);
  EXPECT_EQ(layout.v.index(2, 3, 1, 4), 119) << "V has no table";
  EXPECT_EQ(misplaced(layout), 0);
}

TEST(Layout, RefusesAxesThatMakeNone) {
  const Axes nhd{page, slot, head, dim};
  const std::vector<std::pair<CacheSpec, std::string>> rows{
      {{{page, slot, head}, nhd, nhd}, "shape must name the axis 'dim' once"},
      {{{page, slot, slot, head, dim}, nhd, nhd}, "shape must name the axis 'slot' once"},
      {{nhd, {slot, head, dim}, nhd}, "storage must name the axis 'page' once"},
      {{nhd, nhd, {page, slot, dim}}, "order must name the axis 'head' once"},
      {{{}, {}, {}}, "shape must name the axis 'page' once"},
      {{{page, kv, slot, head, dim}, nhd, nhd}, "shape can't name the axis 'kv': K and V are shown as two tensors"},
      {{nhd, {page, kv, slot, head, dim}, nhd}, "storage and order must both name the axis 'kv' once, or neither"},
      {{nhd, nhd, {page, kv, slot, head, dim}}, "storage and order must both name the axis 'kv' once, or neither"},
      {{nhd, {page, kv, kv, slot, head, dim}, {page, kv, kv, slot, head, dim}},
       "storage and order must both name the axis 'kv' once, or neither"},
      {{nhd, {page, kv, slot, head, dim}, {page, slot, kv, head, dim}},
       "storage and order must nest the same axes inside 'kv'"},
  };
  for (const auto& [bad, message] : rows) EXPECT_EQ(check(bad), message);
}

TEST(Layout, RefusesKAndVThatWouldOverlap) {
  const CacheSpec apart = spec({page, slot, head, dim}),
                  halves = spec({page, slot, head, dim}, {page, kv, slot, head, dim}),
                  turns = spec({page, slot, head, dim}, {page, slot, head, kv, dim});
  for (const LayoutSpec& bad : {LayoutSpec{halves, apart}, LayoutSpec{apart, halves}, LayoutSpec{halves, turns}}) {
    EXPECT_EQ(check(bad), "k and v must nest the same axes inside 'kv', or both have a storage without it");
    EXPECT_GT(misplaced(place_cache(bad, kExtents)), 0);
  }
  EXPECT_EQ(check(LayoutSpec{turns, {}}), "shape must name the axis 'page' once");
  EXPECT_THROW(place_cache({halves, halves}, {.pages = 3, .page_size = 4, .heads = 2, .dim = 5, .dim_v = 4}),
               std::invalid_argument);
  EXPECT_NO_THROW(place_cache({apart, apart}, {.pages = 3, .page_size = 4, .heads = 2, .dim = 5, .dim_v = 4}));
}

TEST(Layout, AxesHaveNames) {
  for (const CacheAxis axis : {page, slot, head, kv, dim}) EXPECT_EQ(cache_axis_from_name(name(axis)), axis);
  EXPECT_EQ(cache_axis_from_name("lane"), std::nullopt);
}

TEST(Slot, NamesRoundTrip) {
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < kSlots; ++i) {
    const auto one = static_cast<Slot>(i);
    EXPECT_EQ(slot_from_name(name(one)), one);
    EXPECT_TRUE(names.insert(name(one)).second);
    EXPECT_FALSE(is_output(one) && is_cache(one));
  }
  EXPECT_EQ(slot_from_name("query"), std::nullopt);
  EXPECT_TRUE(is_output(Slot::Lse) && is_output(Slot::QOut) && !is_output(Slot::Q) && is_cache(Slot::VCache) &&
              !is_cache(Slot::VNew));
}

}  // namespace
}  // namespace attest
