#include <limits>

#include "src/rules/builtin/testing.h"

namespace smdebug::rules {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(UnchangedTensorTest, OnesAtThreeSteps) {
  FakeRun run;
  for (int step = 0; step < 3; ++step) run.At(step).Put("a", {1, 1});
  run.At(3).Put("other", {1});
  run.At(5).Put("b", {1});
  const std::string spec = "UnchangedTensor:tensor_regex=^a$,^b$";
  EXPECT_THAT(run.Fired(spec), ElementsAre(2));
  EXPECT_THAT(run.Fired(spec, 2), ElementsAre(2));
  EXPECT_THAT(run.Fired(spec, 3), IsEmpty());
}

TEST(UnchangedTensorTest, ToleratesWhatIsClose) {
  FakeRun run;
  run.At(0).Put("a", {1});
  run.At(1).Put("a", {1.00001});
  run.At(2).Put("a", {1.0001});
  const std::string spec = "UnchangedTensor:tensor_regex=a:num_steps=2";
  EXPECT_THAT(run.Fired(spec), ElementsAre(1));
  EXPECT_THAT(run.Fired(spec + ":rtol=0.001"), ElementsAre(1, 2));
  EXPECT_THAT(run.Fired(spec + ":rtol=0"), IsEmpty());
  EXPECT_THAT(run.Fired(spec + ":rtol=0:atol=1"), ElementsAre(1, 2));
}

TEST(UnchangedTensorTest, NanIsAChangeUnlessItEquals) {
  FakeRun run;
  run.At(0).Put("a", {std::nan("")});
  run.At(1).Put("a", {std::nan("")});
  const std::string spec = "UnchangedTensor:tensor_regex=a:num_steps=2";
  EXPECT_THAT(run.Fired(spec), IsEmpty());
  EXPECT_THAT(run.Fired(spec + ":equal_nan=true"), ElementsAre(1));
}

TEST(UnchangedTensorTest, EqualInfinitiesAreCloseAndShapesCount) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  FakeRun run;
  run.At(0).Put("a", {kInf, 1});
  run.At(1).Put("a", {kInf, 1});
  run.At(2).Put("a", {1, kInf});
  run.At(3).Put("a", {1, kInf}, {2, 1});
  EXPECT_THAT(run.Fired("UnchangedTensor:tensor_regex=a:num_steps=2"),
              ElementsAre(1));
}

TEST(UnchangedTensorTest, OnlyTrainingStepsAreCompared) {
  FakeRun run;
  run.At(0, Mode::kTrain).Put("a", {1});
  run.At(1, Mode::kEval).Put("a", {1});
  run.At(2, Mode::kEval).Put("a", {1});
  run.At(3, Mode::kTrain).Put("a", {1});
  EXPECT_THAT(run.Fired("UnchangedTensor:tensor_regex=a"), IsEmpty());
  EXPECT_THAT(run.Fired("UnchangedTensor:tensor_regex=a:num_steps=2"),
              ElementsAre(3));
}

TEST(UnchangedTensorTest, NeedsASelectorAndTwoSteps) {
  FakeRun run;
  EXPECT_THROW(run.Judge("UnchangedTensor"), InsufficientInformation);
  EXPECT_THROW(run.Judge("UnchangedTensor:tensor_regex=a:num_steps=1"),
               ConfigError);
}

// A head that learns over a backbone that does not.
FakeRun Backbone(bool with_gradients, bool backbone_has_one) {
  FakeRun run;
  for (int step = 0; step < 6; ++step) {
    run.At(step)
        .Put("backbone.weight", {1, 2})
        .Put("head.weight", {1, 2.0 + step});
    if (with_gradients) run.Put("gradient/head.weight", {0.1});
    if (backbone_has_one) run.Put("gradient/backbone.weight", {0.1});
  }
  return run;
}

TEST(UnchangedTensorTest, RobustTellsAFrozenBackboneFromAStuckOne) {
  const std::string spec =
      "UnchangedTensor:collection_names=weights:robust=true";
  EXPECT_THAT(Backbone(false, false).Fired(spec), IsEmpty());
  EXPECT_THAT(Backbone(true, false).Fired(spec), IsEmpty());
  EXPECT_THAT(Backbone(true, true).Fired(spec), ElementsAre(2, 3, 4, 5));
}

TEST(UnchangedTensorTest, RobustFiresIfNothingEverChanges) {
  FakeRun run;
  for (int step = 0; step < 4; ++step) {
    run.At(step).Put("a.weight", {1}).Put("b.weight", {2});
  }
  EXPECT_THAT(run.Fired("UnchangedTensor:collection_names=weights:robust=true"),
              ElementsAre(2, 3));
}

TEST(UnchangedTensorTest, RobustFiresIfAWeightStopsWhileOthersGoOn) {
  FakeRun run;
  for (int step = 0; step < 8; ++step) {
    run.At(step)
        .Put("a.weight", {std::min(step, 3) * 1.0})
        .Put("b.weight", {step * 1.0});
  }
  EXPECT_THAT(run.Fired("UnchangedTensor:collection_names=weights:robust=true"),
              ElementsAre(5, 6, 7));
}

TEST(UnchangedTensorTest, RobustLeavesALossOfZeroAlone) {
  FakeRun run;
  for (int step = 0; step < 9; ++step) {
    run.At(step).Put("loss", {0}).Put("stuck_loss", {0.7});
  }
  const auto findings =
      run.Judge("UnchangedTensor:collection_names=losses:robust=true");
  ASSERT_EQ(findings.size(), 4U);
  EXPECT_EQ(findings[0].tensor, "stuck_loss");
  EXPECT_EQ(findings[0].step, 5);
}

}  // namespace
}  // namespace smdebug::rules
