#include <random>

#include "src/rules/builtin/testing.h"

namespace smdebug::rules {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;

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
        .Put("loss", {eval ? (step < 12 ? 9.5 - step / 2.0 : 4.0) : 1.0});
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

// Steps without a mode, so that training alone is judged.
FakeRun Losses(const std::vector<double>& losses) {
  FakeRun run;
  int64_t step = 0;
  for (const double loss : losses) run.At(step++).Put("loss", {loss});
  return run;
}

// `count` losses from `first` on, each so much above the one before.
std::vector<double> Line(int count, double first, double by) {
  std::vector<double> losses(static_cast<size_t>(count));
  for (int i = 0; double& loss : losses) loss = first + by * i++;
  return losses;
}

std::vector<double> Joined(std::vector<double> a,
                           const std::vector<double>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

TEST(OvertrainingTest, RobustComparesWindowsOfTenWithTheBest) {
  FakeRun run = Losses(Joined(Line(10, 1, 0), Line(20, 1.2, 0)));
  EXPECT_THAT(run.Fired("Overtraining").front(), 5);
  // The second window is full at step 19.
  EXPECT_THAT(run.Fired("Overtraining:robust=true").front(), 19);
  EXPECT_THAT(run.Fired("Overtraining:robust=true:patience_train=15").front(),
              29);
}

TEST(OvertrainingTest, RobustAsksForARiseByFivePercentAndByDelta) {
  FakeRun run = Losses(Joined(Line(10, 1, 0), Line(10, 1.04, 0)));
  EXPECT_THAT(run.Fired("Overtraining:robust=true"), IsEmpty());
  run = Losses(Joined(Line(10, 1, 0), Line(10, 1.06, 0)));
  EXPECT_THAT(run.Fired("Overtraining:robust=true"), ElementsAre(19));
  EXPECT_THAT(run.Fired("Overtraining:robust=true:delta=0.1"), IsEmpty());
}

TEST(OvertrainingTest, RobustDoesNotTakeATrendForNoise) {
  FakeRun run = Losses(Joined(Line(10, 2, -0.1), Line(20, 1.1, 0.1)));
  EXPECT_THAT(run.Fired("Overtraining:robust=true"), Not(IsEmpty()));
}

TEST(OvertrainingTest, RobustLeavesNoiseAlone) {
  // A rise by a tenth, of losses that jump by one.
  std::vector<double> losses(30);
  for (int i = 0; double& loss : losses) {
    loss = (i < 10 ? 1 : 1.1) + (i * i % 3 == 0 ? 0.7 : -0.3);
    ++i;
  }
  FakeRun run = Losses(losses);
  EXPECT_THAT(run.Fired("Overtraining"), Not(IsEmpty()));
  EXPECT_THAT(run.Fired("Overtraining:robust=true"), IsEmpty());
}

TEST(OvertrainingTest, RobustIsSilentAgainAfterABetterWindow) {
  FakeRun run = Losses(
      Joined(Joined(Line(10, 1, 0), Line(10, 1.2, 0)), Line(20, 0.5, 0)));
  const auto fired = run.Fired("Overtraining:robust=true");
  ASSERT_THAT(fired, Not(IsEmpty()));
  EXPECT_EQ(fired.front(), 19);
  EXPECT_EQ(fired.back(), 19);
}

TEST(OvertrainingTest, RobustPassesOverWhatIsNotFinite) {
  std::vector<double> losses = Joined(Line(10, 1, 0), Line(10, 1.2, 0));
  losses.insert(losses.begin() + 5, std::nan(""));
  FakeRun run = Losses(losses);
  EXPECT_THAT(run.Fired("Overtraining:robust=true"), ElementsAre(20));
}

}  // namespace
}  // namespace smdebug::rules
