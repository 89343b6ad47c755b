#include "src/base/regex.h"

#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "smdebug/error.h"
#include "smdebug/log.h"

namespace smdebug::base {
namespace {

bool Matches(std::string_view pattern, std::string_view text) {
  return Regex(pattern, "include_regex").Search(text);
}

TEST(RegexTest, SearchesAnywhere) {
  EXPECT_TRUE(Matches("relu", "block1.relu_output_0"));
  EXPECT_FALSE(Matches("^relu", "block1.relu_output_0"));
  EXPECT_TRUE(Matches(".*", ""));
}

TEST(RegexTest, KnowsLookAround) {
  EXPECT_TRUE(Matches("^(?!gradient).*weight", "Net_fc.weight"));
  EXPECT_FALSE(Matches("^(?!gradient).*weight", "gradient/Net_fc.weight"));
  EXPECT_TRUE(Matches("^[a-zA-z]+-.+(?<!(auc|map))$", "train-rmse"));
  EXPECT_FALSE(Matches("^[a-zA-z]+-.+(?<!(auc|map))$", "train-auc"));
  EXPECT_TRUE(Matches("^weights/.*/((?!bias).)*$", "weights/dense/kernel:0"));
  EXPECT_FALSE(Matches("^weights/.*/((?!bias).)*$", "weights/dense/bias:0"));
}

TEST(RegexTest, RefusesABadPatternAndNamesThePlace) {
  try {
    const Regex regex("a(b", "collection c: include_regex");
    FAIL() << "accepted";
  } catch (const ConfigError& error) {
    EXPECT_EQ(error.key(), "collection c: include_regex");
    EXPECT_EQ(error.value(), "a(b");
    EXPECT_NE(std::string(error.what()).find("character 4"), std::string::npos);
  }
}

TEST(RegexTest, TellsOnceOfAPatternThatTakesTooLong) {
  std::vector<std::string> told;
  SetLogSink(
      [&](LogLevel, std::string_view message) { told.emplace_back(message); });
  // Looking at every way to split the text takes for ever.
  const std::string pattern = "^(?:a|a?)+$";
  const std::string text = std::string(60, 'a') + "b";
  EXPECT_FALSE(Matches(pattern, text));
  EXPECT_FALSE(Matches(pattern, text));
  EXPECT_FALSE(Matches("^c", text));  // Which is known.
  SetLogSink({});
  ASSERT_EQ(told.size(), 1u);
  EXPECT_NE(told[0].find(pattern), std::string::npos);
  EXPECT_NE(told[0].find(text), std::string::npos);
}

TEST(RegexTest, ALongNameNeedsNoLargeStack) {
  EXPECT_TRUE(Matches("^(?:(a)|(b))*$", std::string(2500, 'a') + "b"));
}

}  // namespace
}  // namespace smdebug::base
