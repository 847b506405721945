#include "harness/core/guard.h"

#include <unistd.h>

namespace attest {
namespace {

constexpr std::size_t kAlignment = 64;

std::size_t round_up(std::size_t value, std::size_t to) { return (value + to - 1) / to * to; }

std::byte band_byte(std::size_t offset) { return offset % 2 ? std::byte{0x7F} : std::byte{0xFF}; }

}  // namespace

std::size_t page_bytes() {
  static const auto bytes = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

Region place(std::size_t& cursor, std::size_t bytes, GuardMode mode) {
  Region region{.bytes = bytes};
  if (mode == GuardMode::Bands) {
    region.band_begin = round_up(cursor, kAlignment);
    region.payload = region.band_begin + kGuardBand;
    region.band_end = round_up(region.payload + bytes + kGuardBand, kAlignment);
    cursor = region.band_end;
    return region;
  }
  const std::size_t page = page_bytes();
  region.pages = true;
  region.band_begin = round_up(cursor, page) + page;
  region.band_end = region.band_begin + round_up(round_up(bytes, kAlignment) + kGuardBand, page);
  region.payload = region.band_end - round_up(bytes, kAlignment);
  cursor = region.band_end + page;
  return region;
}

void write_bands(std::span<std::byte> mapping, const Region& region) {
  for (std::size_t i = region.band_begin; i < region.payload; ++i) mapping[i] = band_byte(i);
  for (std::size_t i = region.payload + region.bytes; i < region.band_end; ++i) mapping[i] = band_byte(i);
}

std::optional<GuardDamage> damage(std::span<const std::byte> mapping, const Region& region) {
  GuardDamage found{.after = true, .distance = 0, .changed = 0};
  const std::size_t end = region.payload + region.bytes;
  for (std::size_t i = end; i < region.band_end; ++i) {
    if (mapping[i] == band_byte(i)) continue;
    if (found.changed++ == 0) found.distance = i - end + 1;
  }
  for (std::size_t i = region.payload; i-- > region.band_begin;) {
    if (mapping[i] == band_byte(i)) continue;
    if (found.changed++ == 0) {
      found.after = false;
      found.distance = region.payload - i;
    }
  }
  if (found.changed == 0) return std::nullopt;
  return found;
}

std::string GuardDamage::text() const {
  return std::to_string(changed) + " bytes written " + (after ? "past the end" : "before the begin") +
         ", the nearest " + std::to_string(distance) + " from the edge";
}

ByteRange page_before(const Region& region) { return {region.band_begin - page_bytes(), page_bytes()}; }
ByteRange page_after(const Region& region) { return {region.band_end, page_bytes()}; }

}  // namespace attest
