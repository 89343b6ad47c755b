// Scalars that were saved between whole steps are judged as others are.

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "smdebug/config.h"
#include "smdebug/internal/step_judge.h"
#include "smdebug/invoker.h"
#include "tests/testing/trial_run.h"

namespace smdebug::rules {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::TestTrial;

// Whole steps 0, 10, 20, ... with a weight, and a scalar at every step.
class ScalarStepsTest : public ::testing::Test {
 protected:
  ScalarStepsTest() {
    made_.run.Declare({"worker_0"}, 1, BuiltInCollections(Framework::kNative));
  }

  template <typename LossAt>
  void Save(int64_t first, int64_t last, const LossAt& loss_at) {
    for (int64_t step = first; step <= last; step += 10) {
      auto whole = made_.run.At(step);
      for (int64_t rider = std::max<int64_t>(step - 9, 0); rider < step;
           ++rider) {
        whole.Rider("scalar/loss", static_cast<float>(loss_at(rider)), rider,
                    Mode::kGlobal, rider);
      }
      whole.Tensor("fc.weight", {static_cast<float>(step)})
          .Number("scalar/loss", static_cast<float>(loss_at(step)))
          .Publish();
    }
  }
  void End() {
    made_.run.End();
    made_.Open().Steps();
  }
  RuleReport Judge(const std::string& spec, InvokeOptions options = {}) {
    Invoker invoker(made_.trial.get(), std::move(options));
    invoker.Add(ToEvaluation(ParseRuleSpec(spec)));
    EXPECT_TRUE(invoker.Run());
    return invoker.reports().front();
  }

  TestTrial made_;
};

TEST_F(ScalarStepsTest, ANaNBetweenWholeStepsIsFound) {
  Save(0, 30, [](int64_t step) { return step == 17 ? std::nan("") : 1.0; });
  End();
  const RuleReport report = Judge("ExplodingTensor");
  EXPECT_THAT(report.fired_steps, ElementsAre(17));
  EXPECT_EQ(report.findings.front().tensor, "scalar/loss");
  EXPECT_EQ(report.findings.front().worker, "worker_0");
  EXPECT_EQ(report.steps_judged, 31);
}

TEST_F(ScalarStepsTest, ARunOfScalarsAloneIsJudged) {
  auto last = made_.run.At(9);
  for (int64_t step = 0; step < 10; ++step) {
    last.Rider("scalar/loss", static_cast<float>(1 + step), step, Mode::kGlobal,
               step);
  }
  // As the hook does for smdebug 1.0: the last one stands in both lists.
  const auto& rider = last.index.scalars.back();
  last.index.tensors.push_back({rider.name, rider.location});
  last.Publish();
  End();
  EXPECT_THAT(Judge("LossNotDecreasing:num_steps=3").fired_steps,
              ElementsAre(3, 6, 9));
}

TEST_F(ScalarStepsTest, WholeStepsInBetweenLookTheSame) {
  Save(0, 40, [](int64_t step) { return 50.0 - static_cast<double>(step); });
  End();
  const RuleReport report = Judge("WeightUpdateRatio:large_threshold=0.9");
  // From 10 to 20; 0 to 10 has no ratio, and later ones are smaller.
  EXPECT_THAT(report.fired_steps, ElementsAre(20));
}

TEST_F(ScalarStepsTest, OtherScalarsAreNoLossesWhereLossesAreSavedNowAndThen) {
  for (int64_t step = 0; step <= 20; step += 10) {
    auto whole = made_.run.At(step);
    for (int64_t rider = std::max<int64_t>(step - 9, 0); rider < step;
         ++rider) {
      whole.Rider("scalar/rate", 1, rider, Mode::kGlobal, rider);
    }
    whole.Number("loss", static_cast<float>(100 - step)).Publish();
  }
  End();
  EXPECT_THAT(
      Judge("LossNotDecreasing:num_steps=2", {.start_step = 1}).fired_steps,
      IsEmpty());
}

TEST_F(ScalarStepsTest, TheyAreJudgedWhenTheyComeAndMemoryIsBounded) {
  const auto loss_at = [](int64_t step) {
    return step == 3995 ? std::nan("") : 1.0;
  };
  Save(0, 0, loss_at);
  Trial& trial = made_.Open();
  Invoker invoker(&trial, {.recent_steps = 2});
  invoker.Add(ToEvaluation(ParseRuleSpec("ExplodingTensor")));
  for (int64_t step = 10; step <= 4000; step += 10) {
    Save(step, step, loss_at);
    EXPECT_GT(invoker.JudgeNewSteps(), 0);
  }
  EXPECT_THAT(invoker.report(0).fired_steps, ElementsAre(3995));
  EXPECT_EQ(invoker.steps_judged(), 4001);
  EXPECT_LT(trial.Steps().size(), 20U);
}

TEST_F(ScalarStepsTest, OneStepCanBeAskedFor) {
  Save(0, 20, [](int64_t step) { return step == 7 ? std::nan("") : 1.0; });
  End();
  StepJudge judge(made_.trial.get(),
                  ToEvaluation(ParseRuleSpec("ExplodingTensor")), {});
  EXPECT_THAT(judge.Check(6), IsEmpty());
  EXPECT_EQ(judge.Check(7).size(), 1U);
  EXPECT_THAT(judge.Check(8), IsEmpty());
}

}  // namespace
}  // namespace smdebug::rules
