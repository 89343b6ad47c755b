#include "src/cli/output/plan_text.h"

#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "src/cli/output/schedule_words.h"
#include "src/config/plan.h"

namespace smdebug::cli {
namespace {

using config::MakePlan;
using ::testing::HasSubstr;

TEST(InWordsTest, SaysWhenAScheduleSaves) {
  const std::vector<std::pair<SaveConfigMode, std::string>> cases = {
      {{}, "every 500 steps"},
      {{.save_interval = 1}, "every step"},
      {{.save_interval = 100, .start_step = 150}, "every 100 steps from 150"},
      {{.save_interval = 100, .end_step = 200}, "every 100 steps before 200"},
      {{.save_interval = 5, .start_step = 2, .end_step = 9},
       "every 5 steps from 2 before 9"},
      {{.save_steps = {7, 3, 7}}, "at 3, 7 and every 500 steps"},
      {{.end_step = 0, .save_steps = {3}}, "at 3"},
      {{.end_step = 0}, "never"},
      {{.start_step = 5, .end_step = 5}, "never"},
      {{.save_interval = 100, .start_step = 110, .end_step = 190}, "never"},
      {{.save_interval = 100, .start_step = 110, .end_step = 201},
       "every 100 steps from 110 before 201"}};
  for (const auto& [schedule, words] : cases) {
    EXPECT_EQ(InWords(schedule), words);
  }
}

HookConfig Example() {
  HookConfig config;
  config.out_dir = "/run";
  config.framework = Framework::kPyTorch;
  config.export_tensorboard = true;
  config.include_workers = IncludeWorkers::kAll;
  config.save_config = SaveConfig::Every({.save_interval = 100});
  config.include_collections = {"gradients", "relu"};
  Collection& relu = EditCollection(config, "relu");
  relu.include_regex = {"relu", "tanh"};
  relu.tensor_names = {"act"};
  relu.save_histogram = false;
  relu.reduction_config = ReductionConfig{
      {{ReductionOp::kMean, false}, {ReductionOp::kMax, true}}, false, true};
  relu.save_config.emplace();
  (*relu.save_config)[Mode::kEval] = SaveConfigMode{.end_step = 0};
  return config;
}

TEST(DescribePlanTest, SaysWhichHooksFillACollectionThatThisOneDoesNot) {
  HookConfig config = Example();
  config.include_collections = {"metrics"};
  EXPECT_THAT(DescribePlan(config, MakePlan(config)),
              HasSubstr("- (filled by tensorflow, xgboost)\n"));
}

TEST(DescribePlanTest, ShowsTheSavedCollectionsFirst) {
  const HookConfig config = Example();
  EXPECT_EQ("\n" + DescribePlan(config, MakePlan(config)), R"(
framework    pytorch
out_dir      /run
workers      all
tensorboard  /run/tensorboard

collection  saved  when                                     what           tensors
gradients   yes    train, global: every 100 steps           raw            ^gradient
                   eval, predict: never                     histogram
losses      yes    every 100 steps                          raw            [Ll]oss_(?!input).*output
relu        yes    train, predict, global: every 100 steps  mean, abs_max  relu
                   eval: never                              shape          tanh
                                                                           = act
all         no     every 100 steps                          raw            -
                                                            histogram
biases      no     every 100 steps                          raw            ^(?!gradient).*bias
                                                            histogram
default     no     every 100 steps                          raw            -
                                                            histogram
weights     no     every 100 steps                          raw            ^(?!gradient).*weight
                                                            histogram
)");
}

TEST(DescribePlanTest, SaysThatADryRunWritesNothing) {
  HookConfig config;
  config.dry_run = true;
  EXPECT_NE(DescribePlan(config, MakePlan(config)).find("dry_run"),
            std::string::npos);
}

TEST(PlanToJsonTest, HoldsTheWholePlan) {
  const HookConfig config = Example();
  const auto json = nlohmann::json::parse(PlanToJson(config, MakePlan(config)));
  EXPECT_EQ(json["framework"], "pytorch");
  EXPECT_EQ(json["out_dir"], "/run");
  EXPECT_EQ(json["include_workers"], "all");
  EXPECT_EQ(json["tensorboard_dir"], "/run/tensorboard");
  EXPECT_EQ(json["dry_run"], false);
  EXPECT_EQ(json["collections"].size(), 7u);
  EXPECT_EQ(json["collections"]["relu"], nlohmann::json::parse(R"({
      "saved": true, "scalar_like": false, "train_only": false,
      "include_regex": ["relu", "tanh"], "tensor_names": ["act"],
      "save_raw_tensor": false, "save_shape": true, "save_histogram": false,
      "reductions": ["mean", "abs_max"],
      "save_config": {
        "TRAIN": {"save_interval": 100, "save_steps": [], "start_step": 0,
                  "end_step": null},
        "EVAL": {"save_interval": 500, "save_steps": [], "start_step": 0,
                 "end_step": 0},
        "PREDICT": {"save_interval": 100, "save_steps": [], "start_step": 0,
                    "end_step": null},
        "GLOBAL": {"save_interval": 100, "save_steps": [], "start_step": 0,
                   "end_step": null}},
      "when": {"TRAIN": "every 100 steps", "EVAL": "never",
               "PREDICT": "every 100 steps", "GLOBAL": "every 100 steps"}})"));
  EXPECT_EQ(json["collections"]["gradients"]["when"]["EVAL"], "never");
  EXPECT_EQ(json["collections"]["weights"]["saved"], false);

  HookConfig off;
  EXPECT_EQ(
      nlohmann::json::parse(PlanToJson(off, MakePlan(off)))["tensorboard_dir"],
      nullptr);
}

}  // namespace
}  // namespace smdebug::cli
