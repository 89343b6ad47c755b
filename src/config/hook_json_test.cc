#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "smdebug/config.h"
#include "smdebug/error.h"
#include "src/config/temp_file_for_test.h"
#include "tests/testing/environment.h"

namespace smdebug {
namespace {

using ::testing::ElementsAre;

constexpr Reduction kMin{ReductionOp::kMin, false};
constexpr Reduction kMean{ReductionOp::kMean, false};
constexpr Reduction kAbsL2{ReductionOp::kL2, true};

// Outside SageMaker, whatever the test runs in.
class HookJsonTest : public ::testing::Test {
 protected:
  static HookConfig Parse(const std::string& json,
                          Framework framework = Framework::kPyTorch) {
    return ParseHookConfig(json, framework, "hook.json");
  }
  static HookConfig ParseHook(const std::string& parameters,
                              Framework framework = Framework::kPyTorch) {
    return Parse(R"({"HookParameters": {)" + parameters + "}}", framework);
  }
  // `entries` are those of CollectionConfigurations.
  static HookConfig ParseCollections(const std::string& entries) {
    return Parse(R"({"CollectionConfigurations": [)" + entries + "]}");
  }
  // One collection "c" with a regex and these parameters.
  static Collection ParseCollection(const std::string& parameters) {
    const HookConfig config = ParseCollections(
        R"({"CollectionName": "c", "CollectionParameters": {)" + parameters +
        "}}");
    EXPECT_EQ(config.collections.size(), 1u);
    return config.collections.at(0);
  }

  smdebug::testing::ScopedEnvironment job_{"TRAINING_JOB_NAME", std::nullopt};
};

TEST_F(HookJsonTest, EmptyObjectGivesTheDefaults) {
  HookConfig expected;
  expected.out_dir = "/opt/ml/output/tensors";
  expected.framework = Framework::kPyTorch;
  EXPECT_EQ(Parse("{}"), expected);
  EXPECT_EQ(Parse(R"({"LocalPath": null, "HookParameters": null,
                      "CollectionConfigurations": null})"),
            expected);
  EXPECT_EQ(Parse(R"({"HookParameters": {}, "CollectionConfigurations": []})"),
            expected);
}

TEST_F(HookJsonTest, LeavesThePlatformsKeysAlone) {
  EXPECT_EQ(Parse(R"({"S3OutputPath": "s3://b", "S3Path": 3,
                      "DebugHookSpecification": {"a": []}, "NewIn2027": 1})"),
            Parse("{}"));
}

TEST_F(HookJsonTest, ReadsEveryHookParameterAsTextAndAsItsOwnType) {
  HookConfig expected = Parse(R"({"LocalPath": "/run"})");
  expected.dry_run = true;
  expected.save_all = true;
  expected.include_workers = IncludeWorkers::kAll;
  expected.include_regex = {"relu", "a{1,2}"};
  expected.reduction_config = ReductionConfig{{kMin, kAbsL2}, true, true};
  expected.export_tensorboard = true;
  expected.tensorboard_dir = "/tb";
  expected.include_collections = {"weights", "biases"};
  expected.save_config = SaveConfig::Every({.save_interval = 10,
                                            .start_step = 5,
                                            .end_step = 100,
                                            .save_steps = {1, 2}});
  EXPECT_EQ(Parse(R"({"LocalPath": "/run", "HookParameters": {
      "dry_run": "True", "save_all": "true", "include_workers": "all",
      "include_regex": "relu, a{1,2}", "reductions": "min,abs_l2_norm",
      "save_raw_tensor": "True", "save_shape": "True",
      "export_tensorboard": "true", "tensorboard_dir": "/tb",
      "include_collections": "weights,biases", "save_interval": "10",
      "start_step": "5", "end_step": "100", "save_steps": "1, 2"}})"),
            expected);
  EXPECT_EQ(Parse(R"({"LocalPath": "/run", "HookParameters": {
      "dry_run": true, "save_all": 1, "include_workers": "all",
      "include_regex": ["relu", "a{1,2}"], "reductions": ["min", "abs_l2"],
      "save_raw_tensor": true, "save_shape": true,
      "export_tensorboard": true, "tensorboard_dir": "/tb",
      "include_collections": ["weights", "biases"], "save_interval": 10,
      "start_step": 5, "end_step": 100, "save_steps": [1, 2]}})"),
            expected);
}

