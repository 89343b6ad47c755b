#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace smdebug::query {

// CRC-32 as zip and gzip have it (not Castagnoli's) of `bytes`, continuing from
// `crc`, the result for the bytes before them. Pure.
uint32_t Crc32(std::span<const std::byte> bytes, uint32_t crc = 0) noexcept;

}  // namespace smdebug::query
