#include "src/rules/builtin/testing.h"

namespace smdebug::rules {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(AllZeroTest, FiresFromTheThresholdOn) {
  FakeRun run;
  run.At(0).Put("a", {0, 0, 0, 1});
  run.At(1).Put("a", {0, 0, 0, 0});
  run.At(2).Put("a", {0, -0.0, 1, 1});
  EXPECT_THAT(run.Fired("AllZero:tensor_regex=a"), ElementsAre(1));
  EXPECT_THAT(run.Fired("AllZero:tensor_regex=a:threshold=75"),
              ElementsAre(0, 1));
  EXPECT_THAT(run.Fired("AllZero:tensor_regex=a:threshold=50"),
              ElementsAre(0, 1, 2));
}

TEST(AllZeroTest, NeedsASelector) {
  FakeRun run;
  EXPECT_THROW(run.Judge("AllZero"), InsufficientInformation);
  EXPECT_THROW(run.Judge("AllZero:tensor_regex=a:threshold=101"), ConfigError);
}

TEST(AllZeroTest, CountsAndReductionsAreEnough) {
  FakeRun run;
  run.At(0).PutCounts("a", {.count = 4, .zero = 3});
  run.At(1).PutReduction("a", {ReductionOp::kMax, true}, 0);
  run.At(2).PutReduction("a", {ReductionOp::kMax, true}, 0.1);
  run.At(3).PutReduction("a", {ReductionOp::kMin, false}, 0);
  EXPECT_THAT(run.Fired("AllZero:tensor_regex=a:threshold=75"),
              ElementsAre(0, 1));
}

TEST(AllZeroTest, EmptyTensorsAndTextsAreNotJudged) {
  FakeRun run;
  run.At(0).Put("a", {}, {0}).PutTexts("b", {""});
  EXPECT_THAT(run.Fired("AllZero:tensor_regex=."), IsEmpty());
}

TEST(AllZeroTest, RobustLeavesAnInitialZeroAlone) {
  FakeRun run;
  run.At(0).Put("x_bias", {0});
  run.At(1).Put("x_bias", {1});
  for (int step = 2; step < 6; ++step) run.At(step).Put("y_bias", {0});
  EXPECT_THAT(run.Fired("AllZero:collection_names=biases:robust=true"),
              ElementsAre(4, 5));
}

TEST(AllZeroTest, RobustLeavesFrozenWeightsAlone) {
  FakeRun run;
  for (int step = 0; step < 5; ++step) {
    run.At(step)
        .Put("frozen.bias", {0})
        .Put("trained.bias", {0})
        .Put("gradient/trained.bias", {0});
  }
  const auto findings =
      run.Judge("AllZero:collection_names=biases:robust=true");
  ASSERT_EQ(findings.size(), 3U);
  EXPECT_EQ(findings[0].tensor, "trained.bias");
}

TEST(AllZeroTest, RobustLeavesGradientsThatFadedTogetherAlone) {
  FakeRun run;
  run.At(0).Put("gradient/a", {1}).Put("gradient/b", {1});
  for (int step = 1; step < 6; ++step) {
    run.At(step).Put("gradient/a", {0}).Put("gradient/b", {0});
  }
  EXPECT_THAT(run.Fired("AllZero:collection_names=gradients:robust=true"),
              IsEmpty());
}

}  // namespace
}  // namespace smdebug::rules
