#include "src/rules/engine/skipped_steps.h"

#include <limits>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "smdebug/config.h"
#include "smdebug/invoker.h"
#include "tests/testing/trial_run.h"

namespace smdebug::rules {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::TestTrial;

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr ScalerMarks kMade = {.skipped = 0, .scale = 64};
constexpr ScalerMarks kLeftOut = {.skipped = 1, .scale = 64};
constexpr ScalerMarks kOpen = {.scale = 64};

// Steps 0, 2, 4 and so on, with these marks.
class SkippedStepsTest : public ::testing::Test {
 protected:
  bool MayForgive(size_t number) {
    return skipped_.MayForgive(static_cast<int64_t>(2 * number));
  }

  std::vector<ScalerMarks> marks_;
  SkippedSteps skipped_{[this](int64_t step) {
                          const auto number = static_cast<size_t>(step / 2);
                          const bool known =
                              step % 2 == 0 && number < marks_.size();
                          return known ? marks_[number] : ScalerMarks();
                        },
                        [](int64_t step) -> std::optional<StepPlace> {
                          const int64_t before = (step + 1) / 2 * 2 - 2;
                          if (before < 0) return std::nullopt;
                          return StepPlace{.step = before, .mode_step = before};
                        }};
};

TEST_F(SkippedStepsTest, WhatAScalerSkipsIsForgiven) {
  marks_ = {kMade, kLeftOut, kMade, {}, kOpen, {.skipped = -1}};
  EXPECT_FALSE(MayForgive(0));
  EXPECT_TRUE(MayForgive(1));
  EXPECT_FALSE(MayForgive(2));
  EXPECT_FALSE(MayForgive(3)) << "nothing was scaled";
  EXPECT_TRUE(MayForgive(4)) << "it is not decided";
  EXPECT_TRUE(MayForgive(5)) << "nor is it here";
}

TEST_F(SkippedStepsTest, AScaleBelowOneIsNoSearch) {
  marks_ = {{.skipped = 1, .scale = 1}, {.skipped = 1, .scale = 0.5}};
  EXPECT_TRUE(MayForgive(0));
  EXPECT_FALSE(MayForgive(1));
}

TEST_F(SkippedStepsTest, ASearchEnds) {
  marks_.assign(SkippedSteps::kMostSkipped, kLeftOut);
  const size_t last = marks_.size() - 1;
  marks_.insert(marks_.end(), {kLeftOut, kOpen, kLeftOut, kMade, kLeftOut});
  EXPECT_TRUE(MayForgive(last));
  EXPECT_FALSE(MayForgive(last + 1));
  EXPECT_FALSE(MayForgive(last + 2)) << "which tells nothing new";
  EXPECT_FALSE(MayForgive(last + 3));
  EXPECT_TRUE(MayForgive(last + 5)) << "after a step that was made";
}

TEST_F(SkippedStepsTest, TheAnswerIsTheSameInAnyOrder) {
  marks_.assign(3 * SkippedSteps::kMostSkipped, kLeftOut);
  EXPECT_FALSE(MayForgive(marks_.size() - 1));
  EXPECT_TRUE(MayForgive(SkippedSteps::kMostSkipped - 1));
  EXPECT_FALSE(MayForgive(SkippedSteps::kMostSkipped));
}

TEST_F(SkippedStepsTest, WhatIsNeverDecidedIsNotForgivenForever) {
  marks_.assign(SkippedSteps::kMostOpen + 1, kOpen);
  EXPECT_TRUE(MayForgive(SkippedSteps::kMostOpen - 1));
  EXPECT_FALSE(MayForgive(SkippedSteps::kMostOpen));
}

TEST_F(SkippedStepsTest, WhatIsNotKnownYetMayBecomeKnown) {
  marks_ = {{.skipped = -1}};
  EXPECT_TRUE(MayForgive(0));
  marks_ = {kMade};
  EXPECT_FALSE(MayForgive(0));
}

// A run of training steps, and what rules say of it.
class SkippedRunTest : public ::testing::Test {
 protected:
  struct Step {
    float gradient = 1;
    float weight = 1;
    float skipped = 0;
    float scale = 64;
  };

  RuleReport Judge(const std::vector<Step>& steps, const std::string& spec) {
    TestTrial made;
    made.run.Declare({"worker_0"}, 1, BuiltInCollections(Framework::kNative));
    for (size_t i = 0; i < steps.size(); ++i) {
      const Step& step = steps[i];
      const auto number = static_cast<int64_t>(i);
      made.run.At(number, "worker_0", Mode::kTrain, number)
          .Tensor("gradient/fc.weight", {step.gradient, 1})
          .Tensor("fc.weight", {step.weight, 1})
          .Tensor("scalar/step_skipped", {step.skipped})
          .Tensor("scalar/grad_scale", {step.scale})
          .Publish();
    }
    made.run.End();
    made.Open().Steps();
    Invoker invoker(made.trial.get(), {});
    invoker.Add(ToEvaluation(ParseRuleSpec(spec)));
    EXPECT_TRUE(invoker.Run());
    return invoker.reports().front();
  }
};

TEST_F(SkippedRunTest, InfinitiesOfASkippedStepAreNoExplosion) {
  const auto report =
      Judge({{.gradient = kInfinity, .skipped = 1}, {}, {}}, "ExplodingTensor");
  EXPECT_EQ(report.status, RuleStatus::kNoIssuesFound) << report.details;
}

TEST_F(SkippedRunTest, ThoseOfAStepThatWasMadeAre) {
  const auto report =
      Judge({{}, {.gradient = kInfinity}, {}}, "ExplodingTensor");
  EXPECT_THAT(report.fired_steps, ElementsAre(1));
}

TEST_F(SkippedRunTest, OtherTensorsAreJudgedAtASkippedStep) {
  const auto report =
      Judge({{.weight = kInfinity, .skipped = 1}, {}, {}}, "ExplodingTensor");
  EXPECT_THAT(report.fired_steps, ElementsAre(0));
}

TEST_F(SkippedRunTest, AWeightThatASkippedStepLeavesIsNotUnchanged) {
  const std::string spec =
      "UnchangedTensor:collection_names=weights:num_steps=2";
  const auto searched =
      Judge({{.gradient = kInfinity, .weight = 1, .skipped = 1},
             {.gradient = kInfinity, .weight = 1, .skipped = 1},
             {.weight = 1},
             {.weight = 2}},
            spec);
  EXPECT_THAT(searched.fired_steps, IsEmpty());
  const auto stuck = Judge({{.weight = 1}, {.weight = 1}, {.weight = 2}}, spec);
  EXPECT_THAT(stuck.fired_steps, ElementsAre(1));
}

TEST_F(SkippedRunTest, ARunOfSkippedStepsIsNotWell) {
  const Step skipped = {.gradient = kInfinity, .skipped = 1};
  for (const char* rule : {"ExplodingTensor", "VanishingGradient"}) {
    const auto report = Judge({skipped, skipped, skipped}, rule);
    EXPECT_EQ(report.status, RuleStatus::kError) << rule;
    EXPECT_THAT(report.details, HasSubstr("scaler"));
  }
}

}  // namespace
}  // namespace smdebug::rules
