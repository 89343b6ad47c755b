#include "src/record/record.h"

#include "src/base/bytes.h"
#include "src/base/crc32c.h"

namespace smdebug::record {

std::array<std::byte, kHeaderBytes> MakeHeader(
    uint64_t payload_bytes) noexcept {
  std::array<std::byte, kHeaderBytes> header{};
  base::StoreLittleEndian(payload_bytes, header.data());
  const auto length = std::span(header).first<sizeof(payload_bytes)>();
  base::StoreLittleEndian(base::MaskCrc(base::Crc32c(length)),
                          header.data() + length.size());
  return header;
}

std::array<std::byte, kFooterBytes> MakeFooter(uint32_t check) noexcept {
  std::array<std::byte, kFooterBytes> footer{};
  base::StoreLittleEndian(check, footer.data());
  return footer;
}

}  // namespace smdebug::record
