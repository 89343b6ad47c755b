#include "smdebug/internal/xgboost_text.h"

#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace smdebug {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::IsNan;
using ::testing::Pair;

constexpr std::string_view kTree =
    "0:[f1<0.5] yes=1,no=2,missing=1,gain=12.5,cover=100\n"
    "\t1:leaf=-0.25,cover=40\n"
    "\t2:[f0:{0,2}] yes=3,no=4,missing=4,gain=3,cover=60\n"
    "\t\t4:leaf=0.5,cover=20\n"
    "\t\t3:leaf=1e-05,cover=40\n";

TEST(XgboostTextTest, NodesAreRowsInOrder) {
  const XgboostTrees trees = ParseXgboostTrees(
      std::vector{kTree}, 7, std::vector<std::string>{"a", "b"});
  EXPECT_THAT(trees.tree, ElementsAre(7, 7, 7, 7, 7));
  EXPECT_THAT(trees.node, ElementsAre(0, 1, 2, 3, 4));
  EXPECT_THAT(trees.id, ElementsAre("7-0", "7-1", "7-2", "7-3", "7-4"));
  EXPECT_THAT(trees.feature, ElementsAre("b", "Leaf", "a", "Leaf", "Leaf"));
  EXPECT_THAT(trees.split,
              ElementsAre(0.5, IsNan(), IsNan(), IsNan(), IsNan()));
  EXPECT_THAT(trees.yes, ElementsAre("7-1", "nan", "7-3", "nan", "nan"));
  EXPECT_THAT(trees.no, ElementsAre("7-2", "nan", "7-4", "nan", "nan"));
  EXPECT_THAT(trees.missing, ElementsAre("7-1", "nan", "7-4", "nan", "nan"));
  EXPECT_THAT(trees.gain, ElementsAre(12.5, -0.25, 3, 1e-05, 0.5));
  EXPECT_THAT(trees.cover, ElementsAre(100, 40, 60, 40, 20));
  EXPECT_THAT(trees.category, ElementsAre("nan", "nan", "0,2", "nan", "nan"));
}

TEST(XgboostTextTest, EachDumpIsATree) {
  const XgboostTrees trees = ParseXgboostTrees(
      std::vector<std::string_view>{"0:leaf=1\n", "0:leaf=2"}, 4);
  EXPECT_THAT(trees.id, ElementsAre("4-0", "5-0"));
  EXPECT_THAT(trees.gain, ElementsAre(1, 2));
  EXPECT_THAT(trees.cover, ElementsAre(IsNan(), IsNan())) << "no statistics";
}

TEST(XgboostTextTest, NamesOfFeaturesAreOfAnyKind) {
  const XgboostTrees trees = ParseXgboostTrees(
      std::vector<std::string_view>{
          "0:[a<b] yes=1,no=2<1.5] yes=1,no=2,missing=1\n1:[flag] yes=5,no=6\n"
          "2:[f9<1] yes=3,no=4,missing=3\n"},
      0, std::vector<std::string>{"only"});
  EXPECT_THAT(trees.feature, ElementsAre("a<b] yes=1,no=2", "flag", "f9"));
  EXPECT_THAT(trees.split, ElementsAre(1.5, IsNan(), 1));
  EXPECT_THAT(trees.missing, ElementsAre("0-1", "nan", "0-3"));
}

TEST(XgboostTextTest, WhatIsNoNodeIsPassedOver) {
  const XgboostTrees trees = ParseXgboostTrees(
      std::vector<std::string_view>{"booster[0]:\nx:leaf=1\n\n0:\n1:[f0<1]\n",
                                    ""},
      0);
  EXPECT_THAT(trees.node, IsEmpty());
}

TEST(XgboostTextTest, ALeafWithSeveralOutputsHasNoValue) {
  const XgboostTrees trees =
      ParseXgboostTrees(std::vector<std::string_view>{"0:leaf=[0.5,0.25]"}, 0);
  EXPECT_THAT(trees.gain, ElementsAre(IsNan()));
}

TEST(XgboostTextTest, MetricsHaveNamesOfAnyKind) {
  EXPECT_THAT(
      ParseXgboostMetrics(
          "[12]\ttrain-rmse:0.5\tvalidation_0-error@0.3:0.125\ta:b-ndcg@5:nan"),
      ElementsAre(Pair("train-rmse", 0.5),
                  Pair("validation_0-error@0.3", 0.125),
                  Pair("a:b-ndcg@5", IsNan())));
  EXPECT_THAT(ParseXgboostMetrics("[0]"), IsEmpty());
  EXPECT_THAT(ParseXgboostMetrics(""), IsEmpty());
}

}  // namespace
}  // namespace smdebug
