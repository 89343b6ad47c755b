#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "smdebug/config.h"
#include "smdebug/error.h"
#include "tests/testing/environment.h"

namespace smdebug {
namespace {

using ::testing::HasSubstr;

struct Refusal {
  std::string json;
  std::string key;
  std::string value;
  std::string allowed;  // A part of it.
};

class HookJsonRefusalTest : public ::testing::Test {
 protected:
  static void ExpectRefused(const Refusal& c) {
    SCOPED_TRACE(c.json);
    try {
      ParseHookConfig(c.json, Framework::kPyTorch, "hook.json");
      FAIL() << "accepted";
    } catch (const ConfigError& error) {
      EXPECT_EQ(error.key(), c.key);
      EXPECT_EQ(error.value(), c.value);
      EXPECT_THAT(error.allowed(), HasSubstr(c.allowed));
    }
  }

  smdebug::testing::ScopedEnvironment job_{"TRAINING_JOB_NAME", std::nullopt};
};

TEST_F(HookJsonRefusalTest, NamesAWrongTypeByItsPlace) {
  for (const Refusal& c : std::vector<Refusal>{
           {"[]", "hook.json", "[]", "an object"},
           {"3", "hook.json", "3", "an object"},
           {R"({"LocalPath": 3})", "LocalPath", "3", "a path"},
           {R"({"LocalPath": ""})", "LocalPath", "", "a path"},
           {R"({"HookParameters": []})", "HookParameters", "[]", "an object"},
           {R"({"HookParameters": "x"})", "HookParameters", "x", "an object"},
           {R"({"CollectionConfigurations": {}})", "CollectionConfigurations",
            "{}", "an array"},
           {R"({"CollectionConfigurations": ["weights"]})",
            "CollectionConfigurations[0]", "weights", "CollectionName"},
           {R"({"CollectionConfigurations": [{"CollectionName": "a"}, {}]})",
            "CollectionConfigurations[1]: CollectionName", "null", "a name"},
           {R"({"CollectionConfigurations": [{"CollectionName": ""}]})",
            "CollectionConfigurations[0]: CollectionName", "", "a name"},
           {R"({"CollectionConfigurations": [{"CollectionName": 7}]})",
            "CollectionConfigurations[0]: CollectionName", "7", "a name"},
           {R"({"CollectionConfigurations": [
                 {"CollectionName": "a", "CollectionParameters": [1]}]})",
            "CollectionConfigurations[0] (a)", "[1]", "an object"},
           {R"({"CollectionConfigurations": [
                 {"CollectionName": "a", "CollectionParams": {}}]})",
            "CollectionConfigurations[0]: CollectionParams", "{}",
            "CollectionParameters"},
       }) {
    ExpectRefused(c);
  }
}

TEST_F(HookJsonRefusalTest, RefusesAMisspeltSection) {
  ExpectRefused(
      {R"({"HookParameter": {}})", "HookParameter", "{}", "HookParameters"});
  ExpectRefused({R"({"localpath": "/x"})", "localpath", "/x", "LocalPath"});
}

