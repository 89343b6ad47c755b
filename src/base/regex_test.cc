#include "src/base/regex.h"

#include <string>

#include <gtest/gtest.h>

#include "smdebug/error.h"

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

TEST(RegexTest, GivesUpOnCatastrophicBacktracking) {
  EXPECT_FALSE(Matches("^(a+)+$", std::string(4000, 'a') + "b"));
}

}  // namespace
}  // namespace smdebug::base
