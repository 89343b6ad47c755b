#pragma once

#include <cstdint>
#include <string_view>

namespace smdebug::base {

// The hash FNV-1a of `text`, from `start` on: the same in every process.
constexpr uint64_t Fnv1a(std::string_view text,
                         uint64_t start = 0xcbf29ce484222325ULL) noexcept {
  uint64_t hash = start;
  for (const char c : text) {
    hash ^= static_cast<unsigned char>(c);
    hash *= 0x100000001b3ULL;
  }
  return hash;
}

}  // namespace smdebug::base