// Each row: a hook parameter and what is wrong with it.
TEST_F(HookJsonRefusalTest, RefusesHookParameters) {
  struct Case {
    std::string name;
    std::string value;  // JSON.
    std::string shown;
    std::string allowed;
  };
  for (const Case& c : std::vector<Case>{
           {"save_intervall", "5", "5", "did you mean 'save_interval'?"},
           {"train.save_step", "\"5\"", "5",
            "did you mean 'train.save_steps'?"},
           {"Save_All", "true", "true", "did you mean 'save_all'?"},
           {"zebra", "1", "1",
            "save_interval, save_steps, start_step, end_step (each also after "
            "train., eval., predict. or global.), dry_run, export_tensorboard, "
            "include_collections, include_regex, include_workers, reductions, "
            "save_all, save_raw_tensor, save_shape, tensorboard_dir"},
           {"zebra", "null", "null", "one of the parameters"},
           {"save_histogram", "true", "true", "one of the parameters"},
           {"test.save_interval", "1", "1", "one of the parameters"},
           {"train.reductions", "\"min\"", "min", "one of the parameters"},
           {"save_interval", "0", "0", "at least 1"},
           {"save_interval", "\"-5\"", "-5", "at least 1"},
           {"save_interval", "\"abc\"", "abc", "a whole number"},
           {"save_interval", "\"2.5\"", "2.5", "a whole number"},
           {"save_interval", "2.5", "2.5", "a whole number"},
           {"save_interval", "true", "true", "a whole number"},
           {"save_interval", "[5]", "[5]", "a whole number"},
           {"eval.save_interval", "0", "0", "at least 1"},
           {"start_step", "-1", "-1", "at least 0"},
           {"start_step", "\"\"", "", "at least 0"},
           {"end_step", "-1", "-1", "at least 0"},
           {"predict.end_step", "\"never\"", "never", "at least 0"},
           {"save_steps", "\"1,x\"", "1,x", "steps of at least 0"},
           {"save_steps", "\"1;2\"", "1;2", "steps of at least 0"},
           {"save_steps", "[1, -2]", "-2", "steps of at least 0"},
           {"global.save_steps", "{}", "{}", "steps of at least 0"},
           {"reductions", "\"min,mode\"", "mode", "median"},
           {"reductions", "7", "7", "names"},
           {"include_regex", "\"a,(b\"", "(b", "a regular expression"},
           {"include_regex", "[\"*\"]", "*", "a regular expression"},
           {"include_regex", "5", "5", "regular expressions"},
           {"save_all", "\"yes\"", "yes", "true or false"},
           {"save_all", "2", "2", "true or false"},
           {"save_raw_tensor", "\"maybe\"", "maybe", "true or false"},
           {"save_raw_tensor", "\"false\"", "false", "nothing would be saved"},
           {"save_shape", "[]", "[]", "true or false"},
           {"dry_run", "\"\"", "", "true or false"},
           {"export_tensorboard", "\"on\"", "on", "true or false"},
           {"tensorboard_dir", "3", "3", "a path"},
           {"include_workers", "\"some\"", "some", "one or all"},
           {"include_workers", "2", "2", "one or all"},
           {"include_collections", "{}", "{}", "names"},
       }) {
    ExpectRefused(
        {R"({"HookParameters": {")" + c.name + "\": " + c.value + "}}",
         "HookParameters: " + c.name, c.shown, c.allowed});
  }
}

TEST_F(HookJsonRefusalTest, RefusesCollectionParameters) {
  struct Case {
    std::string name;
    std::string value;  // JSON.
    std::string shown;
    std::string allowed;
  };
  for (const Case& c : std::vector<Case>{
           {"include_regexp", "\"a\"", "a", "did you mean 'include_regex'?"},
           {"save_all", "true", "true",
            "include_regex, reductions, save_histogram, save_raw_tensor, "
            "save_shape, tensor_names"},
           {"save_interval", "\"0\"", "0", "at least 1"},
           {"train.start_step", "\"x\"", "x", "at least 0"},
           {"reductions", "\"l3\"", "l3", "l2"},
           {"save_histogram", "\"si\"", "si", "true or false"},
           {"save_raw_tensor", "false", "false", "nothing would be saved"},
           {"tensor_names", "[1]", "1", "names"},
       }) {
    ExpectRefused({R"({"CollectionConfigurations": [{"CollectionName": "a"},
                       {"CollectionName": "weights",
                        "CollectionParameters": {")" +
                       c.name + "\": " + c.value + "}}]}",
                   "CollectionConfigurations[1] (weights): " + c.name, c.shown,
                   c.allowed});
  }
}

TEST_F(HookJsonRefusalTest, RefusesAStartAfterTheEnd) {
  for (const Refusal& c : std::vector<Refusal>{
           {R"({"HookParameters": {"start_step": 9, "end_step": 8}})",
            "HookParameters: start_step", "9", "which is 8"},
           {R"({"HookParameters": {"start_step": 9, "eval.end_step": "8"}})",
            "HookParameters: start_step", "9", "which is 8"},
           {R"({"HookParameters": {"predict.start_step": 9, "end_step": 8}})",
            "HookParameters: predict.start_step", "9", "which is 8"},
           {R"({"HookParameters": {"start_step": 100},
                "CollectionConfigurations": [{"CollectionName": "c",
                  "CollectionParameters": {"end_step": 50}}]})",
            "CollectionConfigurations[0] (c): end_step", "50",
            "which is 100, or 0"},
           {R"({"HookParameters": {"train.end_step": 50},
                "CollectionConfigurations": [{"CollectionName": "c",
                  "CollectionParameters": {"train.start_step": 60}}]})",
            "CollectionConfigurations[0] (c): train.start_step", "60",
            "which is 50"},
       }) {
    ExpectRefused(c);
  }
}

TEST_F(HookJsonRefusalTest, RefusesAKeyGivenTwice) {
  ExpectRefused({R"({"HookParameters": {"save_all": 1, "save_all": 0}})",
                 "HookParameters: save_all", "a second value",
                 "each key once"});
}

}  // namespace
}  // namespace smdebug
