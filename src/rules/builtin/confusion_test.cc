#include <algorithm>
#include <vector>

#include "src/rules/builtin/testing.h"

namespace smdebug::rules {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<int64_t> Ten() { return {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}; }

TEST(ConfusionTest, APerfectMatrixIsSilentAndAMistakeFires) {
  FakeRun run;
  run.At(0).PutInts("labels", Ten()).PutInts("predictions", Ten());
  EXPECT_THAT(run.Fired("Confusion"), IsEmpty());
  auto mistaken = Ten();
  mistaken[4] = 7;
  run.At(1).PutInts("labels", Ten()).PutInts("predictions", mistaken);
  EXPECT_THAT(run.Fired("Confusion"), ElementsAre(1));
  EXPECT_THAT(run.Fired("Confusion:min_diag=0:max_off_diag=0.01"),
              ElementsAre(1));
  EXPECT_THAT(run.Fired("Confusion:min_diag=0:max_off_diag=0.5"), IsEmpty());
}

TEST(ConfusionTest, LimitsThemselvesAreHealthy) {
  FakeRun run;
  run.At(0)
      .PutInts("labels", {0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1})
      .PutInts("predictions", {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1});
  EXPECT_THAT(run.Fired("Confusion"), IsEmpty());
  EXPECT_THAT(run.Fired("Confusion:min_diag=0.91"), ElementsAre(0));
  EXPECT_THAT(run.Fired("Confusion:max_off_diag=0.09"), ElementsAre(0));
}

TEST(ConfusionTest, AClassThatIsNeverPredictedHasNothingRight) {
  FakeRun run;
  run.At(0).PutInts("labels", {0, 1}).PutInts("predictions", {0, 0});
  const auto findings = run.Judge("Confusion:min_diag=0.1:max_off_diag=1");
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].value, 0);
}

TEST(ConfusionTest, PairsOutsideTheCategoriesAreLeftOut) {
  FakeRun run;
  run.At(0).PutInts("labels", {0, 1, 5}).PutInts("predictions", {0, 1, 0});
  EXPECT_THAT(run.Fired("Confusion"), ElementsAre(0));
  EXPECT_THAT(run.Fired("Confusion:category_no=2"), IsEmpty());
  EXPECT_THROW(run.Judge("Confusion:category_no=1"), ConfigError);
}

TEST(ConfusionTest, RealPredictionsAreRoundedAndScoresCompared) {
  FakeRun run;
  run.At(0).PutInts("labels", {0, 1}).Put("predictions", {0.4, 0.5});
  run.At(1).PutInts("labels", {0, 1}).Put("predictions", {3, 1, 1, 3}, {2, 2});
  EXPECT_THAT(run.Fired("Confusion"), IsEmpty());
}

TEST(ConfusionTest, CollectionsServeWhereTheNameIsMissing) {
  FakeRun run;
  run.Collect("truth", "^y/").Collect("guess", "^h/");
  run.At(0)
      .PutInts("y/0", {0})
      .PutInts("y/1", {1})
      .PutInts("h/0", {0})
      .PutInts("h/1", {0});
  EXPECT_THAT(run.Fired("Confusion"), IsEmpty());
  EXPECT_THAT(run.Fired("Confusion:labels_collection=truth:"
                        "predictions_collection=guess"),
              ElementsAre(0));
}

TEST(ConfusionTest, RobustFiresOnceTheNetworkNoLongerLearns) {
  FakeRun learns;
  FakeRun stuck;
  for (int64_t step = 0; step < 10; ++step) {
    std::vector<int64_t> labels;
    std::vector<int64_t> better;
    std::vector<int64_t> same;
    for (int64_t i = 0; i < 100; ++i) {
      labels.push_back(i % 2);
      better.push_back(i < 10 * step ? i % 2 : 0);
      same.push_back(0);
    }
    learns.At(step).PutInts("labels", labels).PutInts("predictions", better);
    stuck.At(step).PutInts("labels", labels).PutInts("predictions", same);
  }
  EXPECT_EQ(learns.Fired("Confusion").size(), 9U);
  EXPECT_THAT(learns.Fired("Confusion:robust=true"), IsEmpty());
  EXPECT_THAT(stuck.Fired("Confusion:robust=true"), ElementsAre(9));
}

