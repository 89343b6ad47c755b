#include "smdebug/internal/class_patterns.h"

#include <array>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "smdebug/error.h"
#include "src/base/regex.h"

namespace smdebug::config {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

const std::vector<NamedModule> kModules = {
    {"Net", "Net"},        {"0", "Linear"},  {"1", "ReLU"},
    {"part.1", "ReLU"},    {"10", "Linear"}, {"act", "Tanh"},
    {"loss", "CrossLoss"},
};
const std::vector<std::string> kTensorNames = {"Net_0.weight",
                                               "gradient/Net_0.weight"};

// Which of these names `pattern` takes.
std::vector<std::string> TakenBy(const std::string& pattern) {
  std::vector<std::string> taken;
  if (pattern.empty()) return taken;
  const base::Regex regex(pattern, "test");
  for (const char* name :
       {"0_output_0", "1_input_0", "1_output_0", "1_output_12", "11_output_0",
        "part.1_output_0", "partx1_output_0", "act_input_0", "act_output_0",
        "x1_output_0", "1_output_0x"}) {
    if (regex.Search(name)) taken.emplace_back(name);
  }
  return taken;
}

std::vector<std::string> TakenByClass(std::string_view regex) {
  return TakenBy(WithClasses(regex, kModules, kTensorNames));
}

TEST(WithClassesTest, ARegexThatMatchesNoNameMayMatchClasses) {
  EXPECT_THAT(
      TakenByClass("ReLU"),
      ElementsAre("1_input_0", "1_output_0", "1_output_12", "part.1_output_0"));
  EXPECT_THAT(TakenByClass("^ReLU_output|Tanh_input"),
              ElementsAre("1_output_0", "1_output_12", "part.1_output_0",
                          "act_input_0"));
  EXPECT_THAT(TakenByClass("relu"), IsEmpty()) << "Case counts.";
  EXPECT_THAT(TakenByClass("Conv"), IsEmpty());
}

TEST(WithClassesTest, ARegexThatMatchesANameMeansNames) {
  for (const char* regex : {"ReLU|weight", "Tanh|act_output_3", ".*"}) {
    EXPECT_EQ(WithClasses(regex, kModules, kTensorNames), regex);
  }
}

TEST(WithClassesTest, ARegexThatDoesNotCompileIsRefused) {
  EXPECT_THROW(WithClasses("[", kModules, kTensorNames), ConfigError);
}

TEST(ModulePatternTest, TakesWhatIsOfTheModuleAlone) {
  const std::vector<std::string> one = {"1"};
  EXPECT_THAT(TakenBy(ModulePattern(one, false, true)),
              ElementsAre("1_output_0", "1_output_12"));
  EXPECT_THAT(TakenBy(ModulePattern(one, true, false)),
              ElementsAre("1_input_0"));
  EXPECT_THAT(TakenBy(ModulePattern(one, true, true)),
              ElementsAre("1_input_0", "1_output_0", "1_output_12"));
  EXPECT_EQ(ModulePattern(one, false, false), "");
  const std::vector<std::string> dotted = {"part.1"};
  EXPECT_THAT(TakenBy(ModulePattern(dotted, true, true)),
              ElementsAre("part.1_output_0"));
}

TEST(ClassPatternsTest, WhatAHookIncludesMayMeanClasses) {
  HookConfig config{.include_regex = {"Tanh"},
                    .framework = Framework::kPyTorch};
  EditCollection(config, "mine").include_regex = {"ReLU_output", "("};
  TakeClasses(kModules, kTensorNames, config);
  EXPECT_THAT(TakenBy(config.include_regex.front()),
              ElementsAre("act_input_0", "act_output_0"));
  const auto& mine = config.collections.front().include_regex;
  EXPECT_THAT(TakenBy(mine.front()),
              ElementsAre("1_output_0", "1_output_12", "part.1_output_0"));
  EXPECT_EQ(mine.back(), "(");
}

TEST(ClassPatternsTest, PatternsOfBuiltInCollectionsMeanNames) {
  HookConfig config{.framework = Framework::kPyTorch};
  auto& losses = EditCollection(config, "losses");
  const std::string built_in = losses.include_regex.front();
  losses.include_regex.emplace_back("Tanh");
  const NamedModule loss{"criterion", "Loss_"};
  TakeClasses(std::array{loss, kModules[5]}, {}, config);
  EXPECT_EQ(losses.include_regex.front(), built_in);
  EXPECT_NE(losses.include_regex.back(), "Tanh");
}

}  // namespace
}  // namespace smdebug::config
