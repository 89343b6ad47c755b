#include "src/query/value_summary.h"

#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace smdebug::query {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

template <typename T>
struct Vector {
  explicit Vector(std::vector<T> v)
      : values(std::move(v)), shape{static_cast<int64_t>(values.size())} {}
  TensorView view() const { return ViewOf<T>(values, shape); }
  std::vector<T> values;
  int64_t shape[1];
};

std::vector<int64_t> CountsOf(const std::vector<Bin>& bins) {
  std::vector<int64_t> counts;
  counts.reserve(bins.size());
  for (const Bin& bin : bins) counts.push_back(bin.count);
  return counts;
}

TEST(ValueSummaryTest, SummarizesWhatIsFinite) {
  const Vector<float> plain({1, 2, 3, 0});
  const ValueSummary all = Summarize(plain.view());
  EXPECT_EQ(all.count, 4);
  EXPECT_EQ(all.zero, 1);
  EXPECT_EQ(all.min, 0);
  EXPECT_EQ(all.max, 3);
  EXPECT_EQ(all.mean, 1.5);
  EXPECT_NEAR(all.std, std::sqrt(1.25), 1e-12);
  EXPECT_NEAR(all.l2, std::sqrt(14), 1e-12);

  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  constexpr double kInf = std::numeric_limits<double>::infinity();
  const Vector<double> mixed({1, kNan, 2, kInf, 3, -kInf, 0});
  const ValueSummary finite = Summarize(mixed.view());
  EXPECT_EQ(finite.count, 7);
  EXPECT_EQ(finite.nan, 1);
  EXPECT_EQ(finite.pos_inf, 1);
  EXPECT_EQ(finite.neg_inf, 1);
  EXPECT_EQ(finite.finite(), 4);
  EXPECT_EQ(finite.min, 0);
  EXPECT_EQ(finite.max, 3);
  EXPECT_EQ(finite.mean, 1.5);
  EXPECT_NEAR(finite.std, all.std, 1e-12);
  EXPECT_NEAR(finite.l2, all.l2, 1e-12);
}

TEST(ValueSummaryTest, WithoutFiniteValuesThereAreNoBins) {
  for (const auto& values : {std::vector<double>{}, {NAN, INFINITY}}) {
    const Vector<double> tensor(values);
    const ValueSummary summary = Summarize(tensor.view());
    EXPECT_TRUE(std::isnan(summary.min));
    EXPECT_TRUE(std::isnan(summary.mean));
    EXPECT_EQ(summary.l2, 0);
    EXPECT_THAT(CountBins(tensor.view(), summary, 10), IsEmpty());
  }
}

TEST(ValueSummaryTest, EveryFiniteValueIsInOneBin) {
  const Vector<double> tensor({0, 1, 2, 3, 4, 5, 6, 7, 8, 10, NAN});
  const auto bins = CountBins(tensor.view(), Summarize(tensor.view()), 5);
  EXPECT_EQ(CountsOf(bins), (std::vector<int64_t>{2, 2, 2, 2, 2}));
  EXPECT_EQ(bins.front().low, 0);
  EXPECT_EQ(bins.back().high, 10);
}

TEST(ValueSummaryTest, TheWholeRangeOfDoubleHasBins) {
  const double most = std::numeric_limits<double>::max();
  const Vector<double> tensor({-most, 0.0, most});
  const auto bins = CountBins(tensor.view(), Summarize(tensor.view()), 3);
  EXPECT_EQ(CountsOf(bins), (std::vector<int64_t>{1, 1, 1}));
  for (const Bin& bin : bins) EXPECT_TRUE(std::isfinite(bin.low));
}

TEST(ValueSummaryTest, OneValueHasOneBin) {
  const Vector<float> tensor({2.5f, 2.5f});
  const auto bins = CountBins(tensor.view(), Summarize(tensor.view()), 10);
  ASSERT_THAT(bins, SizeIs(1));
  EXPECT_EQ(bins[0].low, 2.5);
  EXPECT_EQ(bins[0].count, 2);
}

TEST(ValueSummaryTest, FewWholeNumbersHaveABinEach) {
  const Vector<int32_t> few({-1, 0, 0, 3});
  EXPECT_EQ(CountsOf(CountBins(few.view(), Summarize(few.view()), 10)),
            (std::vector<int64_t>{1, 2, 0, 0, 1}));
  std::vector<int32_t> range(100);
  std::iota(range.begin(), range.end(), 0);
  const Vector<int32_t> many(range);
  EXPECT_EQ(CountsOf(CountBins(many.view(), Summarize(many.view()), 10)),
            std::vector<int64_t>(10, 10));
}

}  // namespace
}  // namespace smdebug::query
