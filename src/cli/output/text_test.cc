#include "src/cli/output/text.h"

#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace smdebug::cli {
namespace {

TEST(TextTest, WidthCountsCharacters) {
  EXPECT_EQ(TextWidth(""), 0u);
  EXPECT_EQ(TextWidth("caf\xC3\xA9"), 4u);
  EXPECT_EQ(TextWidth("\xE2\xA0\xBF"), 1u);
}

TEST(TextTest, LinesFitATerminalAndNoWordIsBroken) {
  const Terminal narrow = {.is_terminal = true, .width = 12};
  EXPECT_EQ(FitLines("a long sentence here\nshort\n", narrow, 2),
            "a long\n  sentence\n  here\nshort\n");
  EXPECT_EQ(FitLines("see /a/very/long/path now\n", narrow, 0),
            "see\n/a/very/long/path\nnow\n");
  EXPECT_EQ(FitLines("a \x1B[31mred\x1B[0m word\n", narrow, 2),
            "a \x1B[31mred\x1B[0m word\n");
  EXPECT_EQ(FitLines("a long sentence here\n", {}, 2),
            "a long sentence here\n");
}

TEST(TextTest, SentencesAreWrappedBetweenWords) {
  using Lines = std::vector<std::string>;
  EXPECT_EQ(WrapWords("one two three", 7), (Lines{"one two", "three"}));
  EXPECT_EQ(WrapWords("one two three", 80), Lines{"one two three"});
  EXPECT_EQ(WrapWords("a  b", 3), Lines{"a b"});
  EXPECT_EQ(WrapWords("a abcdefgh b", 3),
            (Lines{"a", "abc", "def", "gh", "b"}));
  EXPECT_EQ(WrapWords("\xC3\xA9\xC3\xA9\xC3\xA9", 2),
            (Lines{"\xC3\xA9\xC3\xA9", "\xC3\xA9"}));
  EXPECT_EQ(WrapWords("", 3), Lines{});
  EXPECT_EQ(WrapWords("ab", 0), (Lines{"a", "b"}));
}

TEST(TextTest, SizesAndAgesReadAsPeopleSayThem) {
  EXPECT_EQ(HumanBytes(0), "0 B");
  EXPECT_EQ(HumanBytes(1023), "1023 B");
  EXPECT_EQ(HumanBytes(1024), "1.0 KiB");
  EXPECT_EQ(HumanBytes((1 << 20) - 1), "1.0 MiB");
  EXPECT_EQ(HumanBytes(uint64_t{5} << 29), "2.5 GiB");
  EXPECT_EQ(HumanBytes(UINT64_MAX), "16.0 EiB");
  EXPECT_EQ(HumanAge(-5), "0 s");
  EXPECT_EQ(HumanAge(119.9), "119 s");
  EXPECT_EQ(HumanAge(600), "10 min");
  EXPECT_EQ(HumanAge(7200), "2 h");
  EXPECT_EQ(HumanAge(172800), "2 d");
}

}  // namespace
}  // namespace smdebug::cli
