#include "src/reduce/histogram.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "smdebug/error.h"
#include "src/reduce/buckets.h"
#include "src/reduce/testing.h"

namespace smdebug::reduce {
namespace {

using testing::Dense;
using testing::Elements;
using ::testing::ElementsAre;
using testing::Mix;

Histogram Of(const std::vector<double>& values) {
  return MakeHistogram(Dense<double>(values).view);
}

// The definition, by binary search and without any merging.
std::vector<double> EdgesByDefinition() {
  std::vector<double> edges = {0};
  double edge = 1e-12;
  while (edge < 1e20) {
    edges.push_back(edge);
    edges.push_back(-edge);
    edge *= 1.1;
  }
  std::ranges::sort(edges);
  return edges;
}

std::vector<double> CountsByDefinition(const std::vector<double>& values) {
  static const std::vector<double> kEdges = EdgesByDefinition();
  std::vector<double> counts(kEdges.size() - 1);
  for (const double x : values) {
    if (!std::isfinite(x)) continue;
    const auto right = std::upper_bound(kEdges.begin(), kEdges.end(), x);
    const auto bucket =
        std::clamp<ptrdiff_t>(right - kEdges.begin() - 1, 0,
                              static_cast<ptrdiff_t>(counts.size()) - 1);
    ++counts[static_cast<size_t>(bucket)];
  }
  return counts;
}

// The counts of all buckets, spread out again. Checks the form on the way.
std::vector<double> Expand(const Histogram& h) {
  const std::vector<double> edges = EdgesByDefinition();
  std::vector<double> counts(edges.size() - 1);
  EXPECT_EQ(h.limits.size(), h.counts.size());
  if (h.limits.empty()) return counts;
  EXPECT_EQ(h.counts[0], 0);
  EXPECT_GT(h.counts[1], 0);
  EXPECT_GT(h.counts.back(), 0);
  for (size_t i = 1; i < h.limits.size(); ++i) {
    EXPECT_LT(h.limits[i - 1], h.limits[i]);
    const auto left = std::ranges::lower_bound(edges, h.limits[i - 1]);
    const auto right = std::ranges::lower_bound(edges, h.limits[i]);
    EXPECT_EQ(*left, h.limits[i - 1]);
    EXPECT_EQ(*right, h.limits[i]);
    if (h.counts[i] == 0) {
      EXPECT_GT(h.counts[i - 1] + (i == 1 ? 1 : 0), 0) << "two empty in a row";
      continue;
    }
    EXPECT_EQ(right - left, 1) << "a merged bucket is not empty";
    counts[static_cast<size_t>(left - edges.begin())] = h.counts[i];
  }
  return counts;
}

TEST(BucketEdgesTest, AreThoseOfTensorBoard) {
  const auto edges = BucketEdges();
  ASSERT_EQ(edges.size(), kBuckets + 1);
  EXPECT_TRUE(std::ranges::equal(edges, EdgesByDefinition()));
  EXPECT_EQ(edges[kBuckets / 2], 0);
  EXPECT_EQ(edges[kBuckets / 2 + 1], 1e-12);
}

TEST(HistogramTest, HasTheBucketsOfTheReference) {
  const Histogram zeros = Of({0, 0, 0});
  EXPECT_THAT(zeros.limits, ElementsAre(0, 1e-12));
  EXPECT_THAT(zeros.counts, ElementsAre(0, 3));
  const Histogram five = Of({5});
  EXPECT_THAT(five.limits, ElementsAre(4.636194617418625, 5.099814079160488));
  EXPECT_THAT(five.counts, ElementsAre(0, 1));
  const Histogram minus_three = Of({-3});
  EXPECT_THAT(minus_three.limits,
              ElementsAre(-3.1665833053880363, -2.8787120958073054));
  EXPECT_THAT(minus_three.counts, ElementsAre(0, 1));
}

TEST(HistogramTest, MergesRunsOfEmptyBuckets) {
  const std::vector<double> values = {-1, 0, .5, 2, 2};
  const Histogram h = Of(values);
  EXPECT_EQ(h.limits.front(), -1.0089710279437536);
  EXPECT_EQ(h.limits.back(), 2.1628190051144287);
  EXPECT_EQ(std::accumulate(h.counts.begin(), h.counts.end(), 0.0), 5);
  EXPECT_EQ(h.limits.size(), 8u);
  EXPECT_EQ(Expand(h), CountsByDefinition(values));
  EXPECT_EQ(h.num, 5);
  EXPECT_EQ(h.min, -1);
  EXPECT_EQ(h.max, 2);
  EXPECT_EQ(h.sum, 3.5);
  EXPECT_EQ(h.sum_squares, 9.25);
}

template <typename T>
void ExpectExactNear(const std::vector<double>& centers) {
  std::vector<T> values;
  for (const double center : centers) {
    const auto x = static_cast<T>(center);
    for (const T toward : {-std::numeric_limits<T>::infinity(),
                           std::numeric_limits<T>::infinity()}) {
      T near = x;
      for (int i = 0; i < 3; ++i) {
        values.push_back(near);
        near = std::nextafter(near, toward);
      }
    }
  }
  for (const T value : values) {
    ASSERT_EQ(Expand(MakeHistogram(Dense<T>(std::span(&value, 1)).view)),
              CountsByDefinition({static_cast<double>(value)}))
        << value;
  }
}

TEST(HistogramTest, IsExactAtAndBesideEveryEdge) {
  std::vector<double> edges = EdgesByDefinition();
  std::vector<double> some;  // All are checked below, together.
  for (size_t i = 0; i < edges.size(); i += 37) some.push_back(edges[i]);
  some.push_back(edges.back());
  ExpectExactNear<double>(some);
  ExpectExactNear<float>(some);

  std::vector<double> values;
  std::vector<float> floats;
  for (const double edge : edges) {
    values.push_back(edge);
    values.push_back(std::nextafter(edge, HUGE_VAL));
    values.push_back(std::nextafter(edge, -HUGE_VAL));
    const auto f = static_cast<float>(edge);
    floats.push_back(f);
    floats.push_back(std::nextafter(f, HUGE_VALF));
    floats.push_back(std::nextafter(f, -HUGE_VALF));
  }
  EXPECT_EQ(Expand(Of(values)), CountsByDefinition(values));
  EXPECT_EQ(Expand(MakeHistogram(Dense<float>(floats).view)),
            CountsByDefinition({floats.begin(), floats.end()}));
}

TEST(HistogramTest, CountsZerosOfBothSignsAndTheSmallestNumbers) {
  const std::vector<double> values = {0.0,     -0.0,  5e-324,
                                      -5e-324, 1e-13, -1e-13};
  EXPECT_EQ(Expand(Of(values)), CountsByDefinition(values));
  const std::vector<float> floats = {0.0f, -0.0f, 1e-45f, -1e-45f};
  EXPECT_EQ(Expand(MakeHistogram(Dense<float>(floats).view)),
            CountsByDefinition({floats.begin(), floats.end()}));
}

TEST(HistogramTest, CountsWhatIsBeyondTheLastEdgeInTheOutermostBuckets) {
  const Histogram h = Of({-1.7e308, 1e25, 1.7e308});
  EXPECT_EQ(h.num, 3);
  EXPECT_EQ(h.limits.front(), BucketEdges().front());
  EXPECT_EQ(h.limits.back(), BucketEdges().back());
  EXPECT_EQ(h.counts[1], 1);
  EXPECT_EQ(h.counts.back(), 2);
}

TEST(HistogramTest, LeavesNanAndInfinitiesOut) {
  std::vector<double> values(10'000, 0.25);
  values[17] = NAN;
  values[3'000] = HUGE_VAL;
  values[3'001] = -HUGE_VAL;
  values[3'002] = -HUGE_VAL;
  const Histogram h = Of(values);
  EXPECT_EQ(h.nan, 1);
  EXPECT_EQ(h.pos_inf, 1);
  EXPECT_EQ(h.neg_inf, 2);
  EXPECT_EQ(h.num, 9'996);
  EXPECT_EQ(h.min, 0.25);
  EXPECT_EQ(h.max, 0.25);
  EXPECT_EQ(h.sum, 2'499);
  EXPECT_EQ(h.counts.back(), 9'996);
}

TEST(HistogramTest, OfNothingFiniteIsEmpty) {
  for (const auto& values :
       {std::vector<double>{}, std::vector<double>{NAN, HUGE_VAL}}) {
    const Histogram h = Of(values);
    EXPECT_EQ(h.num, 0);
    EXPECT_EQ(h.sum, 0);
    EXPECT_TRUE(h.limits.empty());
    EXPECT_TRUE(h.counts.empty());
  }
}

TEST(HistogramTest, TakesEveryDTypeOnEveryTarget) {
  for (const DType dtype : testing::kReducible) {
    for (const Mix mix : {Mix::kPlain, Mix::kWide, Mix::kNan}) {
      const Elements elements(dtype, 5'003, mix, 4, 1);
      const std::vector<double> expected =
          CountsByDefinition(elements.values());
      testing::OnEveryTarget([&](const std::string& target) {
        SCOPED_TRACE(fmt::format("{} {} {}", target, DTypeName(dtype),
                                 static_cast<int>(mix)));
        const Histogram h = MakeHistogram(elements.view());
        EXPECT_EQ(Expand(h), expected);
        EXPECT_EQ(h.num + h.nan + h.pos_inf + h.neg_inf, 5'003);
      });
    }
  }
}

TEST(HistogramTest, TakesStridedTensors) {
  const std::vector<float> values = {1, 100, 2, 100, 3, 100};
  const std::array<int64_t, 1> shape = {3};
  const std::array<int64_t, 1> strides = {2};
  const Histogram h =
      MakeHistogram({values.data(), DType::kFloat32, shape, strides});
  EXPECT_EQ(h.num, 3);
  EXPECT_EQ(h.sum, 6);
  EXPECT_EQ(Expand(h), CountsByDefinition({1, 2, 3}));
}

TEST(HistogramTest, RefusesText) {
  const std::array<std::string_view, 1> text = {"a"};
  const std::array<int64_t, 1> shape = {1};
  EXPECT_THROW(MakeHistogram(ViewOf<std::string_view>(text, shape)), Error);
}

}  // namespace
}  // namespace smdebug::reduce
