#include "src/base/text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace smdebug::base {
namespace {

using ::testing::ElementsAre;

TEST(TextTest, ParsesWholeNumbersAndNothingElse) {
  EXPECT_EQ(ParseInt("42"), 42);
  EXPECT_EQ(ParseInt(" -7 "), -7);
  EXPECT_EQ(ParseInt("+7"), 7);
  for (const char* text : {"", " ", "+", "-", "+-5", "2.5", "1e3", "0x10",
                           "12a", "9223372036854775808"}) {
    EXPECT_EQ(ParseInt(text), std::nullopt) << text;
  }
}

TEST(TextTest, TrimsBlanksAtBothEnds) {
  EXPECT_EQ(Trim("\t a b\r\n"), "a b");
  EXPECT_EQ(Trim(" \n"), "");
}

TEST(TextTest, LowersTheLettersOfAsciiOnly) {
  EXPECT_EQ(Lower("Az-\xC3\x84"), "az-\xC3\x84");
}

TEST(TextTest, SplitsAtEveryComma) {
  EXPECT_THAT(SplitAtCommas(" a,,b"), ElementsAre(" a", "", "b"));
  EXPECT_THAT(SplitAtCommas(""), ElementsAre(""));
}

}  // namespace
}  // namespace smdebug::base
