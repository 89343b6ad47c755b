#include "src/base/crc32c.h"

#include <array>
#include <string>

#include <gtest/gtest.h>

#include "src/base/bytes.h"

namespace smdebug::base {
namespace {

TEST(Crc32cTest, GivesThePublishedCheckValue) {
  EXPECT_EQ(Crc32c(AsBytes("123456789")), 0xE3069283u);
  EXPECT_EQ(Crc32c({}), 0u);
}

TEST(Crc32cTest, ContinuesOverParts) {
  const std::string text = "the parts of a record, one after the other";
  for (size_t cut = 0; cut <= text.size(); ++cut) {
    const auto bytes = AsBytes(text);
    EXPECT_EQ(Crc32c(bytes.subspan(cut), Crc32c(bytes.first(cut))),
              Crc32c(bytes));
  }
}

TEST(Crc32cTest, MasksAsTfRecordDoes) {
  std::array<std::byte, 8> length{};
  EXPECT_EQ(MaskCrc(Crc32c(length)), 0x07980329u);
  StoreLittleEndian<uint64_t>(100, length.data());
  EXPECT_EQ(MaskCrc(Crc32c(length)), 0xDF1C5F43u);
  EXPECT_EQ(MaskCrc(Crc32c(AsBytes("0x12345678"))), 0x062DC0B3u);
}

}  // namespace
}  // namespace smdebug::base
