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
using ::testing::SizeIs;

std::vector<Collection> For(std::string_view rule,
                            Framework framework = Framework::kPyTorch) {
  return CollectionsFor(ParseRuleSpec(rule), framework);
}

TEST(RuleNeedsTest, ABuiltInCollectionIsThatOfTheFrameworkAtTheStatedInterval) {
  const auto needs = For("VanishingGradient");
  ASSERT_THAT(needs, SizeIs(1));
  EXPECT_EQ(needs[0].name, "gradients");
  EXPECT_THAT(needs[0].include_regex, ElementsAre("^gradient"));
  for (const Mode mode : kModes) {
    EXPECT_EQ((*needs[0].save_config)[mode]->save_interval, 500);
  }
  EXPECT_EQ(needs[0].reduction_config,
            (ReductionConfig{.save_raw_tensor = true}));
}

TEST(RuleNeedsTest, WhereNoIntervalIsStatedTheHookHasOne) {
  const auto needs = For("TreeDepth", Framework::kXgboost);
  ASSERT_THAT(needs, SizeIs(1));
  EXPECT_EQ(needs[0].name, "trees");
  EXPECT_THAT(needs[0].include_regex, ElementsAre("^trees/.*"));
  EXPECT_EQ(needs[0].save_config, std::nullopt);
}

TEST(RuleNeedsTest, NamesAreThoseThatTheRuleLooksAt) {
  EXPECT_THAT(For("DeadRelu")[0].include_regex,
              ElementsAre(HasSubstr("re_?lu_?[0-9]*(?:_output|")));
  EXPECT_THAT(For("DeadRelu:tensor_regex=^act,^gate")[0].include_regex,
              ElementsAre("^act|^gate"));
  const auto labels = For("ClassImbalance");
  ASSERT_THAT(labels, SizeIs(2));
  EXPECT_THAT(labels[0].include_regex,
              ElementsAre(".*labels|(?:CrossEntropy|NLL)Loss_input_1$"));
  EXPECT_THAT(For("ClassImbalance:labels_regex=^y$")[0].include_regex,
              ElementsAre("^y$"));
}

TEST(RuleNeedsTest, WhatOnlyOtherFrameworksFillIsLeftOut) {
  EXPECT_THAT(For("VanishingGradient", Framework::kXgboost), IsEmpty());
  EXPECT_THAT(For("ExplodingTensor"), IsEmpty());
}

TEST(RuleNeedsTest, ARuleThatIsRefusedIsRefused) {
  EXPECT_THROW(For("VanishingGradients"), ConfigError);
  EXPECT_THROW(For("VanishingGradient:threshold=x"), ConfigError);
}

// All of them can be saved by hooks of every framework.
TEST(RuleNeedsTest, EveryRuleNeedsWhatAHookCanSave) {
  for (const Framework framework :
       {Framework::kNative, Framework::kPyTorch, Framework::kXgboost}) {
    for (const RuleType& type : BuiltInRules()) {
      HookConfig config;
      config.framework = framework;
      try {
        config.collections = CollectionsFor({.name = type.name}, framework);
      } catch (const InsufficientInformation&) {
        continue;
      }
      for (const Collection& collection : config.collections) {
        config.include_collections.push_back(collection.name);
      }
      EXPECT_NO_THROW(Validate(config)) << type.name;
    }
  }
}

}  // namespace
}  // namespace smdebug
