#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace smdebug::record {

// Elements that `shape` spans. nullopt if it is not one: an extent is negative,
// or those that are not 0 multiply beyond what an int64_t holds, so that nobody
// could walk over it. Pure.
inline std::optional<uint64_t> CountElements(std::span<const int64_t> shape) {
  int64_t product = 1;
  bool empty = false;
  for (const int64_t extent : shape) {
    if (extent < 0) return std::nullopt;
    if (extent == 0) {
      empty = true;
    } else if (__builtin_mul_overflow(product, extent, &product)) {
      return std::nullopt;
    }
  }
  return empty ? 0 : static_cast<uint64_t>(product);
}

// Whether `bytes` are exactly `count` elements of `item_bytes` each. Pure.
inline bool Fill(uint64_t bytes, uint64_t count, uint64_t item_bytes) {
  return item_bytes > 0 && bytes % item_bytes == 0 &&
         bytes / item_bytes == count;
}

}  // namespace smdebug::record
