#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "smdebug/error.h"
#include "smdebug/invoker.h"

namespace smdebug::rules {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

TEST(EvaluationTest, TheEvaluatorTakesOutWhatIsMeantForIt) {
  const RuleEvaluation evaluation = ToEvaluation(
      ParseRuleSpec("vanishinggradient:threshold=0.5:start_step=5:end_step=9:"
                    "other_trial_1=b:other_trial_0=a:action_json={}"));
  EXPECT_EQ(evaluation.name, "VanishingGradient");
  EXPECT_EQ(evaluation.start_step, 5);
  EXPECT_EQ(evaluation.end_step, 9);
  EXPECT_THAT(evaluation.other_trials, ElementsAre("a", "b"));
  EXPECT_EQ(evaluation.action_json, "{}");
  EXPECT_THAT(evaluation.spec.parameters,
              ElementsAre(Pair("threshold", ElementsAre("0.5"))));
}

TEST(EvaluationTest, ARuleOfAFileIsNamedAsItsClass) {
  const RuleEvaluation evaluation = ToEvaluation(
      ParseRuleSpec("own.py:Own:limit=2:start_step=5:other_trials=a,b"));
  EXPECT_EQ(evaluation.name, "Own");
  EXPECT_EQ(evaluation.start_step, 5);
  EXPECT_THAT(evaluation.other_trials, ElementsAre("a", "b"));
  EXPECT_EQ(Describe(evaluation.spec), "own.py:Own:limit=2");
}

TEST(EvaluationTest, AConfigurationNamesTheFileOfARule) {
  const std::vector<RuleEvaluation> all = ParseRuleConfigurations(
      R"([{"RuleConfigurationName": "mine",
           "RuleParameters": {"rule_to_invoke": "Own", "limit": "2",
                              "source_s3_uri": "rules/own.py"}}])",
      "f.json");
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].name, "mine");
  EXPECT_EQ(Describe(all[0].spec), "rules/own.py:Own:limit=2");
}

TEST(EvaluationTest, AStartStepOfTheRuleItselfIsLeftToIt) {
  const RuleEvaluation evaluation =
      ToEvaluation(ParseRuleSpec("Overfit:start_step=5:end_step=9"));
  EXPECT_EQ(evaluation.start_step, std::nullopt);
  EXPECT_EQ(evaluation.end_step, 9);
  EXPECT_THAT(evaluation.spec.parameters,
              ElementsAre(Pair("start_step", ElementsAre("5"))));
}

TEST(EvaluationTest, BadStepsAndUnknownRulesAreRefused) {
  EXPECT_THROW(ToEvaluation(ParseRuleSpec("VanishingGradient:start_step=-1")),
               ConfigError);
  EXPECT_THROW(ToEvaluation(ParseRuleSpec("VanishingGradient:end_step=x")),
               ConfigError);
  try {
    ToEvaluation(ParseRuleSpec("Vanishing"));
    FAIL();
  } catch (const ConfigError& error) {
    EXPECT_EQ(error.value(), "Vanishing");
    EXPECT_THAT(error.allowed(), HasSubstr("VanishingGradient"));
  }
}

TEST(EvaluationTest, ReadsDebugRuleConfigurations) {
  const std::string text = R"({"DebugRuleConfigurations": [
    {"RuleConfigurationName": "small", "RuleEvaluatorImage": "none",
     "RuleParameters": {"rule_to_invoke": "VanishingGradient",
                        "threshold": "0.1", "start_step": "3"}},
    {"DebugRuleConfiguration":
       {"RuleConfigurationName": "AllZero",
        "RuleParameters": {"rule_to_invoke": "AllZero",
                           "collection_names": "a,b"}},
     "CollectionConfigurations": []},
    {"RuleConfigurationName": "ExplodingTensor"}]})";
  const std::vector<RuleEvaluation> all =
      ParseRuleConfigurations(text, "f.json");
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].name, "small");
  EXPECT_EQ(all[0].spec.name, "VanishingGradient");
  EXPECT_EQ(all[0].start_step, 3);
  EXPECT_TRUE(all[1].spec.commas_separate);
  EXPECT_EQ(all[2].spec.name, "ExplodingTensor");
}

TEST(EvaluationTest, WhatIsNotOfThatFormIsRefusedWithTheFile) {
  for (const char* text :
       {"", "{", "{}", "[1]", R"([{"RuleConfigurationName": 1}])",
        R"([{"RuleConfigurationName": "AllZero", "RuleParameters": []}])",
        R"([{"RuleConfigurationName": "AllZero"},
            {"RuleConfigurationName": "AllZero"}])"}) {
    try {
      ParseRuleConfigurations(text, "f.json");
      FAIL() << text;
    } catch (const ConfigFileError& error) {
      EXPECT_EQ(error.path(), "f.json");
    }
  }
}

TEST(EvaluationTest, TheSameMeaningHasTheSameText) {
  EXPECT_EQ(Describe(ParseRuleSpec("A:b=1,2:a=3")), "A:a=3:b=1,2");
  EXPECT_EQ(Describe(ParseRuleSpec(R"(A{"b": ["1", "2"], "a": "3"})")),
            R"(A{"a":"3","b":["1","2"]})");
  EXPECT_EQ(Describe(ParseRuleSpec("A")), "A");
}

TEST(EvaluationTest, NamesThatComeTwiceGetANumber) {
  std::vector<RuleEvaluation> all(3, RuleEvaluation{.name = "A"});
  all[1].name = "B";
  MakeNamesUnique(all);
  EXPECT_EQ(all[0].name, "A");
  EXPECT_EQ(all[1].name, "B");
  EXPECT_EQ(all[2].name, "A-2");
}

}  // namespace
}  // namespace smdebug::rules
