// Steps that a worker which died never writes.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "smdebug/trial.h"
#include "tests/testing/trial_run.h"

namespace smdebug::trial {
namespace {

using testing::TestTrial;

// A job of two whose second worker died: nothing changes any more, so that no
// later look can make up for what the first one leaves.
TEST(WindowTest, OneQueryGivesUpAllThatIsBeyondTheWindow) {
  TestTrial made;
  made.run.Declare({"worker_0", "worker_1"});
  for (int64_t step = 0; step < 100; ++step) made.run.Save(step);
  TrialOptions options = TestTrial::Options();
  options.incomplete_window = 10;
  Trial& trial = made.Open(options);
  EXPECT_EQ(trial.HasPassedStep(89), StepState::kAvailable);
  EXPECT_EQ(trial.last_complete_step(), 89);
  EXPECT_EQ(trial.HasPassedStep(90), StepState::kNotYetAvailable);
}

TEST(WindowTest, AWindowOfOneGivesUpStepByStep) {
  TestTrial made;
  made.run.Declare({"worker_0", "worker_1"});
  for (int64_t step = 0; step < 7; ++step) made.run.Save(step);
  TrialOptions options = TestTrial::Options();
  options.incomplete_window = 1;
  Trial& trial = made.Open(options);
  EXPECT_EQ(trial.HasPassedStep(5), StepState::kAvailable);
  EXPECT_EQ(trial.HasPassedStep(6), StepState::kNotYetAvailable);
}

}  // namespace
}  // namespace smdebug::trial
