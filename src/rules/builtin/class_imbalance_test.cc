#include "src/rules/builtin/testing.h"

namespace smdebug::rules {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<int64_t> Labels(size_t zeros, size_t ones) {
  std::vector<int64_t> labels(zeros, 0);
  labels.insert(labels.end(), ones, 1);
  return labels;
}

TEST(ClassImbalanceTest, NineHundredNinetyToTen) {
  FakeRun run;
  run.At(3)
      .PutInts("labels", Labels(990, 10))
      .PutInts("predictions", Labels(990, 10));
  const auto findings = run.Judge("ClassImbalance");
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].step, 3);
  EXPECT_EQ(findings[0].value, 99);
  EXPECT_THAT(run.Fired("ClassImbalance:threshold_imbalance=99"), IsEmpty());
  EXPECT_THAT(run.Fired("ClassImbalance:robust=true"), ElementsAre(3));
}

TEST(ClassImbalanceTest, WaitsForEnoughLabelsOfAMode) {
  FakeRun run;
  for (int step = 0; step < 6; ++step) {
    run.At(step, step % 2 == 0 ? Mode::kTrain : Mode::kEval)
        .PutInts("labels", Labels(190, 10));
  }
  EXPECT_THAT(run.Fired("ClassImbalance"), ElementsAre(4, 5));
  EXPECT_THAT(run.Fired("ClassImbalance:samples=200"),
              ElementsAre(0, 1, 2, 3, 4, 5));
}

TEST(ClassImbalanceTest, AClassThatIsMostlyMispredicted) {
  FakeRun run;
  std::vector<int64_t> predictions = Labels(250, 250);
  for (size_t i = 250; i < 425; ++i) predictions[i] = 0;  // 0.7 of class 1.
  run.At(0)
      .PutInts("labels", Labels(250, 250))
      .PutInts("predictions", predictions);
  EXPECT_THAT(run.Fired("ClassImbalance"), IsEmpty());
  predictions[425] = 0;
  run.At(1)
      .PutInts("labels", Labels(250, 250))
      .PutInts("predictions", predictions);
  const auto findings = run.Judge("ClassImbalance");
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].tensor, "predictions");
  EXPECT_THAT(findings[0].message, HasSubstr("class 1"));
}

TEST(ClassImbalanceTest, OnlyLabelsWithPredictionsAreMispredicted) {
  FakeRun run;
  run.At(0).PutInts("labels", Labels(200, 200));
  run.At(1)
      .PutInts("labels", Labels(100, 100))
      .PutInts("predictions", Labels(200, 0));
  EXPECT_THAT(run.Fired("ClassImbalance"), ElementsAre(1));
  run.At(2)
      .PutInts("labels", Labels(100, 0))
      .PutInts("predictions", Labels(99, 0));
  EXPECT_EQ(run.Judge("ClassImbalance").back().value, 1);
}

TEST(ClassImbalanceTest, PredictionsAreRoundedOrTheLargestScore) {
  FakeRun run;
  run.At(0)
      .PutInts("labels", {0, 1, 1, 1})
      .Put("predictions", {0.49, 0.5, 0.9, 1});
  EXPECT_THAT(run.Fired("ClassImbalance:samples=4"), IsEmpty());
  FakeRun scores;
  scores.At(0)
      .Put("labels", {1, 0, 0, 1}, {2, 2})  // One-hot.
      .Put("predictions", {3, 1, 1, 3}, {2, 2});
  EXPECT_THAT(scores.Fired("ClassImbalance:samples=2:argmax=true"), IsEmpty());
  // Without it there are four predictions for two labels.
  EXPECT_THAT(scores.Fired("ClassImbalance:samples=2"), IsEmpty());
  scores.At(1)
      .Put("labels", {1, 0, 0, 1}, {2, 2})
      .Put("predictions", {1, 3, 3, 1}, {2, 2});
  EXPECT_THAT(scores.Fired("ClassImbalance:samples=2:argmax=true:"
                           "threshold_misprediction=0.4"),
              ElementsAre(1));
}

TEST(ClassImbalanceTest, InputsOfPyTorchsLossServeWithoutOthers) {
  FakeRun run;
  run.At(0)
      .PutInts("CrossEntropyLoss_input_1", {0, 1})
      .Put("CrossEntropyLoss_input_0", {1, 2, 2, 1}, {2, 2});
  const auto findings = run.Judge("ClassImbalance:samples=2");
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].tensor, "CrossEntropyLoss_input_0");
}

TEST(ClassImbalanceTest, RobustLeavesAnUntrainedNetworkAndFewSamplesAlone) {
  FakeRun run;
  std::vector<int64_t> hundred_classes;
  for (int64_t i = 0; i < 600; ++i) {
    hundred_classes.push_back(i < 20 ? 0 : i % 99 + 1);
  }
  hundred_classes[599] = 100;
  run.At(0)
      .PutInts("labels", hundred_classes)
      .PutInts("predictions", std::vector<int64_t>(600));
  EXPECT_THAT(run.Fired("ClassImbalance"), ElementsAre(0));
  EXPECT_THAT(run.Fired("ClassImbalance:robust=true"), IsEmpty());
}

TEST(ClassImbalanceTest, RobustFiresOnAClassThatIsNeverLearnt) {
  FakeRun run;
  std::vector<int64_t> predictions = Labels(400, 100);
  for (size_t i = 400; i < 490; ++i) predictions[i] = 0;
  for (int step = 0; step < 10; ++step) {
    run.At(step)
        .PutInts("labels", Labels(400, 100))
        .PutInts("predictions", predictions);
  }
  EXPECT_THAT(run.Fired("ClassImbalance:robust=true"), ElementsAre(8, 9));
}

}  // namespace
}  // namespace smdebug::rules