TEST_F(HookJsonTest, ReadsEveryScheduleKeyInEveryMode) {
  const std::vector<std::string> prefixes = {"train.", "eval.", "predict.",
                                             "global."};
  for (const Mode mode : kModes) {
    const std::string& prefix = prefixes[ModeIndex(mode)];
    const HookConfig config =
        ParseHook(fmt::format(R"("{0}save_interval": "3", "{0}start_step": "6",
                                 "{0}end_step": 9, "{0}save_steps": "1")",
                              prefix));
    SaveConfig expected = SaveConfig::Every({});
    expected[mode] = {
        .save_interval = 3, .start_step = 6, .end_step = 9, .save_steps = {1}};
    EXPECT_EQ(config.save_config, expected) << prefix;
  }
}

TEST_F(HookJsonTest, ReadsEveryCollectionParameterAsTextAndAsItsOwnType) {
  Collection expected{.name = "c",
                      .include_regex = {"relu", "(a,b)"},
                      .tensor_names = {"x", "y"}};
  expected.reduction_config = ReductionConfig{{kMean}, true, true};
  expected.save_histogram = false;
  expected.save_config = SaveConfig::Every({.save_interval = 20});
  (*expected.save_config)[Mode::kEval]->save_interval = 2;
  EXPECT_EQ(ParseCollection(R"json("include_regex": "relu,(a,b)",
      "tensor_names": "x, y", "reductions": "mean", "save_raw_tensor": "true",
      "save_shape": "1", "save_histogram": "False", "save_interval": "20",
      "eval.save_interval": "2")json"),
            expected);
  EXPECT_EQ(ParseCollection(R"json("include_regex": ["relu", "(a,b)"],
      "tensor_names": ["x", "y"], "reductions": ["mean"],
      "save_raw_tensor": true, "save_shape": 1, "save_histogram": false,
      "save_interval": 20, "eval.save_interval": 2)json"),
            expected);
}

TEST_F(HookJsonTest, NamedCollectionsAreIncludedInOrder) {
  const HookConfig config = ParseCollections(
      R"({"CollectionName": "weights"},
         {"CollectionName": "relu", "CollectionParameters": null},
         {"CollectionName": "gradients", "CollectionParameters": {}})");
  EXPECT_THAT(config.include_collections,
              ElementsAre("weights", "relu", "gradients"));
  ASSERT_EQ(config.collections.size(), 3u);
  EXPECT_THAT(config.collections[0].include_regex,
              ElementsAre("^(?!gradient).*weight"));
  EXPECT_EQ(config.collections[0].save_config, std::nullopt);
  EXPECT_EQ(config.collections[1], Collection{.name = "relu"});
}

TEST_F(HookJsonTest, RegexOfABuiltInIsAppended) {
  const HookConfig config = ParseCollections(
      R"({"CollectionName": "gradients",
          "CollectionParameters": {"include_regex": "dx,^gradient"}})");
  EXPECT_THAT(config.collections.at(0).include_regex,
              ElementsAre("^gradient", "dx"));
}

TEST_F(HookJsonTest, LaterLayersWinPerModeAndPerKey) {
  const HookConfig config = Parse(R"({
      "HookParameters": {"save_interval": 100, "start_step": 7,
                         "train.save_interval": 50, "eval.end_step": 90},
      "CollectionConfigurations": [
        {"CollectionName": "plain"},
        {"CollectionName": "bare",
         "CollectionParameters": {"save_interval": 20}},
        {"CollectionName": "by_mode",
         "CollectionParameters": {"save_interval": 20,
                                  "eval.save_interval": 2}}]})");
  const SaveConfig& hook = *config.save_config;
  EXPECT_EQ(hook[Mode::kTrain], (SaveConfigMode{50, 7, {}, {}}));
  EXPECT_EQ(hook[Mode::kEval], (SaveConfigMode{100, 7, 90, {}}));
  EXPECT_EQ(hook[Mode::kGlobal], (SaveConfigMode{100, 7, {}, {}}));
  EXPECT_EQ(config.collections[0].save_config, std::nullopt);
  const SaveConfig& bare = *config.collections[1].save_config;
  EXPECT_EQ(bare[Mode::kTrain], (SaveConfigMode{20, 7, {}, {}}));
  EXPECT_EQ(bare[Mode::kEval], (SaveConfigMode{20, 7, 90, {}}));
  const SaveConfig& by_mode = *config.collections[2].save_config;
  EXPECT_EQ(by_mode[Mode::kPredict], (SaveConfigMode{20, 7, {}, {}}));
  EXPECT_EQ(by_mode[Mode::kEval], (SaveConfigMode{2, 7, 90, {}}));
}

