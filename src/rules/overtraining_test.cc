#include <random>

#include "src/rules/testing.h"

namespace smdebug::rules {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(OvertrainingTest, TrainingAloneCountsWithoutValidation) {
  FakeRun run;
  for (int step = 0; step < 8; ++step) {
    run.At(step).Put("loss", {step < 2 ? 2.0 - step : 1.0});
  }
  // The best is at step 1; five observations without a better one at 6.
  EXPECT_THAT(run.Fired("Overtraining"), ElementsAre(6, 7));
  EXPECT_THAT(run.Fired("Overtraining:patience_train=7"), IsEmpty());
}

TEST(OvertrainingTest, AnOptimumIsLowerByMoreThanDelta) {
  FakeRun run;
  run.At(0).Put("loss", {1});
  run.At(1).Put("loss", {0.75});
  run.At(2).Put("loss", {0.5});
  EXPECT_THAT(run.Fired("Overtraining:patience_train=1:delta=0.2"), IsEmpty());
  EXPECT_THAT(run.Fired("Overtraining:patience_train=1:delta=0.25"),
              ElementsAre(1));
}

TEST(OvertrainingTest, BothPhasesHaveToBeStuck) {
  FakeRun run;
  for (int step = 0; step < 24; ++step) {
    const bool eval = step % 2 == 1;
    run.At(step, eval ? Mode::kEval : Mode::kTrain)
        .Put("loss", {eval ? (step < 12 ? 9.0 - step / 2 : 4.0) : 1.0});
  }
  // The best validation loss is at step 11, its tenth one after that at 31.
  EXPECT_THAT(run.Fired("Overtraining"), IsEmpty());
  EXPECT_THAT(run.Fired("Overtraining:patience_validation=6"), ElementsAre(23));
}

TEST(OvertrainingTest, SeveralLossesAreTheirMeanAndNanIsNotBetter) {
  FakeRun run;
  run.At(0).Put("a_loss", {1}).Put("b_loss", {3});
  run.At(1).Put("a_loss", {3}).Put("b_loss", {0});
  run.At(2).Put("a_loss", {std::nan("")}).Put("b_loss", {0});
  EXPECT_THAT(run.Fired("Overtraining:patience_train=1"), ElementsAre(2));
}

TEST(OvertrainingTest, XgboostTellsPhasesByName) {
  FakeRun run;
  run.Collect("losses", "-");
  for (int step = 0; step < 4; ++step) {
    run.At(step).Put("train-rmse", {1.0}).Put("validation-rmse", {4.0 - step});
  }
  EXPECT_THAT(run.Fired("Overtraining:patience_train=1:patience_validation=1"),
              IsEmpty());
  EXPECT_THAT(run.Fired("Overtraining:patience_train=1:patience_validation=1:"
                        "delta=1"),
              ElementsAre(1, 3));
}

TEST(OvertrainingTest, RobustAsksForAValidationLossThatRises) {
  for (unsigned seed = 0; seed < 10; ++seed) {
    std::mt19937 random(seed);
    std::normal_distribution<double> noise(0, 0.05);
    FakeRun plateau;
    FakeRun rises;
    for (int step = 0; step < 240; ++step) {
      const bool eval = step % 2 == 1;
      const double loss = 1 / (1 + 0.2 * step) + 0.2 + noise(random);
      const Mode mode = eval ? Mode::kEval : Mode::kTrain;
      plateau.At(step, mode).Put("loss", {loss});
      rises.At(step, mode).Put("loss", {eval ? loss + 0.01 * step : loss});
    }
    EXPECT_FALSE(plateau.Fired("Overtraining").empty()) << seed;
    EXPECT_THAT(plateau.Fired("Overtraining:robust=true"), IsEmpty()) << seed;
    EXPECT_FALSE(rises.Fired("Overtraining:robust=true").empty()) << seed;
  }
}

}  // namespace
}  // namespace smdebug::rules
