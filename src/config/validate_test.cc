#include <functional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "smdebug/config.h"
#include "smdebug/error.h"

namespace smdebug {
namespace {

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
  config.framework = Framework::kPyTorch;
  EXPECT_THROW(Validate(config), InvalidCollectionConfiguration);
}

}  // namespace
}  // namespace smdebug
