#include <functional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "smdebug/config.h"
#include "smdebug/error.h"
#include "smdebug/internal/unusable_collections.h"

namespace smdebug {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(ValidateTest, AcceptsTheDefaultsOfEveryFramework) {
  for (const Framework framework :
       {Framework::kNative, Framework::kPyTorch, Framework::kTensorFlow,
        Framework::kMxnet, Framework::kXgboost}) {
    HookConfig config;
    config.framework = framework;
    config.include_collections = {"all"};
    for (const auto& [name, collection] : BuiltInCollections(framework)) {
      config.collections.push_back(collection);
    }
    EXPECT_NO_THROW(Validate(config));
  }
}

TEST(ValidateTest, NamesWhatIsNotAllowed) {
  struct Case {
    std::function<void(HookConfig&)> change;
    std::string key;
    std::string value;
    std::string allowed;
  };
  for (const Case& c : std::vector<Case>{
           {[](HookConfig& config) {
              config.include_regex = {"a", "("};
            },
            "include_regex", "(", "a regular expression"},
           {[](HookConfig& config) {
              config.save_config = SaveConfig::Every({.save_interval = 0});
            },
            "train.save_interval", "0", "at least 1"},
           {[](HookConfig& config) { EditCollection(config, ""); },
            "collection: name", "", "a name"},
           {[](HookConfig& config) {
              EditCollection(config, "relu").include_regex = {"*"};
            },
            "collection relu: include_regex", "*", "a regular expression"},
           {[](HookConfig& config) {
              SaveConfig schedule;
              schedule[Mode::kGlobal] =
                  SaveConfigMode{.start_step = 3, .end_step = 2};
              EditCollection(config, "weights").save_config = schedule;
            },
            "collection weights: global.start_step", "3", "which is 2"},
           {[](HookConfig& config) {
              config.collections = {{.name = "a", .include_regex = {"x"}},
                                    {.name = "a", .include_regex = {"y"}}};
            },
            "collections", "a", "only once"},
           {[](HookConfig& config) {
              config.include_collections = {"losses", "relu"};
            },
            "include_collections", "relu",
            "all, biases, default, gradients, losses, weights"},
       }) {
    SCOPED_TRACE(c.key);
    HookConfig config;
    c.change(config);
    try {
      Validate(config);
      FAIL() << "accepted";
    } catch (const ConfigError& error) {
      EXPECT_EQ(error.key(), c.key);
      EXPECT_EQ(error.value(), c.value);
      EXPECT_THAT(error.allowed(), HasSubstr(c.allowed));
    }
  }
}

TEST(ValidateTest, RefusesASavedCollectionThatCouldNeverMatch) {
  HookConfig config;
  EditCollection(config, "relu");
  EXPECT_NO_THROW(Validate(config)) << "It is not saved.";
  config.include_collections = {"relu"};
  try {
    Validate(config);
    FAIL() << "accepted";
  } catch (const InvalidCollectionConfiguration& error) {
    EXPECT_EQ(error.collection(), "relu");
  }
  config.include_collections = {};
  config.save_all = true;
  EXPECT_THROW(Validate(config), InvalidCollectionConfiguration);
  EditCollection(config, "relu").tensor_names = {"relu_0"};
  EXPECT_NO_THROW(Validate(config));
}

TEST(ValidateTest, LeavesCollectionsThatTheFrameworkFillsEmpty) {
  HookConfig config;
  config.framework = Framework::kTensorFlow;
  config.include_collections = {"layers"};
  EditCollection(config, "layers");
  EXPECT_NO_THROW(Validate(config));
}

TEST(ValidateTest, TakesCollectionsThatOtherFrameworksFill) {
  HookConfig config;
  config.framework = Framework::kXgboost;
  config.include_collections = {"weights", "layers"};
  EditCollection(config, "layers");
  EXPECT_NO_THROW(Validate(config));
  config.include_collections.emplace_back("weigths");
  EXPECT_THROW(Validate(config), ConfigError);
}

TEST(ValidateTest, AMisspeltCollectionIsAnsweredWithWhatMayBeMeant) {
  HookConfig config;
  EditCollection(config, "gradeints");
  config.include_collections = {"gradeints"};
  try {
    Validate(config);
    FAIL() << "accepted";
  } catch (const InvalidCollectionConfiguration& error) {
    EXPECT_EQ(error.hint(), "did you mean 'gradients'?");
    EXPECT_THAT(error.what(), HasSubstr(error.hint()));
  }
}

std::string ReasonFor(const HookConfig& config) {
  try {
    Validate(config);
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

TEST(UnusableCollectionsTest, SaysWhatValidateSays) {
  HookConfig unknown;
  unknown.include_collections = {"losses", "weigths"};
  HookConfig empty;
  EditCollection(empty, "relu");
  empty.include_collections = {"relu"};
  HookConfig broken;
  EditCollection(broken, "relu").include_regex = {"["};
  for (const auto& [config, name] :
       {std::pair(unknown, "weigths"), {empty, "relu"}, {broken, "relu"}}) {
    SCOPED_TRACE(ReasonFor(config));
    const auto unusable = config::UnusableCollections(config);
    ASSERT_EQ(unusable.size(), 1u);
    EXPECT_EQ(unusable[0].name, name);
    EXPECT_EQ(unusable[0].reason, ReasonFor(config));
  }
}

TEST(UnusableCollectionsTest, OfThoseThatAreNotSavedAMisspellingMatters) {
  HookConfig config;
  EditCollection(config, "gradeints");
  EditCollection(config, "tables");
  const auto unusable = config::UnusableCollections(config);
  ASSERT_EQ(unusable.size(), 2u);
  EXPECT_TRUE(unusable[0].matters);
  EXPECT_FALSE(unusable[1].matters);
}

TEST(UnusableCollectionsTest, AreLeftOutOnceTheyCannotBeCompleted) {
  HookConfig config;
  EditCollection(config, "empty");
  EditCollection(config, "mine").include_regex = {"x"};
  config.include_collections = {"losses", "empty", "mine", "unknown"};
  HookConfig complete = config;
  config::LeaveOutUnusable(/*can_be_completed=*/true, config);
  EXPECT_THAT(config.include_collections,
              ElementsAre("losses", "empty", "mine"));
  EXPECT_EQ(config.collections.size(), 2u);
  config::LeaveOutUnusable(/*can_be_completed=*/false, complete);
  EXPECT_THAT(complete.include_collections, ElementsAre("losses", "mine"));
  ASSERT_EQ(complete.collections.size(), 1u);
  EXPECT_EQ(complete.collections[0].name, "mine");
  EXPECT_NO_THROW(Validate(complete));
}

}  // namespace
}  // namespace smdebug