TEST_F(HookJsonTest, XgboostDefaultsToTenEverywhere) {
  const HookConfig config = Parse(R"({
      "HookParameters": {"start_step": 3},
      "CollectionConfigurations": [
        {"CollectionName": "trees", "CollectionParameters": {"end_step": 9}}]})",
                                  Framework::kXgboost);
  for (const Mode mode : kModes) {
    EXPECT_EQ((*config.save_config)[mode], (SaveConfigMode{10, 3, {}, {}}));
    EXPECT_EQ((*config.collections.at(0).save_config)[mode],
              (SaveConfigMode{10, 3, 9, {}}));
  }
}

TEST_F(HookJsonTest, FormFollowsReductionsThenTheFlags) {
  struct Case {
    std::string hook;
    std::string collection;
    std::optional<ReductionConfig> of_hook;
    std::optional<ReductionConfig> of_collection;
  };
  const ReductionConfig raw{{}, true, false};
  for (const Case& c : std::vector<Case>{
           {"", "", {}, {}},
           {R"("reductions": "min")",
            "",
            ReductionConfig{{kMin}, false, false},
            {}},
           {R"("save_raw_tensor": true)", "", raw, {}},
           {R"("save_shape": "True")", "", ReductionConfig{{}, true, true}, {}},
           {R"("save_shape": true, "save_raw_tensor": "False")",
            "",
            ReductionConfig{{}, false, true},
            {}},
           {R"("reductions": "")", "", raw, {}},
           {R"("reductions": "min", "save_raw_tensor": true)",
            R"("reductions": "mean")", ReductionConfig{{kMin}, true, false},
            ReductionConfig{{kMean}, false, false}},
           {R"("reductions": "min")", R"("save_raw_tensor": true)",
            ReductionConfig{{kMin}, false, false},
            ReductionConfig{{kMin}, true, false}},
           {R"("reductions": "min")", R"("reductions": [])",
            ReductionConfig{{kMin}, false, false}, raw},
           {"", R"("save_shape": true)", {}, ReductionConfig{{}, true, true}},
       }) {
    SCOPED_TRACE(c.hook + " / " + c.collection);
    const HookConfig config =
        Parse(R"({"HookParameters": {)" + c.hook +
              R"(}, "CollectionConfigurations": [{"CollectionName": "c",
           "CollectionParameters": {)" +
              c.collection + "}}]}");
    EXPECT_EQ(config.reduction_config, c.of_hook);
    EXPECT_EQ(config.collections.at(0).reduction_config, c.of_collection);
  }
}

TEST_F(HookJsonTest, HistogramsAloneAreAFormWhereTensorboardIsOn) {
  EXPECT_NO_THROW(
      ParseHook(R"("save_raw_tensor": false, "export_tensorboard": true)"));
}

TEST_F(HookJsonTest, EndStepZeroDisablesACollectionWhateverItsStart) {
  const HookConfig config = Parse(R"({
      "HookParameters": {"start_step": 100},
      "CollectionConfigurations": [{"CollectionName": "losses",
          "CollectionParameters": {"end_step": 0}}]})");
  EXPECT_FALSE(
      (*config.collections.at(0).save_config)[Mode::kTrain]->ShouldSave(500));
}

TEST_F(HookJsonTest, RepeatedCollectionsMergeIfTheyAgree) {
  const HookConfig config = ParseCollections(
      R"({"CollectionName": "c", "CollectionParameters":
            {"save_interval": "10", "include_regex": "a"}},
         {"CollectionName": "weights"},
         {"CollectionName": "c", "CollectionParameters":
            {"save_interval": 10, "include_regex": "b", "end_step": 50}})");
  EXPECT_THAT(config.include_collections, ElementsAre("c", "weights"));
  ASSERT_EQ(config.collections.size(), 2u);
  EXPECT_THAT(config.collections[0].include_regex, ElementsAre("a", "b"));
  EXPECT_EQ((*config.collections[0].save_config)[Mode::kTrain],
            (SaveConfigMode{10, 0, 50, {}}));
}

TEST_F(HookJsonTest, RepeatedCollectionsThatDisagreeAreRefusedWithBothValues) {
  try {
    ParseCollections(
        R"({"CollectionName": "c", "CollectionParameters": {"end_step": 5}},
           {"CollectionName": "c", "CollectionParameters": {"end_step": 6}})");
    FAIL() << "accepted";
  } catch (const ConfigError& error) {
    EXPECT_EQ(error.key(), "CollectionConfigurations[1] (c): end_step");
    EXPECT_EQ(error.value(), "6");
    EXPECT_EQ(error.allowed(),
              "'5', the value in CollectionConfigurations[0] (c)");
  }
}

