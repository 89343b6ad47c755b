#include "src/rules/builtin/testing.h"

namespace smdebug::rules {
namespace {

using ::testing::ElementsAre;

TEST(TensorVarianceTest, FiresOutsideTheLimitsOnly) {
  FakeRun run;
  run.At(0).Put("a", {0, 4});  // The population's variance is 4.
  run.At(1).Put("a", {0, 5});
  run.At(2).Put("a", {0, 1});
  EXPECT_THAT(run.Fired("TensorVariance:tensor_regex=a:max_threshold=4"),
              ElementsAre(1));
  EXPECT_THAT(run.Fired("TensorVariance:tensor_regex=a:min_threshold=4"),
              ElementsAre(2));
  EXPECT_THAT(run.Fired("TensorVariance:tensor_regex=a:max_threshold=4:min_"
                        "threshold=4"),
              ElementsAre(1, 2));
}

TEST(TensorVarianceTest, UsesTheSavedReductionAsItIs) {
  FakeRun run;
  run.At(0)
      .Put("a", {0, 4})
      .PutReduction("a", {ReductionOp::kVariance}, 8)
      .Put("b", {std::nan("")});
  const auto findings =
      run.Judge("TensorVariance:tensor_regex=.:max_threshold=4");
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].value, 8);
}

TEST(TensorVarianceTest, NeedsASelectorAndALimit) {
  FakeRun run;
  EXPECT_THROW(run.Judge("TensorVariance:max_threshold=4"),
               InsufficientInformation);
  EXPECT_THROW(run.Judge("TensorVariance:tensor_regex=a"),
               InsufficientInformation);
}

TEST(TensorVarianceTest, RobustWaitsForThreeInARow) {
  FakeRun run;
  for (int step = 0; step < 7; ++step) {
    run.At(step).Put("a", {0, step == 2 ? 1.0 : 9.0});
  }
  EXPECT_THAT(
      run.Fired("TensorVariance:tensor_regex=a:max_threshold=4:robust=true"),
      ElementsAre(5, 6));
}

}  // namespace
}  // namespace smdebug::rules