// Steps of 100 labels, the classes in turn; `predict` tells what is predicted
// for the i-th label of a class.
template <typename Predict>
FakeRun Classified(int steps, int64_t classes, const Predict& predict) {
  FakeRun run;
  for (int step = 0; step < steps; ++step) {
    std::vector<int64_t> labels;
    std::vector<int64_t> predictions;
    for (int64_t i = 0; i < 100; ++i) {
      labels.push_back(i % classes);
      predictions.push_back(predict(i % classes, i / classes));
    }
    run.At(step).PutInts("labels", labels).PutInts("predictions", predictions);
  }
  return run;
}

TEST(ConfusionTest, RobustNeedsFourWindowsAtTheEndAndTwentyBefore) {
  const auto swapped = [](int64_t label, int64_t) { return 1 - label; };
  EXPECT_THAT(Classified(3, 2, swapped).Fired("Confusion:robust=true"),
              IsEmpty());
  EXPECT_THAT(Classified(4, 2, swapped).Fired("Confusion:robust=true"),
              ElementsAre(3));
  EXPECT_THAT(Classified(21, 2, swapped).Fired("Confusion:robust=true"),
              ElementsAre(19, 20));
}

TEST(ConfusionTest, RobustTakesSmallBatchesTogether) {
  FakeRun run;
  for (int step = 0; step < 40; ++step) {
    run.At(step)
        .PutInts("labels", std::vector<int64_t>(10, step % 2))
        .PutInts("predictions", std::vector<int64_t>(10, 1 - step % 2));
  }
  EXPECT_THAT(run.Fired("Confusion:robust=true"), ElementsAre(39));
}

TEST(ConfusionTest, RobustLeavesATaskAloneThatIsUncertainForEveryClass) {
  // Seven of ten are right, whatever the class.
  FakeRun run = Classified(30, 4, [](int64_t label, int64_t i) {
    return i % 10 < 7 ? label : (label + i % 3 + 1) % 4;
  });
  EXPECT_EQ(run.Fired("Confusion").size(), 30U);
  EXPECT_THAT(run.Fired("Confusion:robust=true"), IsEmpty());
}

TEST(ConfusionTest, RobustFiresOnTwoClassesThatAreSwappedAmongOthers) {
  FakeRun run = Classified(30, 5, [](int64_t label, int64_t) {
    return label < 2 ? 1 - label : label;
  });
  EXPECT_EQ(run.Fired("Confusion:robust=true").size(), 11U);
  for (const Finding& finding : run.Judge("Confusion:robust=true")) {
    EXPECT_THAT(finding.message, ::testing::ContainsRegex("class [01]"));
  }
}

TEST(ConfusionTest, RobustFiresIfAllOfTenClassesAreTakenForOne) {
  FakeRun run = Classified(30, 10, [](int64_t, int64_t) { return 0; });
  EXPECT_EQ(run.Fired("Confusion:robust=true").size(), 11U);
}

// More windows than are kept one by one.
TEST(ConfusionTest, RobustGoesOnThroughALongJob) {
  std::vector<int64_t> labels(100, 0);
  std::vector<int64_t> predictions(100, 0);
  std::fill(labels.begin() + 50, labels.end(), 1);
  FakeRun run;
  for (int64_t step = 0; step < 2200; ++step) {
    run.At(step).PutInts("labels", labels).PutInts("predictions", predictions);
  }
  const auto fired = run.Fired("Confusion:robust=true");
  ASSERT_EQ(fired.size(), 2181U);
  EXPECT_EQ(fired.front(), 19);
}

}  // namespace
}  // namespace smdebug::rules
