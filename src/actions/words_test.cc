#include "src/actions/words.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace smdebug::actions {
namespace {

using ::testing::ElementsAre;
using ::testing::Optional;

TEST(WordsTest, BlanksSeparateWords) {
  EXPECT_THAT(SplitCommand("  notify  -v\tnow\n"),
              Optional(ElementsAre("notify", "-v", "now")));
}

TEST(WordsTest, QuotesKeepBlanksAndMayBeEmpty) {
  EXPECT_THAT(SplitCommand(R"(say 'a "b" \n' "c 'd' \" \\ \n" '' e\ f"g"h)"),
              Optional(ElementsAre("say", R"(a "b" \n)", R"(c 'd' " \ \n)", "",
                                   "e fgh")));
}

TEST(WordsTest, NothingIsExpanded) {
  EXPECT_THAT(SplitCommand("echo $HOME *; rm `x` | y > z"),
              Optional(ElementsAre("echo", "$HOME", "*;", "rm", "`x`", "|", "y",
                                   ">", "z")));
}

TEST(WordsTest, AJsonListIsTakenAsItIs) {
  EXPECT_THAT(SplitCommand(R"( ["a b", "", "\"c"] )"),
              Optional(ElementsAre("a b", "", "\"c")));
}

TEST(WordsTest, WhatIsNoCommandIsRefused) {
  for (const char* text : {"", "  ", "'open", "\"open", "end\\", "[]", "[1]",
                           "['a']", "[\"\"]", "'' a", "[\"a\\u0000b\"]"}) {
    EXPECT_EQ(SplitCommand(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace smdebug::actions
