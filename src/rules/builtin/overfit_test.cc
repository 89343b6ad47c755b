#include "src/rules/builtin/testing.h"

namespace smdebug::rules {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// Blocks of two training and one validation step: both losses of each block.
FakeRun Blocks(const std::vector<std::pair<double, double>>& losses) {
  FakeRun run;
  int64_t step = 0;
  for (const auto& [training, validation] : losses) {
    run.At(step++, Mode::kTrain).Put("loss", {training});
    run.At(step++, Mode::kTrain).Put("loss", {training});
    run.At(step++, Mode::kEval).Put("loss", {validation});
  }
  return run;
}

TEST(OverfitTest, FiresAtTheFirstTrainingStepAfterABlockAndAtTheEnd) {
  EXPECT_THAT(Blocks({{1, 1}, {1, 1.2}, {1, 1.2}}).Fired("Overfit"),
              ElementsAre(6, 8));
}

// Epochs of 1000 steps of training and 200 of validation, saved every 100.
TEST(OverfitTest, FiresAtTheStepAfterTheSixthEpoch) {
  FakeRun run;
  for (int64_t step = 0; step < 8400; step += 100) {
    const bool eval = step % 1200 >= 1000;
    const bool overfits = step / 1200 >= 5;
    run.At(step, eval ? Mode::kEval : Mode::kTrain)
        .Put("loss", {eval && overfits ? 1.5 : 1.0});
  }
  EXPECT_THAT(run.Fired("Overfit").front(), 7200);
}

TEST(OverfitTest, TheRatioItselfIsHealthy) {
  EXPECT_THAT(Blocks({{1, 1.125}}).Fired("Overfit:ratio_threshold=0.125"),
              IsEmpty());
  EXPECT_THAT(Blocks({{1, 1.125}}).Fired("Overfit:ratio_threshold=0.12"),
              ElementsAre(2));
}

TEST(OverfitTest, PatienceCountsBlocksInARow) {
  FakeRun run = Blocks({{1, 2}, {1, 1}, {1, 2}, {1, 2}, {1, 2}});
  EXPECT_THAT(run.Fired("Overfit:patience=2"), ElementsAre(12, 14));
  EXPECT_THAT(run.Fired("Overfit:patience=2:start_step=9"), ElementsAre(14));
}

TEST(OverfitTest, ZeroIsSkippedAndNegativeLossesHaveASize) {
  EXPECT_THAT(Blocks({{0, 1}}).Fired("Overfit"), IsEmpty());
  EXPECT_THAT(Blocks({{-1, -0.8}}).Fired("Overfit"), ElementsAre(2));
  EXPECT_THAT(Blocks({{-1, -1.2}}).Fired("Overfit"), IsEmpty());
  EXPECT_THAT(Blocks({{1, std::nan("")}}).Fired("Overfit"), IsEmpty());
}

TEST(OverfitTest, EachLossIsJudgedByItself) {
  FakeRun run;
  run.At(0, Mode::kTrain).Put("a_loss", {1}).Put("b_loss", {1});
  run.At(1, Mode::kEval).Put("a_loss", {2}).Put("b_loss", {1});
  run.At(2, Mode::kTrain).Put("b_loss", {1});
  run.At(3, Mode::kTrain).Put("a_loss", {1});
  const auto findings = run.Judge("Overfit");
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].tensor, "a_loss");
  EXPECT_EQ(findings[0].step, 3);
  EXPECT_THAT(run.Fired("Overfit:tensor_regex=^b"), IsEmpty());
}

TEST(OverfitTest, XgboostIsJudgedAtEachStep) {
  FakeRun run;
  run.Collect("losses", "-");
  run.At(0).Put("train-rmse", {1}).Put("validation-rmse", {1});
  run.At(1).Put("train-rmse", {1}).Put("validation-rmse", {1.2});
  run.At(2).Put("train-rmse", {1}).Put("eval-mae", {1.2});
  run.At(3).Put("train-rmse", {1}).Put("test-rmse", {1.2});
  EXPECT_THAT(run.Fired("Overfit"), ElementsAre(1, 3));
  EXPECT_THAT(run.Fired("Overfit:start_step=2"), ElementsAre(3));
}

TEST(OverfitTest, RobustLeavesLossesNearZeroAlone) {
  FakeRun perfect = Blocks({{2, 2}, {0.001, 0.01}, {0.001, 0.01}, {0, 0.01}});
  EXPECT_THAT(perfect.Fired("Overfit"), ElementsAre(6, 9));
  EXPECT_THAT(perfect.Fired("Overfit:robust=true"), IsEmpty());
  FakeRun overfit = Blocks({{2, 1.4}, {0.5, 1.5}, {0.1, 2}, {0.01, 3}});
  EXPECT_THAT(overfit.Fired("Overfit:robust=true"), ElementsAre(11))
      << "the third time";
}

TEST(OverfitTest, RobustLeavesAloneWhatStillLearns) {
  FakeRun learns =
      Blocks({{2, 2}, {0.5, 1.5}, {0.1, 1.4}, {0.01, 1.3}, {0.01, 1.2}});
  EXPECT_THAT(learns.Fired("Overfit"), SizeIs(4));
  EXPECT_THAT(learns.Fired("Overfit:robust=true"), IsEmpty());
}

TEST(OverfitTest, RobustKnowsTheNoiseFromBlocksBefore) {
  FakeRun run;
  int64_t step = 0;
  const auto block = [&](const std::vector<double>& training) {
    for (const double loss : training) {
      run.At(step++, Mode::kTrain).Put("loss", {loss});
    }
    run.At(step++, Mode::kEval).Put("loss", {1});
  };
  for (int i = 0; i < 5; ++i) block({0.4, 2.0, 0.3, 1.5});
  block({0.4, 0.5, 0.4, 0.5});
  block({0.5, 0.4, 0.5, 0.4});
  EXPECT_FALSE(run.Fired("Overfit").empty());
  EXPECT_THAT(run.Fired("Overfit:robust=true"), IsEmpty());
}

}  // namespace
}  // namespace smdebug::rules
