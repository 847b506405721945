// Guarded memory: where a tensor lies between two bands of known bytes, and whether they still hold.
//
// A region is `band | payload | band` at an offset of some mapping. The bands' bytes read as NaN in every
// float format that is aligned to its size (the fnuz pair, whose one NaN no other format shares, reads its
// largest magnitude) and as a huge number in every integer format, so reading past the end poisons a result
// as surely as writing past it is found. With guard pages the payload ends (up to its 64-byte alignment) at
// a page that the kernel's process may not touch at all.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>

namespace attest {

enum class GuardMode { Bands, Pages };

struct Region {
  std::size_t payload = 0;     // offset of the first byte of the tensor
  std::size_t bytes = 0;       // its size
  std::size_t band_begin = 0;  // the bands are [band_begin, payload) and [payload + bytes, band_end)
  std::size_t band_end = 0;
  bool pages = false;  // the pages just before band_begin and from band_end on are out of bounds
};

struct ByteRange {
  std::size_t offset;
  std::size_t bytes;
};

constexpr std::size_t kGuardBand = 256;  // bytes, at least, on each side
std::size_t page_bytes();

// Places a region of `bytes` at or after `cursor` and moves the cursor past it.
Region place(std::size_t& cursor, std::size_t bytes, GuardMode mode);

void write_bands(std::span<std::byte> mapping, const Region& region);

struct GuardDamage {
  bool after;            // behind the tensor's end, or before its begin
  std::size_t distance;  // bytes from the tensor's edge to the nearest changed byte, counted from 1
  std::size_t changed;   // how many bytes of the bands changed
  std::string text() const;
};
std::optional<GuardDamage> damage(std::span<const std::byte> mapping, const Region& region);

// The two out-of-bounds pages of a region with `pages` set.
ByteRange page_before(const Region& region);
ByteRange page_after(const Region& region);

}  // namespace attest
