#include "src/rules/reports/xgboost_report_statistics.h"

#include <cmath>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace smdebug::rules {
namespace {

using ::testing::ElementsAre;
using ::testing::Optional;
using ::testing::Pair;

using Classes = std::vector<int64_t>;
using Values = std::vector<double>;

TEST(ClassifyTest, CountsAndScoresAreThoseOfTheDefinition) {
  // Class 0: 3 labels, 2 right; 1: 2 labels, 1 right; 2: 1 label, right. Class
  // 0 is predicted three times, 1 once, 2 twice.
  const Classification result =
      Classify(Classes{0, 0, 0, 1, 1, 2}, Classes{0, 0, 2, 1, 0, 2});
  EXPECT_DOUBLE_EQ(result.accuracy, 4.0 / 6);
  ASSERT_EQ(result.classes.size(), 3u);
  EXPECT_DOUBLE_EQ(result.classes[0].scores.precision, 2.0 / 3);
  EXPECT_DOUBLE_EQ(result.classes[0].scores.recall, 2.0 / 3);
  EXPECT_DOUBLE_EQ(result.classes[0].scores.f1, 2.0 / 3);
  EXPECT_DOUBLE_EQ(result.classes[1].scores.precision, 1);
  EXPECT_DOUBLE_EQ(result.classes[1].scores.recall, 0.5);
  EXPECT_DOUBLE_EQ(result.classes[1].scores.f1, 2.0 / 3);
  EXPECT_DOUBLE_EQ(result.classes[2].scores.precision, 0.5);
  EXPECT_DOUBLE_EQ(result.classes[2].scores.recall, 1);
  EXPECT_DOUBLE_EQ(result.micro.precision, 4.0 / 6);
  EXPECT_DOUBLE_EQ(result.micro.f1, 4.0 / 6);
  EXPECT_DOUBLE_EQ(result.macro.precision, (2.0 / 3 + 1 + 0.5) / 3);
  EXPECT_DOUBLE_EQ(result.macro.recall, (2.0 / 3 + 0.5 + 1) / 3);
  EXPECT_DOUBLE_EQ(result.macro.f1, 2.0 / 3);
  EXPECT_DOUBLE_EQ(result.weighted.precision, (3 * 2.0 / 3 + 2 + 0.5) / 6);
  EXPECT_DOUBLE_EQ(result.weighted.recall, (3 * 2.0 / 3 + 2 * 0.5 + 1) / 6);
}

TEST(ClassifyTest, AClassThatIsNeverPredictedScoresZero) {
  const Classification result = Classify(Classes{0, 1}, Classes{0, 0});
  EXPECT_EQ(result.classes[1].scores.precision, 0);
  EXPECT_EQ(result.classes[1].scores.recall, 0);
  EXPECT_EQ(result.classes[1].scores.f1, 0);
}

TEST(ClassifyTest, SamplesWithoutAClassDoNotCount) {
  EXPECT_EQ(Classify(Classes{0, -1, 1}, Classes{0, 0, -1}).matrix.pairs(), 1);
  EXPECT_TRUE(Classify(Classes{-1}, Classes{0}).classes.empty());
}

TEST(RocCurveTest, AreaIsThePartOfPairsInTheRightOrder) {
  // Of the four pairs three are in order.
  const auto curve =
      MakeRocCurve(Classes{0, 0, 1, 1}, Values{0.1, 0.4, 0.35, 0.8});
  ASSERT_TRUE(curve);
  EXPECT_DOUBLE_EQ(curve->area, 0.75);
  EXPECT_THAT(curve->points,
              ElementsAre(Pair(0, 0), Pair(0, 0.5), Pair(0.5, 0.5),
                          Pair(0.5, 1), Pair(1, 1)));
}

TEST(RocCurveTest, EqualScoresCountAsHalf) {
  const auto curve = MakeRocCurve(Classes{0, 1, 0, 1}, Values{1, 1, 1, 1});
  ASSERT_TRUE(curve);
  EXPECT_DOUBLE_EQ(curve->area, 0.5);
  EXPECT_THAT(curve->points, ElementsAre(Pair(0, 0), Pair(1, 1)));
}

TEST(RocCurveTest, OneClassOrNanHasNone) {
  EXPECT_FALSE(MakeRocCurve(Classes{1, 1}, Values{0, 1}));
  EXPECT_FALSE(MakeRocCurve(Classes{0, 1}, Values{0, std::nan("")}));
}

TEST(BinsTest, TheLastBinHasItsEnd) {
  const auto bins = BinsOver(Values{0, 10, 5, std::nan("")}, 5);
  ASSERT_TRUE(bins);
  EXPECT_EQ(bins->Edge(1), 2);
  EXPECT_THAT(CountIn(*bins, Values{0, 1.9, 2, 10, -3, 12, std::nan("")}),
              ElementsAre(3, 1, 0, 0, 2));
}

TEST(BinsTest, OneValueIsOneBinAndNothingIsNone) {
  EXPECT_EQ(BinsOver(Values{3, 3}, 10)->count, 1u);
  EXPECT_FALSE(BinsOver(Values{}, 10));
  EXPECT_FALSE(BinsOver(Values{std::nan("")}, 10));
}

TEST(BinsTest, ErrorsAreMeansOverTheLabelsOfABin) {
  const Values labels = {0, 1, 4, 10};
  const auto bins = BinsOver(labels, 2);
  EXPECT_THAT(ErrorIn(*bins, labels, Values{1, -1, 4, 13}),
              ElementsAre(Optional(1.0), Optional(3.0)));
  EXPECT_THAT(ErrorIn(*bins, Values{0}, Values{2}),
              ElementsAre(Optional(2.0), std::nullopt));
}

}  // namespace
}  // namespace smdebug::rules
