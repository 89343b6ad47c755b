#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace smdebug::base {

// CRC-32C (Castagnoli) of `bytes`, continuing from `crc`, the result for the
// bytes before them: Crc32c(b, Crc32c(a)) == Crc32c(a + b). Pure.
uint32_t Crc32c(std::span<const std::byte> bytes, uint32_t crc = 0) noexcept;

// The masked form that TFRecord stores, so that a CRC of bytes that hold CRCs
// stays strong.
constexpr uint32_t MaskCrc(uint32_t crc) noexcept {
  return ((crc >> 15) | (crc << 17)) + 0xA282EAD8u;
}

}  // namespace smdebug::base