TEST_F(HookJsonTest, HomeInAPathIsExpanded) {
  const smdebug::testing::ScopedEnvironment home("HOME", "/home/me");
  const HookConfig config = Parse(
      R"({"LocalPath": "~/run", "HookParameters": {"tensorboard_dir": "~"}})");
  EXPECT_EQ(config.out_dir, "/home/me/run");
  EXPECT_EQ(config.tensorboard_dir, "/home/me");
}

TEST_F(HookJsonTest, ReadsTheDocumentedSageMakerExamples) {
  const HookConfig custom = ParseCollections(
      R"({"CollectionName": "custom_activations_collection",
          "CollectionParameters": {
            "include_regex": "relu|tanh",
            "reductions": "mean,variance,max,abs_mean,abs_variance,abs_max"}},
         {"CollectionName": "losses", "CollectionParameters": {
            "train.save_interval": "100", "eval.save_interval": "10"}},
         {"CollectionName": "metrics", "CollectionParameters": {"end_step": 0}},
         {"CollectionName": "custom_relu_collection", "CollectionParameters": {
            "include_regex": "relu", "save_interval": "20", "start_step": "5",
            "end_step": "100"}})");
  EXPECT_EQ(custom.collections[0].reduction_config->reductions.size(), 6u);
  EXPECT_EQ((*custom.collections[1].save_config)[Mode::kEval]->save_interval,
            10);
  EXPECT_EQ((*custom.collections[3].save_config)[Mode::kGlobal],
            (SaveConfigMode{20, 5, 100, {}}));
}

TEST_F(HookJsonTest, LoadReadsAFile) {
  const config::TempFile file;
  const std::string& path = file.path();
  file.Write(R"({"LocalPath": "/run"})");
  EXPECT_EQ(LoadHookConfig(path, Framework::kNative).out_dir, "/run");
  file.Write("{\n  nonsense");
  try {
    LoadHookConfig(path, Framework::kNative);
    FAIL() << "accepted";
  } catch (const ConfigFileError& error) {
    EXPECT_EQ(error.path(), path);
    EXPECT_EQ(error.line(), 2);
  }
  EXPECT_THROW(LoadHookConfig(path + ".missing", Framework::kNative),
               ConfigFileError);
}

TEST_F(HookJsonTest, SageMakerTakesTensorboardOnlyFromItsOwnFile) {
  const config::TempFile tensorboard;
  const std::string& path = tensorboard.path();
  const smdebug::testing::ScopedEnvironment job("TRAINING_JOB_NAME", "job");
  const smdebug::testing::ScopedEnvironment variable(
      "TENSORBOARD_CONFIG_FILE_PATH", path);
  const std::string json =
      R"("export_tensorboard": true, "tensorboard_dir": "/ignored")";

  tensorboard.Write(R"({"LocalPath": "/tb", "S3OutputPath": "s3://x"})");
  HookConfig config = ParseHook(json);
  EXPECT_TRUE(config.export_tensorboard);
  EXPECT_EQ(config.tensorboard_dir, "/tb");

  for (const char* off : {"{}", R"({"LocalPath": null})"}) {
    tensorboard.Write(off);
    config = ParseHook(json);
    EXPECT_FALSE(config.export_tensorboard) << off;
    EXPECT_EQ(config.tensorboard_dir, "") << off;
  }
  tensorboard.Write(R"({"LocalPath": 3})");
  EXPECT_THROW(ParseHook(json), ConfigError);
  tensorboard.Write("[]");
  EXPECT_THROW(ParseHook(json), ConfigError);
  tensorboard.Write("{");
  EXPECT_THROW(ParseHook(json), ConfigFileError);

  const smdebug::testing::ScopedEnvironment missing(
      "TENSORBOARD_CONFIG_FILE_PATH", path + ".missing");
  EXPECT_FALSE(ParseHook(json).export_tensorboard);
}

TEST(HookConfigPathTest, TakesArgumentThenVariableThenDefault) {
  {
    const smdebug::testing::ScopedEnvironment set("SMDEBUG_CONFIG_FILE_PATH",
                                                  "/env");
    EXPECT_EQ(HookConfigPath("/arg"), "/arg");
    EXPECT_EQ(HookConfigPath(), "/env");
  }
  for (const std::optional<std::string>& unset :
       {std::optional<std::string>(), std::optional<std::string>("")}) {
    const smdebug::testing::ScopedEnvironment none("SMDEBUG_CONFIG_FILE_PATH",
                                                   unset);
    EXPECT_EQ(HookConfigPath(), "/opt/ml/input/config/debughookconfig.json");
  }
}

}  // namespace
}  // namespace smdebug
