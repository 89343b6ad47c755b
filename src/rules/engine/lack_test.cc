// What rules say of runs that hold nothing they can judge: never that there are
// no issues.

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "smdebug/config.h"
#include "smdebug/error.h"
#include "smdebug/invoker.h"
#include "tests/testing/trial_run.h"

namespace smdebug::rules {
namespace {

using ::testing::HasSubstr;
using testing::TestTrial;

using Tensors = std::map<std::string, std::vector<float>>;

// Two steps with these tensors.
struct SmallRun {
  explicit SmallRun(const Tensors& tensors, Mode mode = Mode::kTrain) {
    made.run.Declare({"worker_0"}, 1, BuiltInCollections(Framework::kNative));
    for (int64_t step = 0; step < 2; ++step) {
      auto saved = made.run.At(step, "worker_0", mode, step);
      for (const auto& [name, values] : tensors) saved.Tensor(name, values);
      saved.Publish();
    }
    made.run.End();
    made.Open().Steps();
  }

  RuleReport Judge(const std::string& spec) {
    InvokeOptions options;
    options.other_trials = {"other"};
    options.open_trial = [](const std::string&) {
      TestTrial other;
      other.run.Declare({"worker_0"});
      other.run.Save(0);
      other.run.End();
      other.Open().Steps();
      return std::move(other.trial);
    };
    Invoker invoker(made.trial.get(), options);
    invoker.Add(ToEvaluation(ParseRuleSpec(spec)));
    EXPECT_TRUE(invoker.Run());
    return invoker.reports().front();
  }

  TestTrial made;
};

const Tensors kGradients = {{"gradient/fc.weight", {1, 2}}};
const Tensors kWeights = {{"fc.weight", {1, 2}}};
const Tensors kLosses = {{"loss", {1}}};
const Tensors kLabels = {{"labels", {0, 1}}};
const Tensors kReluGradients = {{"gradient/relu_output", {1, 2}},
                                {"gradient/tanh_output", {1, 2}}};
const Tensors kTrees = {{"trees/Feature", {1, 2}}};

struct Case {
  std::string spec;
  Tensors tensors;
  Mode mode = Mode::kTrain;
};

// For each rule a run that is not empty, and that it can say nothing about.
const std::vector<Case>& Cases() {
  static const auto& cases = *new std::vector<Case>{
      {"AllZero:collection_names=losses", kWeights},
      {"AllZero:collection_names=losses:robust=true", kGradients},
      {"CheckInputImages", kGradients},
      {"ClassImbalance", kGradients},
      {"Confusion", kGradients},
      {"Confusion", kLabels},
      {"CreateXgboostReport", kGradients},
      {"DeadRelu", kGradients},
      {"DeadRelu", kReluGradients},
      {"ExplodingTensor", kTrees},
      {"FeatureImportanceOverweight", kGradients},
      {"LossNotDecreasing", kGradients},
      {"LossNotDecreasing:mode=EVAL", kLosses},
      {"NLPSequenceRatio:tensor_regex=tokens:token_values=0:token_thresholds_"
       "percent=50",
       kGradients},
      {"Overfit", kGradients},
      {"Overfit", kLosses},
      {"Overtraining", kGradients},
      {"Overtraining", kLosses, Mode::kPredict},
      {"PoorWeightInitialization", kWeights},
      {"PoorWeightInitialization", kGradients},
      {"SaturatedActivation", kGradients},
      {"SaturatedActivation", kReluGradients},
      {"SimilarAcrossRuns", kWeights},
      {"TensorVariance:collection_names=losses:max_threshold=1", kWeights},
      {"TreeDepth", kGradients},
      {"TreeDepth", kTrees},
      {"UnchangedTensor:collection_names=weights", kWeights, Mode::kEval},
      {"UnchangedTensor:collection_names=losses:robust=true", kGradients},
      {"VanishingGradient", kWeights},
      {"WeightUpdateRatio", kLosses},
      {"WeightUpdateRatio:robust=true", kGradients},
      {"WeightUpdateRatio", kWeights, Mode::kEval},
  };
  return cases;
}

TEST(LackTest, ARunThatARuleCannotJudgeIsNotWithoutIssues) {
  for (const Case& given : Cases()) {
    SCOPED_TRACE(given.spec);
    const RuleReport report =
        SmallRun(given.tensors, given.mode).Judge(given.spec);
    EXPECT_EQ(report.status, RuleStatus::kError);
    EXPECT_THAT(report.details, HasSubstr("needs "));
  }
}

TEST(LackTest, EveryRuleThatLooksAtStepsIsTried) {
  for (const RuleType& type : BuiltInRules()) {
    if (!type.needs_steps) continue;
    EXPECT_TRUE(std::ranges::any_of(Cases(), [&](const Case& given) {
      return ParseRuleSpec(given.spec).name == type.name;
    })) << type.name;
  }
}

TEST(LackTest, ARuleThatNeedsAnotherRunIsRefusedWithoutOne) {
  const RuleEvaluation lone = ToEvaluation(ParseRuleSpec("SimilarAcrossRuns"));
  EXPECT_THROW(RequireComplete(lone), InsufficientInformation);
  EXPECT_THROW(RuleSet({lone}, {}), InsufficientInformation);
  SmallRun run(kWeights);
  Invoker invoker(run.made.trial.get(), {});
  EXPECT_THROW(invoker.Add(lone), InsufficientInformation);

  const std::vector<std::string> others = {"runs/other"};
  EXPECT_NO_THROW(RequireComplete(lone, others));
  EXPECT_NO_THROW(RequireComplete(
      ToEvaluation(ParseRuleSpec("SimilarAcrossRuns:other_trials=runs/a"))));
  EXPECT_NO_THROW(RequireComplete(
      ToEvaluation(ParseRuleSpec("SimilarAcrossRuns:other_trial_0=runs/a"))));
}

}  // namespace
}  // namespace smdebug::rules
