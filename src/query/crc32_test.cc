#include "src/query/crc32.h"

#include <string>

#include <gtest/gtest.h>

#include "src/base/bytes.h"

namespace smdebug::query {
namespace {

TEST(Crc32Test, GivesTheCheckValueOfTheCatalogue) {
  EXPECT_EQ(Crc32(base::AsBytes("123456789")), 0xCBF43926u);
  EXPECT_EQ(Crc32({}), 0u);
}

TEST(Crc32Test, PartsGiveTheSameAsTheWhole) {
  const std::string text(1000, 'x');
  const uint32_t whole = Crc32(base::AsBytes(text));
  for (const size_t cut : {0U, 1U, 15U, 16U, 500U, 1000U}) {
    EXPECT_EQ(Crc32(base::AsBytes(text.substr(cut)),
                    Crc32(base::AsBytes(text.substr(0, cut)))),
              whole);
  }
}

}  // namespace
}  // namespace smdebug::query
