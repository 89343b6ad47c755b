#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

// TFRecord framing (docs/formats/record.md): u64 length, u32 masked CRC-32C of
// the length, payload, u32 check.
namespace smdebug::record {

inline constexpr size_t kHeaderBytes = 12;
inline constexpr size_t kFooterBytes = 4;

// The check of every record in a tensor event file, whatever its payload: what
// smdebug 1.0 writes and demands. The true CRC is in the index.
inline constexpr uint32_t kTensorFooter = 0x062DC0B3u;

// A payload above this cannot be read back by protobuf readers.
inline constexpr uint64_t kMaxPayloadBytes = (uint64_t{1} << 31) - 1;

std::array<std::byte, kHeaderBytes> MakeHeader(uint64_t payload_bytes) noexcept;
std::array<std::byte, kFooterBytes> MakeFooter(uint32_t check) noexcept;

}  // namespace smdebug::record
