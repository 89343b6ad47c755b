#include "src/query/series.h"

#include <cmath>
#include <limits>
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

// 1000 steps of 0, with one spike.
Series SpikeAt(int64_t at, double height) {
  Series series;
  for (int64_t step = 0; step < 1000; ++step) {
    series.steps.push_back(step);
    series.values.push_back(step == at ? height : 0);
  }
  return series;
}

TEST(DownsampleTest, NoSpikeIsLost) {
  for (const int64_t at : {0, 1, 499, 998, 999}) {
    const auto buckets = Downsample(SpikeAt(at, 7), 7);
    ASSERT_THAT(buckets, SizeIs(7));
    int64_t met = 0;
    int64_t count = 0;
    for (const SeriesBucket& bucket : buckets) {
      count += bucket.count;
      if (bucket.max != 7) continue;
      ++met;
      EXPECT_EQ(bucket.max_step, at);
    }
    EXPECT_EQ(met, 1);
    EXPECT_EQ(count, 1000);
  }
}

TEST(DownsampleTest, BucketsFollowEachOther) {
  const auto buckets = Downsample(SpikeAt(3, -1), 3);
  ASSERT_THAT(buckets, SizeIs(3));
  EXPECT_EQ(buckets[0].first_step, 0);
  EXPECT_EQ(buckets[0].last_step + 1, buckets[1].first_step);
  EXPECT_EQ(buckets[1].last_step + 1, buckets[2].first_step);
  EXPECT_EQ(buckets[2].last_step, 999);
  EXPECT_EQ(buckets[0].min, -1);
  EXPECT_EQ(buckets[0].min_step, 3);
}

TEST(DownsampleTest, FewPointsStayAsTheyAre) {
  const auto buckets = Downsample({{5, 9}, {1.5, -2}}, 100);
  ASSERT_THAT(buckets, SizeIs(2));
  EXPECT_EQ(buckets[1].first_step, 9);
  EXPECT_EQ(buckets[1].last_step, 9);
  EXPECT_EQ(buckets[1].count, 1);
  for (const double value :
       {buckets[1].first, buckets[1].last, buckets[1].min, buckets[1].max}) {
    EXPECT_EQ(value, -2);
  }
  EXPECT_THAT(Downsample({}, 10), IsEmpty());
}

TEST(DownsampleTest, WhatIsNotFiniteIsCountedAndHidesNothing) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  constexpr double kInf = std::numeric_limits<double>::infinity();
  const Series series = {{0, 1, 2, 3, 4, 5}, {kNan, 2, kInf, 1, -kInf, kNan}};
  const auto buckets = Downsample(series, 1);
  ASSERT_THAT(buckets, SizeIs(1));
  EXPECT_TRUE(std::isnan(buckets[0].first));
  EXPECT_TRUE(std::isnan(buckets[0].last));
  EXPECT_EQ(buckets[0].min, 1);
  EXPECT_EQ(buckets[0].min_step, 3);
  EXPECT_EQ(buckets[0].max, 2);
  EXPECT_EQ(buckets[0].nan, 2);
  EXPECT_EQ(buckets[0].pos_inf, 1);
  EXPECT_EQ(buckets[0].neg_inf, 1);
  EXPECT_EQ(
      ToJson({.tensor = "x", .series = series}, buckets).dump(),
      R"({"tensor":"x","reduction":null,"mode":"GLOBAL","worker":null,"damaged":[],)"
      R"("buckets":[{"first_step":0,"last_step":5,"count":6,"first":"NaN",)"
      R"("last":"NaN","min":1.0,"max":2.0,"min_step":3,"max_step":1,"nan":2,)"
      R"("pos_inf":1,"neg_inf":1}]})");

  const auto none = Downsample({{8}, {INFINITY}}, 1);
  EXPECT_TRUE(std::isnan(none[0].min));
  EXPECT_EQ(none[0].min_step, 8);
}

TEST(SpreadEvenlyTest, KeepsTheFirstAndTheLast) {
  const std::vector<int64_t> steps = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
  EXPECT_THAT(SpreadEvenly(steps, 4), ElementsAre(0, 3, 6, 9));
  EXPECT_THAT(SpreadEvenly(steps, 1), ElementsAre(9));
  EXPECT_EQ(SpreadEvenly(steps, 0), steps);
  EXPECT_EQ(SpreadEvenly(steps, 11), steps);
}

class SeriesTest : public ::testing::Test {
 protected:
  SeriesTest() {
    made_.run.Declare({"worker_0"});
    for (int64_t step = 0; step < 4; ++step) {
      const auto x = static_cast<float>(step);
      made_.run.At(step)
          .Number("loss", 1 / (x + 1))
          .Tensor("w", {x, x + 2})
          .Number("smdebug/reductions/max/g", x)
          .Number("smdebug/reductions/l2/g", 10 * x)
          .Publish();
    }
    made_.run.End();
    made_.Open();
  }

  TestTrial made_;
};

TEST_F(SeriesTest, ANumberIsItselfAndATensorItsMean) {
  const TensorSeries loss = ReadSeries(*made_.trial, {.tensor = "loss"});
  EXPECT_EQ(loss.reduction, std::nullopt);
  EXPECT_THAT(loss.series.values, ElementsAre(1, 0.5, 1 / 3.0f, 0.25));
  const TensorSeries mean = ReadSeries(*made_.trial, {.tensor = "w"});
  EXPECT_EQ(mean.reduction, Reduction{ReductionOp::kMean});
  EXPECT_THAT(mean.series.values, ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(ReadSeries(*made_.trial, {.tensor = "g:max"}).series.values,
              ElementsAre(0, 1, 2, 3));
  EXPECT_THROW(ReadSeries(*made_.trial, {.tensor = "g"}), Error);
}

TEST_F(SeriesTest, AGlanceReadsLittle) {
  const auto glance = [&](const char* name, size_t steps, int64_t bytes) {
    return GlanceAt(made_.trial->tensor(name), steps, bytes);
  };
  const Glance loss = glance("loss", 2, 1000);
  EXPECT_EQ(loss.what, "value");
  EXPECT_THAT(loss.series.steps, ElementsAre(0, 3));
  EXPECT_THAT(loss.series.values, ElementsAre(1, 0.25));
  EXPECT_EQ(glance("w", 9, 1000).what, "mean");
  EXPECT_EQ(glance("w", 9, 0).what, "");
  // A saved reduction costs nothing, and the norm says more than the maximum.
  const Glance reduced = glance("g", 9, 0);
  EXPECT_EQ(reduced.what, "l2");
  EXPECT_THAT(reduced.series.values, ElementsAre(0, 10, 20, 30));
}

}  // namespace
}  // namespace smdebug::query
