#include "src/record/record.h"

#include <string>

#include <gtest/gtest.h>

#include "src/base/bytes.h"
#include "src/base/crc32c.h"
#include "tests/testing/hex.h"

namespace smdebug::record {
namespace {

std::string HeaderHex(uint64_t payload_bytes) {
  return testing::ToHex(base::AsText(MakeHeader(payload_bytes)));
}

TEST(RecordTest, HeaderHoldsTheLengthAndItsMaskedChecksum) {
  EXPECT_EQ(HeaderHex(0), "000000000000000029039807");
  EXPECT_EQ(HeaderHex(100), "6400000000000000435f1cdf");
  EXPECT_EQ(HeaderHex(0x39), "39000000000000008b0737f1");
  EXPECT_EQ(HeaderHex(0x60), "60000000000000002821c6da");
}

TEST(RecordTest, FooterOfTensorFilesIsTheChecksumOfAFixedText) {
  EXPECT_EQ(kTensorFooter,
            base::MaskCrc(base::Crc32c(base::AsBytes("0x12345678"))));
  EXPECT_EQ(testing::ToHex(base::AsText(MakeFooter(kTensorFooter))),
            "b3c02d06");
}

}  // namespace
}  // namespace smdebug::record
