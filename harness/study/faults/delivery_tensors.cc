#include "harness/study/faults/delivery_faults.h"
#include "harness/study/faults/edit.h"

#include <array>
#include <utility>

namespace attest {
namespace {

using D = Delivery;

// Floats of a scale or of the sinks, dense, in order.
std::int64_t count(const D& d, Slot slot) { return d.call.has(slot) ? element_count(d.call.ref(slot).shape) : 0; }

TensorView flat(const D& d, Slot slot) {
  TensorView view = d.call.view(slot);
  view.shape = {count(d, slot)};
  view.strides = {1};
  return view;
}

template <Slot Scale>
void sent_as_one(const D& d) {
  for (std::int64_t i = 0; i < count(d, Scale); ++i) put(flat(d, Scale), {i}, 1);
}

template <Slot Scale>
void sent_inverted(const D& d) {
  for (std::int64_t i = 0; i < count(d, Scale); ++i) put(flat(d, Scale), {i}, 1 / flat(d, Scale).value({i}));
}

void kv_scales_swapped(const D& d) {
  if (!d.call.has(Slot::KScale) || !d.call.has(Slot::VScale)) return;
  std::swap(d.call.slots[static_cast<std::size_t>(Slot::KScale)]->storage,
            d.call.slots[static_cast<std::size_t>(Slot::VScale)]->storage);
}

// The last axis rolled by one: each head gets the scale of its neighbour.
template <Slot... Scales>
void heads_rolled(const D& d) {
  for (const Slot slot : {Scales...}) {
    if (count(d, slot) < 2) continue;
    const TensorView view = flat(d, slot);
    const std::int64_t heads = d.call.ref(slot).shape.back();
    for (std::int64_t first = 0; first < view.shape[0]; first += heads) {
      const double kept = view.value({first});
      for (std::int64_t h = 0; h + 1 < heads; ++h) put(view, {first + h}, view.value({first + h + 1}));
      put(view, {first + heads - 1}, kept);
    }
  }
}

template <Slot... Scales>
void of_first(const D& d) {  // one number for all: head and sequence are ignored
  for (const Slot slot : {Scales...})
    for (std::int64_t i = 1; i < count(d, slot); ++i) put(flat(d, slot), {i}, flat(d, slot).value({0}));
}

void of_first_sequence(const D& d) {
  for (const Slot slot : {Slot::KScale, Slot::VScale}) {
    if (!d.call.has(slot) || d.call.ref(slot).shape.size() < 2) continue;
    const std::int64_t heads = d.call.ref(slot).shape.back();
    for (std::int64_t i = heads; i < count(d, slot); ++i) put(flat(d, slot), {i}, flat(d, slot).value({i % heads}));
  }
}

void sinks_zero(const D& d) {
  for (std::int64_t i = 0; i < count(d, Slot::Sinks); ++i) put(flat(d, Slot::Sinks), {i}, 0);
}

void q_rows_rolled(const D& d) {
  const auto rows = rows_of(d.problem);
  rearrange(d.call.view(Slot::Q), [&](std::int64_t row, std::int64_t head, std::int64_t dim) {
    const RowOf& at = rows[static_cast<std::size_t>(row)];
    return std::array<std::int64_t, 3>{row - at.row + (at.row + 1) % at.len_q, head, dim};
  });
}

void q_heads_rolled(const D& d) {
  rearrange(d.call.view(Slot::Q), [&](std::int64_t row, std::int64_t head, std::int64_t dim) {
    return std::array<std::int64_t, 3>{row, (head + 1) % d.problem.heads_q, dim};
  });
}

void q_of_next_sequence(const D& d) {
  const auto map = rows_of_next_sequence(d.problem);
  rearrange(d.call.view(Slot::Q), [&](std::int64_t row, std::int64_t head, std::int64_t dim) {
    return std::array<std::int64_t, 3>{map[static_cast<std::size_t>(row)], head, dim};
  });
}

void new_kv_swapped(const D& d) {
  const auto& k = d.call.ref(Slot::KNew);
  const auto& v = d.call.ref(Slot::VNew);
  if (k.dtype == v.dtype && k.shape == v.shape)
    std::swap(d.call.slots[static_cast<std::size_t>(Slot::KNew)], d.call.slots[static_cast<std::size_t>(Slot::VNew)]);
}

void new_v_heads_rolled(const D& d) {
  rearrange(d.call.view(Slot::VNew), [&](std::int64_t row, std::int64_t head, std::int64_t dim) {
    return std::array<std::int64_t, 3>{row, (head + 1) % d.problem.heads_kv, dim};
  });
}

constexpr std::array<DeliveryFault, 16> kFaults{{
    {"q_scale_sent_as_one", sent_as_one<Slot::QScale>},
    {"k_scale_sent_as_one", sent_as_one<Slot::KScale>},
    {"v_scale_sent_as_one", sent_as_one<Slot::VScale>},
    {"k_scale_sent_inverted", sent_inverted<Slot::KScale>},
    {"v_scale_sent_inverted", sent_inverted<Slot::VScale>},
    {"kv_scales_sent_swapped", kv_scales_swapped},
    {"head_scales_sent_rolled", heads_rolled<Slot::KScale, Slot::VScale>},
    {"first_scale_sent_for_all", of_first<Slot::KScale, Slot::VScale>},
    {"scales_of_first_sequence_sent", of_first_sequence},
    {"sinks_sent_rolled", heads_rolled<Slot::Sinks>},
    {"sinks_sent_as_zero", sinks_zero},
    {"q_rows_sent_rolled", q_rows_rolled},
    {"q_heads_sent_rolled", q_heads_rolled},
    {"q_of_next_sequence_sent", q_of_next_sequence},
    {"new_kv_sent_swapped", new_kv_swapped},
    {"new_v_heads_sent_rolled", new_v_heads_rolled},
}};

}  // namespace

std::span<const DeliveryFault> tensor_faults() { return kFaults; }

}  // namespace attest
