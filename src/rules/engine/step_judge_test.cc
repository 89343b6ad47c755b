#include "smdebug/internal/step_judge.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "smdebug/error.h"
#include "tests/testing/trial_run.h"

namespace smdebug::rules {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;
using testing::TestTrial;

// A tensor that is zero at steps 2 and 4, and not saved at step 3.
class StepJudgeTest : public ::testing::Test {
 protected:
  StepJudgeTest() {
    made_.run.Declare({"worker_0"}, 1, {});
    for (const int64_t step : {0, 1, 2, 4, 5, 6, 7}) {
      const float value = step == 2 || step == 4 ? 0.0F : 1.0F;
      made_.run.At(step, "worker_0").Tensor("w", {value, value}).Publish();
    }
    made_.run.End();
    made_.Open().Steps();
  }

  StepJudge Judge(const std::string& spec) {
    return StepJudge(made_.trial.get(), ToEvaluation(ParseRuleSpec(spec)));
  }

  TestTrial made_;
};

constexpr char kZero[] = "AllZero:tensor_regex=w";

TEST_F(StepJudgeTest, TellsOfTheStepThatIsAskedFor) {
  StepJudge judge = Judge(kZero);
  EXPECT_THAT(judge.Check(0), IsEmpty());
  const std::vector<Finding> found = judge.Check(2);
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].step, 2);
  EXPECT_EQ(found[0].tensor, "w");
  EXPECT_EQ(judge.Check(2), found);
  EXPECT_THAT(judge.Check(5), IsEmpty());
}

TEST_F(StepJudgeTest, AStepThatWasNotSavedHasNoFindings) {
  StepJudge judge = Judge(kZero);
  EXPECT_THAT(judge.Check(3), IsEmpty());
  EXPECT_THAT(judge.Check(9), IsEmpty());
  EXPECT_THAT(judge.Check(4), SizeIs(1));
}

TEST_F(StepJudgeTest, AnEarlierStepBeginsAnew) {
  StepJudge judge = Judge(kZero);
  EXPECT_THAT(judge.Check(5), IsEmpty());
  EXPECT_THAT(judge.Check(2), SizeIs(1));
  EXPECT_THAT(judge.Check(4), SizeIs(1));
}

TEST_F(StepJudgeTest, StepsBetweenAreJudgedToo) {
  StepJudge judge =
      Judge("UnchangedTensor:tensor_regex=w:num_steps=3:robust=false");
  EXPECT_THAT(judge.Check(5), IsEmpty());
  EXPECT_THAT(judge.Check(7), SizeIs(1));
}

TEST_F(StepJudgeTest, ABadRuleIsRefusedAtOnce) {
  EXPECT_THROW(Judge("AllZero:threshold=lots"), ConfigError);
  EXPECT_THROW(Judge("AllZero"), InsufficientInformation);
}

TEST_F(StepJudgeTest, GivesWhatTheRuleHasToShow) {
  StepJudge judge = Judge("CreateXgboostReport");
  EXPECT_THAT(judge.Files(), IsEmpty());
  EXPECT_THAT(judge.Check(2), IsEmpty());
  EXPECT_THAT(judge.Files(), IsEmpty()) << "nothing of XGBoost";
}

}  // namespace
}  // namespace smdebug::rules
