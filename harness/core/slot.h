// The named tensors of a call. Each may be absent. Values, shapes and meaning are those of backends/abi.h.
#pragma once

#include <array>
#include <optional>
#include <string_view>

namespace attest {

enum class Slot {
  Q,
  QRope,
  KNew,
  KRope,
  VNew,
  Positions,
  Offsets,
  CosSin,
  KCache,
  VCache,
  Out,
  Lse,
  PageTable,
  SlotMapping,
  LenKv,
  CuLenQ,
  QScale,
  KScale,
  VScale,
  Sinks,
  Alibi,
  Workspace,
  QOut,
  KOut,
  Count
};
constexpr std::size_t kSlots = static_cast<std::size_t>(Slot::Count);

constexpr std::array<std::string_view, kSlots> kSlotNames{
    "q",       "q_rope",  "k_new",   "k_rope", "v_new",      "positions",    "offsets", "cos_sin",
    "k_cache", "v_cache", "out",     "lse",    "page_table", "slot_mapping", "len_kv",  "cu_len_q",
    "q_scale", "k_scale", "v_scale", "sinks",  "alibi",      "workspace",    "q_out",   "k_out"};

constexpr std::string_view name(Slot slot) { return kSlotNames[static_cast<std::size_t>(slot)]; }

constexpr std::optional<Slot> slot_from_name(std::string_view name) {
  for (std::size_t i = 0; i < kSlots; ++i)
    if (kSlotNames[i] == name) return static_cast<Slot>(i);
  return std::nullopt;
}

// What the kernel is to fill; everything else it only reads, but for the caches of a write.
constexpr bool is_output(Slot slot) {
  return slot == Slot::Out || slot == Slot::Lse || slot == Slot::QOut || slot == Slot::KOut;
}
constexpr bool is_cache(Slot slot) { return slot == Slot::KCache || slot == Slot::VCache; }

}  // namespace attest
