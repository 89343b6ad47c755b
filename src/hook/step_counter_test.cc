#include "src/hook/step_counter.h"

#include <gtest/gtest.h>

namespace smdebug::hook {
namespace {

TEST(StepCounterTest, StartsBeforeTheFirstStep) {
  const StepCounter counter;
  EXPECT_EQ(counter.step(), -1);
  EXPECT_EQ(counter.mode(), Mode::kGlobal);
  for (const Mode mode : kModes) EXPECT_EQ(counter.mode_step(mode), -1);
}

TEST(StepCounterTest, CountsEachModeAndAllOfThem) {
  StepCounter counter;
  counter.SetMode(Mode::kTrain);
  counter.Advance();
  counter.Advance();
  counter.SetMode(Mode::kEval);
  counter.Advance();
  EXPECT_EQ(counter.current(), (Stamp{2, Mode::kEval, 0}));
  EXPECT_EQ(counter.mode_step(Mode::kTrain), 1);
  EXPECT_EQ(counter.mode_step(Mode::kGlobal), 2);
  EXPECT_EQ(counter.mode_step(Mode::kPredict), -1);
}

TEST(StepCounterTest, JumpsToANumberForTheJobAndTheMode) {
  StepCounter counter;
  counter.SetMode(Mode::kTrain);
  counter.AdvanceTo(40);
  EXPECT_EQ(counter.current(), (Stamp{40, Mode::kTrain, 40}));
  counter.Advance();
  EXPECT_EQ(counter.current(), (Stamp{41, Mode::kTrain, 41}));
}

TEST(StepCounterTest, AScalarBelongsToTheLatestStepOfItsMode) {
  StepCounter counter;
  EXPECT_EQ(counter.ForScalar(), (Stamp{0, Mode::kGlobal, 0}));
  counter.SetMode(Mode::kTrain);
  counter.Advance();
  counter.Advance();
  counter.SetMode(Mode::kEval);
  EXPECT_EQ(counter.ForScalar(), (Stamp{2, Mode::kEval, 0}));
  counter.Advance();
  counter.SetMode(Mode::kTrain);
  EXPECT_EQ(counter.ForScalar(), (Stamp{1, Mode::kTrain, 1}));
}

}  // namespace
}  // namespace smdebug::hook
