#include "src/rules/builtin/testing.h"

namespace smdebug::rules {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(VanishingGradientTest, FiresBelowTheThresholdOnly) {
  FakeRun run;
  run.At(0).Put("gradient/a.weight", {1e-7, -1e-7});
  run.At(1).Put("gradient/a.weight", {0.9e-7, -0.9e-7});
  EXPECT_THAT(run.Fired("VanishingGradient"), ElementsAre(1));
  EXPECT_THAT(run.Fired("VanishingGradient:threshold=1"), ElementsAre(0, 1));
}

TEST(VanishingGradientTest, NamesTensorAndValue) {
  FakeRun run;
  run.At(3).Put("gradient/a.weight", {1}).Put("gradient/b.weight", {0});
  const auto findings = run.Judge("VanishingGradient");
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].tensor, "gradient/b.weight");
  EXPECT_EQ(findings[0].value, 0);
  EXPECT_EQ(findings[0].threshold, 1e-7);
  EXPECT_THAT(findings[0].message, HasSubstr("below 1e-07"));
}

TEST(VanishingGradientTest, JudgesASavedReduction) {
  FakeRun run;
  run.At(0).PutReduction("gradient/a", {ReductionOp::kMean, true}, 1e-9);
  run.At(1).PutReduction("gradient/a", {ReductionOp::kMean, false}, 1e-9);
  EXPECT_THAT(run.Fired("VanishingGradient"), ElementsAre(0));
}

TEST(VanishingGradientTest, NanNeverFires) {
  FakeRun run;
  run.At(0).Put("gradient/a", {std::nan("")});
  EXPECT_THAT(run.Fired("VanishingGradient"), IsEmpty());
}

TEST(VanishingGradientTest, RobustWaitsForThreeStepsWhileOthersLearn) {
  FakeRun run;
  for (int step = 0; step < 5; ++step) {
    run.At(step)
        .Put("gradient/head.weight", {0.1})
        .Put("gradient/first.weight", {1e-9})
        .Put("gradient/first.bias", {1e-10});
  }
  EXPECT_THAT(run.Fired("VanishingGradient:robust=true"), ElementsAre(2, 3, 4));
}

TEST(VanishingGradientTest, RobustLeavesABiasBeforeANormalisationAlone) {
  FakeRun run;
  for (int step = 0; step < 5; ++step) {
    run.At(step)
        .Put("gradient/conv.weight", {0.1})
        .Put("gradient/conv.bias", {1e-10});
  }
  EXPECT_THAT(run.Fired("VanishingGradient:robust=true"), IsEmpty());
}

TEST(VanishingGradientTest, RobustLeavesARunThatConvergedAlone) {
  FakeRun run;
  run.At(0).Put("gradient/a.weight", {0.1}).Put("gradient/b.weight", {0.1});
  for (int step = 1; step < 9; ++step) {
    run.At(step)
        .Put("gradient/a.weight", {1e-9})
        .Put("gradient/b.weight", {2e-8});
  }
  EXPECT_THAT(run.Fired("VanishingGradient:robust=true"), IsEmpty());
}

TEST(VanishingGradientTest, RobustFiresIfEverythingWasSmallFromTheBeginning) {
  FakeRun run;
  for (int step = 0; step < 4; ++step) run.At(step).Put("gradient/a.w", {1e-9});
  EXPECT_THAT(run.Fired("VanishingGradient:robust=true"), ElementsAre(2, 3));
}

TEST(VanishingGradientTest, RobustDoesNotCountZerosOfUnusedRows) {
  FakeRun run;
  std::vector<double> rows(10000);
  rows[7] = 5e-4;
  for (int step = 0; step < 5; ++step) {
    run.At(step)
        .Put("gradient/emb.weight", rows)
        .Put("gradient/head.weight", {0.1});
  }
  EXPECT_THAT(run.Fired("VanishingGradient"), ElementsAre(0, 1, 2, 3, 4));
  EXPECT_THAT(run.Fired("VanishingGradient:robust=true"), IsEmpty());
}

TEST(VanishingGradientTest, RefusesABadThreshold) {
  FakeRun run;
  try {
    run.Judge("VanishingGradient:threshold=-1");
    FAIL() << "accepted";
  } catch (const ConfigError& error) {
    EXPECT_EQ(error.key(), "VanishingGradient.threshold");
    EXPECT_EQ(error.value(), "-1");
    EXPECT_EQ(error.allowed(), "a number of at least 0");
  }
  EXPECT_THROW(run.Judge("VanishingGradient:treshold=1"), ConfigError);
}

}  // namespace
}  // namespace smdebug::rules
