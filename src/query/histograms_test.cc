#include "src/query/histograms.h"

#include <cmath>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "smdebug/error.h"
#include "tests/testing/trial_run.h"

namespace smdebug::query {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using testing::TestTrial;

std::vector<int64_t> CountsOf(const StepHistogram& histogram) {
  std::vector<int64_t> counts;
  for (const Bin& bin : histogram.bins) counts.push_back(bin.count);
  return counts;
}

std::vector<int64_t> StepsOf(const TensorHistograms& histograms) {
  std::vector<int64_t> steps;
  for (const auto& histogram : histograms.steps) {
    steps.push_back(histogram.step);
  }
  return steps;
}

// "w" grows with the steps; of "g" the reductions were saved, at steps below 3
// with min and max.
class HistogramsTest : public ::testing::Test {
 protected:
  HistogramsTest() {
    made_.run.Declare({"worker_0"});
    for (int64_t step = 0; step < 5; ++step) {
      const auto x = static_cast<float>(step);
      auto saved = made_.run.At(step);
      saved.Tensor("w", {0, x, x, 2 * x, NAN});
      saved.Number("smdebug/reductions/mean/g", x);
      if (step < 3) {
        saved.Number("smdebug/reductions/min/g", -1 - x);
        saved.Number("smdebug/reductions/max/g", x);
        saved.index.counts.push_back({"g", {.count = 6, .nan = 1}});
      }
      saved.Shape("bare", {2}, "bare");
      saved.Publish();
    }
    made_.run.End();
    made_.Open();
  }

  TensorHistograms Read(const HistogramQuery& query) {
    return ReadHistograms(*made_.trial, query);
  }

  TestTrial made_;
};

TEST_F(HistogramsTest, EachStepHasBinsOfItsOwnRange) {
  const TensorHistograms all = Read({.tensor = "w", .bins = 4});
  EXPECT_THAT(StepsOf(all), ElementsAre(0, 1, 2, 3, 4));
  EXPECT_THAT(CountsOf(all.steps[0]), ElementsAre(4));
  EXPECT_THAT(CountsOf(all.steps[3]), ElementsAre(1, 0, 2, 1));
  EXPECT_EQ(all.steps[3].bins.back().high, 6);
  EXPECT_EQ(all.steps[3].summary.nan, 1);
  EXPECT_TRUE(all.steps[3].from_value);
}

TEST_F(HistogramsTest, ACommonRangeHasTheSameBinsAtEveryStep) {
  const TensorHistograms all =
      Read({.tensor = "w", .bins = 4, .common_range = true});
  for (const StepHistogram& histogram : all.steps) {
    ASSERT_THAT(histogram.bins, SizeIs(4));
    EXPECT_EQ(histogram.bins.front().low, 0);
    EXPECT_EQ(histogram.bins.back().high, 8);
  }
  EXPECT_THAT(CountsOf(all.steps[0]), ElementsAre(4, 0, 0, 0));
  EXPECT_THAT(CountsOf(all.steps[2]), ElementsAre(1, 2, 1, 0));
  EXPECT_EQ(all.steps[2].summary.max, 4);
}

TEST_F(HistogramsTest, StepsAreThoseAskedFor) {
  EXPECT_THAT(StepsOf(Read({.tensor = "w", .steps = {1, 3}})),
              ElementsAre(1, 3));
  EXPECT_THAT(StepsOf(Read({.tensor = "w", .most_steps = 3})),
              ElementsAre(0, 2, 4));
  EXPECT_THROW(Read({.tensor = "w", .steps = {1, 9}}), Error);
}

TEST_F(HistogramsTest, ReductionsTellTheRange) {
  const TensorHistograms all = Read({.tensor = "g"});
  ASSERT_THAT(all.steps, SizeIs(5));
  EXPECT_FALSE(all.steps[2].from_value);
  ASSERT_THAT(all.steps[2].bins, SizeIs(1));
  EXPECT_EQ(all.steps[2].bins[0].low, -3);
  EXPECT_EQ(all.steps[2].bins[0].high, 2);
  EXPECT_EQ(all.steps[2].bins[0].count, 5);
  EXPECT_EQ(all.steps[2].summary.mean, 2);
  EXPECT_TRUE(std::isnan(all.steps[2].summary.std));
  EXPECT_THAT(all.steps[4].bins, IsEmpty());
  EXPECT_EQ(all.steps[4].summary.mean, 4);
}

TEST_F(HistogramsTest, WhatHasNothingToCountIsRefused) {
  EXPECT_THROW(Read({.tensor = "bare"}), Error);
  EXPECT_THROW(Read({.tensor = "nothing"}), Error);
  EXPECT_THROW(Read({.tensor = "w", .bins = 0}), Error);
}

TEST_F(HistogramsTest, JsonHasTheSameNumbers) {
  const Json json = ToJson(Read({.tensor = "w", .steps = {2}, .bins = 2}));
  EXPECT_EQ(
      json.dump(),
      R"({"tensor":"w","mode":"GLOBAL","worker":null,"steps":[{"step":2,)"
      R"("from":"value","statistics":{"count":5,"zero":1,"nan":1,"pos_inf":0,)"
      R"("neg_inf":0,"min":0.0,"max":4.0,"mean":2.0,"std":1.4142135623730951,)"
      R"("l2":4.898979485566356},"bins":[{"low":0.0,"high":2.0,"count":1},)"
      R"({"low":2.0,"high":4.0,"count":3}]}]})");
  EXPECT_EQ(ToJson(Read({.tensor = "g"}))["steps"][4]["statistics"]["min"],
            "NaN");
}

}  // namespace
}  // namespace smdebug::query
