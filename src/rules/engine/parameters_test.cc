#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "smdebug/error.h"
#include "smdebug/rule_parameters.h"

namespace smdebug {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Kind = RuleParameter::Kind;

RuleType Sample() {
  return {
      .name = "Sample",
      .summary = "",
      .parameters = {
          CollectionNames(),
          TensorRegex(),
          {.name = "percent",
           .kind = Kind::kNumber,
           .fallback = "50",
           .least = 0,
           .most = 100},
          {.name = "factor", .kind = Kind::kNumber, .least = 0, .open = true},
          {.name = "count", .kind = Kind::kWhole, .fallback = "3", .least = 1},
          {.name = "numbers", .kind = Kind::kList},
          Robust()}};
}

RuleParameters Parse(std::string_view spec) {
  static const RuleType& type = *new RuleType(Sample());
  return {type, ParseRuleSpec(spec)};
}

TEST(RuleParametersTest, WhatIsNotGivenHasItsDefault) {
  const RuleParameters parameters = Parse("Sample");
  EXPECT_EQ(parameters.Number("percent"), 50);
  EXPECT_EQ(parameters.Whole("count"), 3);
  EXPECT_FALSE(parameters.Bool("robust"));
  EXPECT_FALSE(parameters.IsGiven("percent"));
  EXPECT_FALSE(parameters.Has("factor"));
  EXPECT_EQ(parameters.MaybeNumber("factor"), std::nullopt);
  EXPECT_THAT(parameters.List("collection_names"), IsEmpty());
}

TEST(RuleParametersTest, TextsAreReadByTheirKind) {
  const RuleParameters parameters = Parse(
      "Sample:percent=12.5:count=7:robust=True:collection_names=a, b,:numbers="
      "1,-2e3");
  EXPECT_EQ(parameters.Number("percent"), 12.5);
  EXPECT_EQ(parameters.Whole("count"), 7);
  EXPECT_TRUE(parameters.Bool("robust"));
  EXPECT_TRUE(parameters.IsGiven("percent"));
  EXPECT_THAT(parameters.Selection().collections, ElementsAre("a", "b"));
  EXPECT_THAT(parameters.Numbers("numbers"), ElementsAre(1, -2000));
}

TEST(RuleParametersTest, ABadValueIsRefusedWithNameValueAndRange) {
  const struct {
    std::string spec;
    std::string key;
    std::string value;
    std::string allowed;
  } cases[] = {
      {"Sample:percent=101", "Sample.percent", "101", "from 0 to 100"},
      {"Sample:percent=x", "Sample.percent", "x", "a number"},
      {"Sample:percent=nan", "Sample.percent", "nan", "a number"},
      {"Sample:percent=", "Sample.percent", "", "a number"},
      {"Sample:factor=0", "Sample.factor", "0", "above 0"},
      {"Sample:count=2.5", "Sample.count", "2.5", "a whole number"},
      {"Sample:count=0", "Sample.count", "0", "of at least 1"},
      {"Sample:robust=yes", "Sample.robust", "yes", "true or false"},
      {"Sample:tensor_regex=(", "Sample.tensor_regex", "(", ""},
      {R"(Sample{"percent": [1, 2]})", "Sample.percent", "2 values",
       "one value"},
  };
  for (const auto& test : cases) {
    try {
      Parse(test.spec);
      FAIL() << test.spec;
    } catch (const ConfigError& error) {
      EXPECT_EQ(error.key(), test.key);
      EXPECT_EQ(error.value(), test.value);
      EXPECT_THAT(error.allowed(), HasSubstr(test.allowed)) << test.spec;
    }
  }
}

TEST(RuleParametersTest, AnUnknownNameIsRefusedWithThoseThereAre) {
  try {
    Parse("Sample:treshold=1");
    FAIL();
  } catch (const ConfigError& error) {
    EXPECT_EQ(error.key(), "Sample");
    EXPECT_EQ(error.value(), "treshold");
    EXPECT_THAT(error.allowed(), HasSubstr("percent, factor, count"));
  }
}

}  // namespace
}  // namespace smdebug
