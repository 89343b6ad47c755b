#include "src/config/plan.h"

#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "smdebug/error.h"
#include "tests/testing/environment.h"

namespace smdebug::config {
namespace {

using ::testing::ElementsAre;

HookConfig Config(Framework framework) {
  HookConfig config;
  config.out_dir = "/run";
  config.framework = framework;
  return config;
}

std::vector<std::string> Saved(const HookConfig& config) {
  std::vector<std::string> names;
  for (const auto& [name, planned] : MakePlan(config)) {
    if (planned.saved) names.push_back(name);
  }
  return names;
}

TEST(MakePlanTest, SavesTheDefaultsOfEachFramework) {
  EXPECT_THAT(Saved(Config(Framework::kNative)), ElementsAre("losses"));
  EXPECT_THAT(Saved(Config(Framework::kPyTorch)), ElementsAre("losses"));
  EXPECT_THAT(Saved(Config(Framework::kMxnet)), ElementsAre("losses"));
  EXPECT_THAT(Saved(Config(Framework::kTensorFlow)),
              ElementsAre("losses", "metrics", "sm_metrics"));
  EXPECT_THAT(Saved(Config(Framework::kXgboost)), ElementsAre("metrics"));
}

TEST(MakePlanTest, AddsIncludedCollectionsToTheDefaults) {
  HookConfig config = Config(Framework::kPyTorch);
  config.include_collections = {"weights", "relu"};
  EditCollection(config, "relu").include_regex = {"relu"};
  EditCollection(config, "unused").include_regex = {"x"};
  EXPECT_THAT(Saved(config), ElementsAre("losses", "relu", "weights"));
}

TEST(MakePlanTest, IncludeRegexGoesToDefaultAndIncludesIt) {
  HookConfig config = Config(Framework::kPyTorch);
  config.include_regex = {"relu", "tanh"};
  EXPECT_THAT(Saved(config), ElementsAre("default", "losses"));
  const Plan plan = MakePlan(config);
  EXPECT_TRUE(plan.at("default").Matches("layer1.relu"));
  EXPECT_FALSE(plan.at("default").Matches("sigmoid"));
}

TEST(MakePlanTest, SaveAllMatchesEveryTensorAndSavesEveryCollection) {
  HookConfig config = Config(Framework::kPyTorch);
  config.save_all = true;
  EXPECT_EQ(Saved(config).size(), 6u);
  EXPECT_TRUE(MakePlan(config).at("all").Matches("anything"));
}

TEST(MakePlanTest, IncludingAllIsSaveAll) {
  for (const Framework framework : {Framework::kPyTorch, Framework::kXgboost}) {
    HookConfig config = Config(framework);
    EXPECT_FALSE(MakePlan(config).at("all").Matches("anything"));
    HookConfig saving_all = config;
    saving_all.save_all = true;
    config.include_collections = {"all"};
    EXPECT_EQ(Saved(config), Saved(saving_all));
    EXPECT_TRUE(MakePlan(config).at("all").Matches("anything"));
  }
}

TEST(MakePlanTest, ACollectionOfOtherFrameworksTakesNothing) {
  HookConfig config = Config(Framework::kXgboost);
  config.include_collections = {"weights"};
  const Plan plan = MakePlan(config);
  EXPECT_TRUE(plan.at("weights").saved);
  EXPECT_FALSE(plan.at("weights").Matches("fc.weight"));
}

TEST(MakePlanTest, MatchesListedNamesExactly) {
  HookConfig config = Config(Framework::kPyTorch);
  EditCollection(config, "mine").tensor_names = {"a"};
  const Plan plan = MakePlan(config);
  EXPECT_TRUE(plan.at("mine").Matches("a"));
  EXPECT_FALSE(plan.at("mine").Matches("ab"));
}

TEST(MakePlanTest, FillsSchedulesFromTheHookThenFromTheDefault) {
  HookConfig config = Config(Framework::kPyTorch);
  config.save_config.emplace();
  (*config.save_config)[Mode::kTrain] = SaveConfigMode{.save_interval = 3};
  Collection& mine = EditCollection(config, "mine");
  mine.include_regex = {"x"};
  mine.save_config.emplace();
  (*mine.save_config)[Mode::kEval] = SaveConfigMode{.save_interval = 4};
  const Plan plan = MakePlan(config);
  EXPECT_EQ(plan.at("mine").Schedule(Mode::kTrain).save_interval, 3);
  EXPECT_EQ(plan.at("mine").Schedule(Mode::kEval).save_interval, 4);
  EXPECT_EQ(plan.at("mine").Schedule(Mode::kPredict), SaveConfigMode{});
  EXPECT_EQ(plan.at("weights").Schedule(Mode::kTrain).save_interval, 3);
  EXPECT_EQ(plan.at("weights").Schedule(Mode::kGlobal), SaveConfigMode{});
}

TEST(MakePlanTest, XgboostSavesEveryTenStepsUnlessTold) {
  HookConfig config = Config(Framework::kXgboost);
  EditCollection(config, "mine").include_regex = {"x"};
  for (const auto& [name, planned] : MakePlan(config)) {
    for (const Mode mode : kModes) {
      EXPECT_EQ(planned.Schedule(mode).save_interval, 10) << name;
    }
  }
}

TEST(MakePlanTest, FillsTheFormFromTheHookThenWithRaw) {
  const ReductionConfig raw{{}, true, false};
  const ReductionConfig mean{{{ReductionOp::kMean, false}}, false, false};
  const ReductionConfig shape{{}, false, true};
  HookConfig config = Config(Framework::kPyTorch);
  Collection& mine = EditCollection(config, "mine");
  mine.include_regex = {"x"};
  mine.reduction_config = shape;
  EXPECT_EQ(MakePlan(config).at("weights").Form(), raw);
  EXPECT_EQ(MakePlan(config).at("mine").Form(), shape);
  config.reduction_config = mean;
  EXPECT_EQ(MakePlan(config).at("weights").Form(), mean);
  EXPECT_EQ(MakePlan(config).at("mine").Form(), shape);
}

TEST(MakePlanTest, KeepsLossesAndTheirLikeRaw) {
  HookConfig config = Config(Framework::kXgboost);
  config.reduction_config =
      ReductionConfig{{{ReductionOp::kMean, false}}, false, true};
  for (const std::string name : {"losses", "metrics", "feature_importance",
                                 "average_shap", "average_shap_signed"}) {
    EditCollection(config, name).reduction_config = config.reduction_config;
  }
  EditCollection(config, "sm_metrics").include_regex = {"x"};
  for (const auto& [name, planned] : MakePlan(config)) {
    const bool scalar_like =
        name == "losses" || name == "metrics" || name == "feature_importance" ||
        name == "average_shap" || name == "average_shap_signed" ||
        name == "sm_metrics";
    EXPECT_EQ(planned.scalar_like, scalar_like) << name;
    EXPECT_EQ(planned.Form() == (ReductionConfig{{}, true, false}), scalar_like)
        << name;
    EXPECT_EQ(planned.collection.save_histogram, !scalar_like) << name;
  }
}

TEST(MakePlanTest, GradientsAndOptimizerVariablesAreForTrainingOnly) {
  for (const auto& [name, planned] : MakePlan(Config(Framework::kTensorFlow))) {
    EXPECT_EQ(planned.train_only,
              name == "gradients" || name == "optimizer_variables")
        << name;
  }
}

TEST(MakePlanTest, KeepsEachReductionOnce) {
  const Reduction mean{ReductionOp::kMean, false};
  HookConfig config = Config(Framework::kPyTorch);
  config.reduction_config = ReductionConfig{{mean, mean}, false, false};
  EXPECT_THAT(MakePlan(config).at("weights").Form().reductions,
              ElementsAre(mean));
}

TEST(PlanNewCollectionTest, TakesEverythingFromTheHookAndIsSaved) {
  HookConfig config = Config(Framework::kPyTorch);
  config.save_config = SaveConfig::Every({.save_interval = 2});
  config.reduction_config = ReductionConfig{{}, false, true};
  const PlannedCollection planned = PlanNewCollection(config, "custom");
  EXPECT_EQ(planned.collection.name, "custom");
  EXPECT_TRUE(planned.saved);
  EXPECT_FALSE(planned.Matches("custom"));
  EXPECT_EQ(planned.Schedule(Mode::kGlobal).save_interval, 2);
  EXPECT_TRUE(planned.Form().save_shape);
}

TEST(TensorboardDirTest, TakesItsOwnPathThenOneInTheRun) {
  HookConfig config = Config(Framework::kPyTorch);
  EXPECT_EQ(TensorboardDir(config), "");
  config.export_tensorboard = true;
  EXPECT_EQ(TensorboardDir(config), "/run/tensorboard");
  config.out_dir = "s3://bucket/run/";
  EXPECT_EQ(TensorboardDir(config), "s3://bucket/run/tensorboard");
  config.tensorboard_dir = "/tb";
  EXPECT_EQ(TensorboardDir(config), "/tb");
  config.export_tensorboard = false;
  EXPECT_EQ(TensorboardDir(config), "/tb");
  const smdebug::testing::ScopedEnvironment home("HOME", "/home/me");
  config.tensorboard_dir = "~/tb";
  EXPECT_EQ(TensorboardDir(config), "/home/me/tb");
}

}  // namespace
}  // namespace smdebug::config
