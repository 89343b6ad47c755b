// What rules say of runs that hold nothing they can judge: never that there are
// no issues.

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "smdebug/config.h"
#include "smdebug/error.h"
#include "smdebug/invoker.h"
#include "src/run/keys.h"
#include "src/run/ledger.h"
#include "tests/testing/files.h"
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

  RuleReport Judge(const std::string& spec, int64_t start_step = 0,
                   std::function<HookStats()> stats = {}) {
    InvokeOptions options;
    options.start_step = start_step;
    options.stats = std::move(stats);
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

TEST(LackTest, ARunOfWhichSomethingWasNeverSavedIsNotWithoutIssues) {
  SmallRun small(kGradients);
  EXPECT_EQ(small.Judge("VanishingGradient").status,
            RuleStatus::kNoIssuesFound);
  run::Ledger ledger = {.worker = "worker_0", .closed = true};
  ledger.stats.lost = 3;
  ledger.stats.dropped = 2;
  testing::PutFile(*small.made.storage, run::LedgerKey("worker_0"),
                   ToJson(ledger));
  const RuleReport report = small.Judge("VanishingGradient");
  EXPECT_EQ(report.status, RuleStatus::kError);
  EXPECT_THAT(report.details,
              HasSubstr("not all that was due was saved (3 lost, 2 dropped"));
  // What was found was found.
  EXPECT_EQ(small.Judge("VanishingGradient:threshold=100").status,
            RuleStatus::kIssuesFound);
  // A rule in the job knows before the last ledger does.
  EXPECT_EQ(
      small.Judge("VanishingGradient", 0, [] { return HookStats(); }).status,
      RuleStatus::kNoIssuesFound);
}

TEST(LackTest, ARunWhoseLedgerCannotTellIsNotWithoutIssues) {
  SmallRun small(kGradients);
  const std::string key = run::LedgerKey("worker_0");
  const auto expect_unknown = [&](const std::string& reason) {
    const RuleReport report = small.Judge("VanishingGradient");
    EXPECT_EQ(report.status, RuleStatus::kError);
    EXPECT_THAT(report.details,
                HasSubstr("what was dropped or lost is not known: " + key +
                          ": " + reason));
  };
  testing::PutFile(*small.made.storage, key, R"({"worker": "wor)");
  expect_unknown("");
  // Values with checksums are of no run of smdebug 1.0, which has no ledgers.
  small.made.storage->Remove(key);
  expect_unknown("is missing, but worker_0 has saved steps");
  // A rule in the job does not need the ledger.
  EXPECT_EQ(
      small.Judge("VanishingGradient", 0, [] { return HookStats(); }).status,
      RuleStatus::kNoIssuesFound);
}

TEST(LackTest, ARunOfSmdebug1HasNoLedgerAndIsJudged) {
  TestTrial made;
  made.run.Declare({"worker_0"}, 1, BuiltInCollections(Framework::kNative));
  auto step = made.run.At(0);
  step.Tensor("gradient/w", {1});
  step.index.tensors.front().location.crc32c.reset();
  step.Publish();
  testing::PutFile(*made.storage, run::kEndMarkerKey, "");
  Invoker invoker(&made.Open(), {});
  invoker.Add(ToEvaluation(ParseRuleSpec("VanishingGradient")));
  EXPECT_TRUE(invoker.Run());
  EXPECT_EQ(invoker.report(0).status, RuleStatus::kNoIssuesFound);
}

TEST(LackTest, ARunOfWhichStepsAreGoneIsNotWithoutIssues) {
  TestTrial made;
  made.run.Declare({"worker_0"}, 1, BuiltInCollections(Framework::kNative));
  made.run.At(0).Tensor("gradient/w", {1}).Publish();
  run::Ledger ledger = {.worker = "worker_0", .closed = true};
  ledger.stats.steps_saved = 2;
  testing::PutFile(*made.storage, run::LedgerKey("worker_0"), ToJson(ledger));
  made.run.End();
  Invoker invoker(&made.Open(), {});
  invoker.Add(ToEvaluation(ParseRuleSpec("VanishingGradient")));
  EXPECT_TRUE(invoker.Run());
  EXPECT_EQ(invoker.report(0).status, RuleStatus::kError);
  EXPECT_THAT(invoker.report(0).details, HasSubstr("1 step is missing"));
}

TEST(LackTest, ACollectionThatIsMisspeltIsTold) {
  EXPECT_THAT(
      SmallRun(kWeights).Judge("AllZero:collection_names=weigths").details,
      HasSubstr("needs collection weigths, which this run does not "
                "save; did you mean 'weights'?"));
}

TEST(LackTest, NothingThatIsAskedForIsPassedOverInSilence) {
  const struct {
    std::string spec;
    std::string missing;
  } cases[] = {
      {"ExplodingTensor:collection_names=weigths,losses",
       "collection weigths, which this run does not save; did you mean "
       "'weights'?"},
      {"ExplodingTensor:collection_names=losses,nosuch,bar",
       "collection nosuch and bar, which"},
      {"ExplodingTensor:tensor_regex=nosuch,loss",
       "tensors that match "
       "'nosuch', which"},
      {"ExplodingTensor:collection_names=weigths:tensor_regex=loss",
       "collection weigths, which"},
      {"ExplodingTensor{\"collection_names\": [\"losses\", \"nosuch\"]}",
       "collection nosuch, which"},
      {"LossNotDecreasing:collection_names=nosuch", "collection nosuch, which"},
  };
  for (const auto& test : cases) {
    SCOPED_TRACE(test.spec);
    const RuleReport report = SmallRun(kLosses).Judge(test.spec);
    EXPECT_EQ(report.status, RuleStatus::kError);
    EXPECT_THAT(report.details, HasSubstr(test.missing));
  }
  for (const char* spec :
       {"ExplodingTensor:collection_names=losses:tensor_regex=^loss$",
        "LossNotDecreasing:collection_names=losses", "LossNotDecreasing"}) {
    EXPECT_EQ(SmallRun(kLosses).Judge(spec).status, RuleStatus::kNoIssuesFound)
        << spec;
  }
}

TEST(LackTest, WhatAFiringRuleMissesDoesNotHideIt) {
  const Tensors infinite = {{"loss", {std::numeric_limits<float>::infinity()}}};
  EXPECT_EQ(SmallRun(infinite)
                .Judge("ExplodingTensor:collection_names=losses,nosuch")
                .status,
            RuleStatus::kIssuesFound);
}

TEST(LackTest, WhatIsSavedAtOtherStepsIsNotMissingFromTheRun) {
  SmallRun run(kLosses);
  EXPECT_EQ(run.Judge("ExplodingTensor", /*start_step=*/500).details,
            "the run has no step to judge from step 500 on; it has steps 0 to "
            "1");
  EXPECT_EQ(run.Judge("ExplodingTensor:start_step=400:end_step=500").details,
            "the run has no step to judge from step 400 on and before 500; it "
            "has steps 0 to 1");

  TestTrial late;
  late.run.Declare({"worker_0"}, 1, BuiltInCollections(Framework::kNative));
  late.run.At(0).Tensor("gradient/fc.weight", {1, 2}).Publish();
  late.run.At(1).Tensor("fc.weight", {1, 2}).Publish();
  late.run.End();
  late.Open().Steps();
  InvokeOptions options;
  options.start_step = 1;
  Invoker invoker(late.trial.get(), options);
  invoker.Add(ToEvaluation(ParseRuleSpec("VanishingGradient")));
  EXPECT_TRUE(invoker.Run());
  EXPECT_THAT(invoker.report(0).details,
              HasSubstr("needs collection gradients, which this run does not "
                        "save in the steps asked for"));
}

TEST(LackTest, AStoppedRuleTellsWhatItWaitedFor) {
  SmallRun run(kWeights);
  Invoker invoker(run.made.trial.get(), {});
  invoker.Add(ToEvaluation(ParseRuleSpec("VanishingGradient")));
  invoker.Add(ToEvaluation(ParseRuleSpec("ExplodingTensor")));
  invoker.JudgeNewSteps();
  invoker.Finish(/*stopped=*/true);
  EXPECT_EQ(invoker.report(0).status, RuleStatus::kStopped);
  EXPECT_THAT(invoker.report(0).details,
              HasSubstr("nothing so far: needs collection gradients"));
  EXPECT_EQ(invoker.report(1).status, RuleStatus::kStopped);
  EXPECT_EQ(invoker.report(1).details, "");
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
