#include "src/rules/builtin/testing.h"

namespace smdebug::rules {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(WeightUpdateRatioTest, ComparesWithTheSavedStepBefore) {
  FakeRun run;
  run.At(0).Put("a.weight", {3, 4});
  run.At(500).Put("a.weight", {3, 4});
  const auto findings = run.Judge("WeightUpdateRatio");
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].step, 500);
  EXPECT_EQ(findings[0].value, 0);
  EXPECT_EQ(findings[0].threshold, 1e-8);
  EXPECT_EQ(findings[0].message,
            "the update is 0 times the weight, below 1e-08");
  EXPECT_THAT(run.Fired("WeightUpdateRatio", 500), ElementsAre(500));
}

TEST(WeightUpdateRatioTest, FiresAboveTheLargeThresholdOnly) {
  FakeRun run;
  run.At(0).Put("a.weight", {1});
  run.At(1).Put("a.weight", {11});   // 10.
  run.At(2).Put("a.weight", {132});  // 11.
  EXPECT_THAT(run.Fired("WeightUpdateRatio:epsilon=0"), ElementsAre(2));
  EXPECT_EQ(run.Judge("WeightUpdateRatio:epsilon=0").at(0).message,
            "the update is 11 times the weight, above 10");
}

TEST(WeightUpdateRatioTest, NumStepsTakesTheOldestWithin) {
  FakeRun run;
  run.At(0).Put("a.weight", {1});
  run.At(2).Put("a.weight", {2});
  run.At(4).Put("a.weight", {4});
  const auto ratio = [&](const std::string& spec) {
    return run.Judge(spec + ":epsilon=0:large_threshold=0").back().value;
  };
  EXPECT_EQ(ratio("WeightUpdateRatio"), 1);
  EXPECT_EQ(ratio("WeightUpdateRatio:num_steps=2"), 1);
  EXPECT_EQ(ratio("WeightUpdateRatio:num_steps=4"), 3);
  EXPECT_THAT(run.Judge("WeightUpdateRatio:num_steps=1:large_threshold=0"),
              IsEmpty());
}

TEST(WeightUpdateRatioTest, JudgingThatBeginsLaterKnowsWhatCameBefore) {
  FakeRun run;
  run.At(0, Mode::kTrain).Put("a.weight", {1});
  run.At(1, Mode::kTrain).Put("a.weight", {2});
  run.At(2, Mode::kEval).Put("a.weight", {9});
  run.At(3, Mode::kTrain).Put("a.weight", {8});
  const auto ratio = [&](const std::string& parameters) {
    const auto findings =
        run.Judge("WeightUpdateRatio:large_threshold=0:epsilon=0" + parameters,
                  /*start=*/3);
    EXPECT_EQ(findings.size(), 1U);
    return findings.empty() ? 0 : findings[0].value;
  };
  EXPECT_EQ(ratio(""), 3);
  EXPECT_EQ(ratio(":num_steps=1"), 3);
  EXPECT_EQ(ratio(":num_steps=2"), 7);
}

TEST(WeightUpdateRatioTest, ZeroBeforeAndOtherModesAreLeftOut) {
  FakeRun run;
  run.At(0, Mode::kTrain).Put("a.weight", {0}).Put("b.weight", {1});
  run.At(1, Mode::kEval).Put("a.weight", {0}).Put("b.weight", {1});
  run.At(2, Mode::kPredict).Put("b.weight", {1});
  run.At(3, Mode::kTrain).Put("a.weight", {0}).Put("b.weight", {2});
  EXPECT_THAT(run.Fired("WeightUpdateRatio"), IsEmpty());
}

TEST(WeightUpdateRatioTest, NanAndReductionsAreNotJudged) {
  FakeRun run;
  for (int step = 0; step < 3; ++step) {
    run.At(step)
        .Put("a.weight", {std::nan("")})
        .PutReduction("b.weight", {ReductionOp::kL2}, 1);
  }
  EXPECT_THAT(run.Fired("WeightUpdateRatio"), IsEmpty());
}

TEST(WeightUpdateRatioTest, RobustTellsFrozenFromStuck) {
  FakeRun run;
  for (int step = 0; step < 6; ++step) {
    run.At(step)
        .Put("frozen.weight", {1, 1})
        .Put("stuck.weight", {1, 1})
        .Put("head.weight", {1, 1.0 + step})
        .Put("gradient/stuck.weight", {0.1, 0.1})
        .Put("gradient/head.weight", {0.1, 0.1});
  }
  EXPECT_THAT(run.Fired("WeightUpdateRatio"), ElementsAre(1, 2, 3, 4, 5));
  const auto findings = run.Judge("WeightUpdateRatio:robust=true");
  ASSERT_EQ(findings.size(), 3U);
  EXPECT_EQ(findings[0].tensor, "stuck.weight");
  EXPECT_EQ(findings[0].step, 3);
}

TEST(WeightUpdateRatioTest, RobustLeavesAConvergedRunAlone) {
  FakeRun run;
  for (int step = 0; step < 9; ++step) {
    run.At(step)
        .Put("a.weight", {step == 0 ? 1.0 : 2.0})
        .Put("gradient/a.weight", {step == 0 ? 0.1 : 1e-5});
  }
  EXPECT_THAT(run.Fired("WeightUpdateRatio:robust=true"), IsEmpty());
}

TEST(WeightUpdateRatioTest, RobustFiresOnAHugeUpdateButNotOnASmallWeight) {
  FakeRun run;
  run.At(0).Put("scale.weight", {1e-6}).Put("a.weight", {0.1});
  run.At(1).Put("scale.weight", {1e-3}).Put("a.weight", {-50});
  const auto findings = run.Judge("WeightUpdateRatio:robust=true");
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].tensor, "a.weight");
}

TEST(WeightUpdateRatioTest, KerasGradientsBelongToTheirWeights) {
  FakeRun run;
  run.Collect("gradients", "^gradients/");
  run.Collect("weights", "/weights/");
  for (int step = 0; step < 4; ++step) {
    run.At(step)
        .Put("dense/weights/dense/kernel:0", {1})
        .Put("other/weights/other/kernel:0", {1})
        .Put("gradients/dense/kernelGrad", {0.1});
  }
  const auto findings = run.Judge("WeightUpdateRatio:robust=true");
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].tensor, "dense/weights/dense/kernel:0");
}

}  // namespace
}  // namespace smdebug::rules
