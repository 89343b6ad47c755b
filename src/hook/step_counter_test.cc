#include "src/hook/step_counter.h"

#include <vector>

#include <gtest/gtest.h>

#include "src/hook/step_history.h"

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

TEST(StepHistoryTest, KnowsTheModeOfEachStep) {
  StepCounter counter;
  StepHistory history;
  std::vector<Stamp> begun;
  for (int i = 0; i < 1000; ++i) {
    counter.SetMode(i % 10 < 7 ? Mode::kTrain : Mode::kEval);
    counter.Advance();
    history.Note(counter.current());
    begun.push_back(counter.current());
  }
  for (const Stamp& stamp : begun) EXPECT_EQ(history.At(stamp.step), stamp);
}

TEST(StepHistoryTest, AStepThatWasLeftOutCountsWithThoseBefore) {
  StepHistory history;
  history.Note({10, Mode::kTrain, 4});
  history.Note({20, Mode::kEval, 20});
  EXPECT_EQ(history.At(12), (Stamp{12, Mode::kTrain, 6}));
  EXPECT_EQ(history.At(7), (Stamp{7, Mode::kTrain, 1}));
  EXPECT_EQ(history.At(0), (Stamp{0, Mode::kTrain, 0}));
}

TEST(StepHistoryTest, StaysSmallAndKnowsTheLatest) {
  StepHistory history;
  for (int64_t i = 0; i < 100'000; ++i) {
    history.Note({i, i % 2 == 0 ? Mode::kTrain : Mode::kEval, i / 2});
  }
  EXPECT_EQ(history.At(99'000), (Stamp{99'000, Mode::kTrain, 49'500}));
  EXPECT_EQ(history.At(99'001), (Stamp{99'001, Mode::kEval, 49'500}));
}

}  // namespace
}  // namespace smdebug::hook
