#include "src/query/name_match.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "smdebug/error.h"

namespace smdebug::query {
namespace {

using ::testing::ElementsAre;

const std::vector<std::string> kNames = {"conv1.bias", "conv1.weight",
                                         "fc.weight", "loss"};

TEST(NameMatchTest, PlainTextMustBeSomewhereInTheName) {
  EXPECT_TRUE(MatchesPattern("conv1.weight", "v1.w"));
  EXPECT_TRUE(MatchesPattern("conv1.weight", ""));
  EXPECT_FALSE(MatchesPattern("conv1.weight", "bias"));
  EXPECT_TRUE(MatchesPattern("layer[0].weight", "[0]"));
}

TEST(NameMatchTest, WildcardsMustMatchTheWholeName) {
  EXPECT_TRUE(MatchesPattern("conv1.weight", "*weight"));
  EXPECT_TRUE(MatchesPattern("conv1.weight", "conv?.*"));
  EXPECT_TRUE(MatchesPattern("a/b/c", "a*c"));
  EXPECT_TRUE(MatchesPattern("aXbXc", "*X*X*"));
  EXPECT_TRUE(MatchesPattern("", "*"));
  EXPECT_TRUE(MatchesPattern("layer[0].w", "layer[0]*"));
  EXPECT_FALSE(MatchesPattern("conv1.weight", "weight*"));
  EXPECT_FALSE(MatchesPattern("conv12.weight", "conv?.weight"));
  EXPECT_FALSE(MatchesPattern("ab", "a?b"));
  EXPECT_FALSE(MatchesPattern("", "?"));
}

TEST(NameMatchTest, AnyRegexMayMatchAnywhere) {
  EXPECT_THAT(KeepMatching(kNames, {}),
              ElementsAre("conv1.bias", "conv1.weight", "fc.weight", "loss"));
  EXPECT_THAT(KeepMatching(kNames, std::vector<std::string>{"^fc", "oss$"}),
              ElementsAre("fc.weight", "loss"));
  EXPECT_THROW(KeepMatching(kNames, std::vector<std::string>{"("}),
               ConfigError);
}

}  // namespace
}  // namespace smdebug::query
