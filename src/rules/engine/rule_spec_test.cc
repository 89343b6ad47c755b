#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "smdebug/error.h"
#include "smdebug/rule.h"

namespace smdebug {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::ThrowsMessage;

TEST(RuleSpecTest, ANameAloneHasNoParameters) {
  const RuleSpec spec = ParseRuleSpec("VanishingGradient");
  EXPECT_EQ(spec.name, "VanishingGradient");
  EXPECT_THAT(spec.parameters, IsEmpty());
}

TEST(RuleSpecTest, ColonsSeparateParametersAndTheFirstEqualsSignEndsTheName) {
  const RuleSpec spec = ParseRuleSpec("X:a=1:b=p=q,r:c=");
  EXPECT_EQ(spec.name, "X");
  EXPECT_TRUE(spec.commas_separate);
  EXPECT_THAT(spec.parameters, ElementsAre(Pair("a", ElementsAre("1")),
                                           Pair("b", ElementsAre("p=q,r")),
                                           Pair("c", ElementsAre(""))));
}

TEST(RuleSpecTest, InJsonAStringIsOneValueAndListsAreLists) {
  const RuleSpec spec = ParseRuleSpec(
      R"(X{"a": "p:q,r", "b": ["x{1,2}", "y"], "c": 2.5, "d": true})");
  EXPECT_EQ(spec.name, "X");
  EXPECT_FALSE(spec.commas_separate);
  EXPECT_THAT(spec.parameters,
              ElementsAre(Pair("a", ElementsAre("p:q,r")),
                          Pair("b", ElementsAre("x{1,2}", "y")),
                          Pair("c", ElementsAre("2.5")),
                          Pair("d", ElementsAre("true"))));
}

TEST(RuleSpecTest, ABraceInAValueIsNoJson) {
  const RuleSpec spec = ParseRuleSpec("X:tensor_regex=a{2}");
  EXPECT_THAT(spec.parameters,
              ElementsAre(Pair("tensor_regex", ElementsAre("a{2}"))));
}

TEST(RuleSpecTest, AClassOfAPythonFileHasParametersInBothForms) {
  for (const char* text : {"my/rules.v2.py:Own:a=1:b=p,q",
                           R"(my/rules.v2.py:Own{"a": 1, "b": "p,q"})"}) {
    const RuleSpec spec = ParseRuleSpec(text);
    EXPECT_EQ(spec.file, "my/rules.v2.py") << text;
    EXPECT_EQ(spec.name, "Own") << text;
    EXPECT_THAT(spec.parameters, ElementsAre(Pair("a", ElementsAre("1")),
                                             Pair("b", ElementsAre("p,q"))))
        << text;
  }
  EXPECT_EQ(ParseRuleSpec("AllZero:tensor_regex=a.py").file, "");
}

TEST(RuleSpecTest, APythonFileNeedsAClass) {
  for (const char* text : {"own.py", "own.py:", "own.py:a=1", "own.py{}",
                           "own.py::a=1", "own.py:Own:a"}) {
    EXPECT_THROW(ParseRuleSpec(text), ConfigError) << text;
  }
  EXPECT_THAT([] { ParseRuleSpec("own.py:"); },
              ThrowsMessage<ConfigError>(HasSubstr("'own.py:'")));
}

TEST(RuleSpecTest, ARuleOfAFileIsNotMadeHere) {
  EXPECT_THROW(MakeRule(ParseRuleSpec("own.py:AllZero")), ConfigError);
}

TEST(RuleSpecTest, WhatIsOfNeitherFormIsRefused) {
  for (const char* text :
       {"", ":a=1", "X:", "X:a", "X:=1", "X:a=1:", R"(X{"a")", "X{1}",
        R"({"a": 1})", R"(X{"a": 1} y)"}) {
    EXPECT_THROW(ParseRuleSpec(text), ConfigError) << text;
  }
}

TEST(RuleSpecTest, RulesAreFoundInAnyLetterCase) {
  EXPECT_EQ(FindRule("vanishinggradient"), FindRule("VanishingGradient"));
  EXPECT_NE(FindRule("VANISHINGGRADIENT"), nullptr);
  EXPECT_EQ(FindRule("Vanishing"), nullptr);
}

}  // namespace
}  // namespace smdebug
