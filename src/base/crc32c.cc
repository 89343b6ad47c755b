#include "src/base/crc32c.h"

#include <algorithm>

#include <isa-l/crc.h>

namespace smdebug::base {

uint32_t Crc32c(std::span<const std::byte> bytes, uint32_t crc) noexcept {
  // ISA-L counts bytes in an int and leaves both inversions to the caller.
  constexpr size_t kMostPerCall = size_t{1} << 30;
  uint32_t state = ~crc;
  while (!bytes.empty()) {
    const auto part = bytes.first(std::min(bytes.size(), kMostPerCall));
    auto* data = const_cast<std::byte*>(part.data());  // Read only; old API.
    state = crc32_iscsi(reinterpret_cast<unsigned char*>(data),
                        static_cast<int>(part.size()), state);
    bytes = bytes.subspan(part.size());
  }
  return ~state;
}

}  // namespace smdebug::base
