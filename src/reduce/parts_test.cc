#include "src/reduce/parts.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/reduce/reduce.h"

namespace smdebug::reduce {
namespace {

using internal::PartStatistics;
using ::testing::DoubleNear;
using ::testing::NanSensitiveDoubleEq;

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// What a device makes of some elements.
PartStatistics PartOf(std::span<const double> values) {
  const auto n = static_cast<double>(values.size());
  PartStatistics part = {.nan = 0,
                         .pos_inf = 0,
                         .neg_inf = 0,
                         .zero = 0,
                         .min = values[0],
                         .max = values[0],
                         .abs_min = std::abs(values[0]),
                         .sum = 0,
                         .abs_sum = 0,
                         .sum_squares = 0,
                         .deviations = 0,
                         .abs_deviations = 0};
  for (const double x : values) {
    part.nan += std::isnan(x) ? 1 : 0;
    part.pos_inf += x == kInf ? 1 : 0;
    part.neg_inf += x == -kInf ? 1 : 0;
    part.zero += x == 0 ? 1 : 0;
    part.min = std::min(part.min, x);
    part.max = std::max(part.max, x);
    part.abs_min = std::min(part.abs_min, std::abs(x));
    part.sum += x;
    part.abs_sum += std::abs(x);
    part.sum_squares += x * x;
  }
  for (const double x : values) {
    const double away = x - part.sum / n;
    const double abs_away = std::abs(x) - part.abs_sum / n;
    part.deviations += away * away;
    part.abs_deviations += abs_away * abs_away;
  }
  return part;
}

void ExpectWhatReduceGives(const std::vector<double>& values, size_t width) {
  PartSums sums;
  for (size_t i = 0; i < values.size(); i += width) {
    const auto part =
        std::span(values).subspan(i, std::min(width, values.size() - i));
    sums.Add(PartOf(part), static_cast<int64_t>(part.size()));
  }
  const Statistics joined = sums.Finish();
  const int64_t shape[] = {static_cast<int64_t>(values.size())};
  const Statistics whole = Reduce(ViewOf<double>(values, shape), {});
  EXPECT_EQ(joined.count, whole.count);
  EXPECT_EQ(joined.nan, whole.nan);
  EXPECT_EQ(joined.pos_inf, whole.pos_inf);
  EXPECT_EQ(joined.neg_inf, whole.neg_inf);
  EXPECT_EQ(joined.zero, whole.zero);
  EXPECT_THAT(joined.min, NanSensitiveDoubleEq(whole.min));
  EXPECT_THAT(joined.max, NanSensitiveDoubleEq(whole.max));
  EXPECT_THAT(joined.abs_min, NanSensitiveDoubleEq(whole.abs_min));
  EXPECT_THAT(joined.abs_max, NanSensitiveDoubleEq(whole.abs_max));
  for (const auto member :
       {&Statistics::sum, &Statistics::abs_sum, &Statistics::sum_squares,
        &Statistics::deviations, &Statistics::abs_deviations}) {
    const double expected = whole.*member;
    if (std::isfinite(expected)) {
      EXPECT_THAT(joined.*member,
                  DoubleNear(expected, 1e-12 * (1 + std::abs(expected))));
    } else {
      EXPECT_THAT(joined.*member, NanSensitiveDoubleEq(expected));
    }
  }
}

TEST(PartsTest, PartsJoinToWhatOnePassGives) {
  std::vector<double> values;
  for (int i = 0; i < 257; ++i) values.push_back(std::sin(i) * i + 1000);
  values[3] = 0;
  values[200] = -0.5;
  for (const size_t width : {1, 2, 100, 256, 257}) {
    ExpectWhatReduceGives(values, width);
  }
}

TEST(PartsTest, WhatIsNotFiniteMeansWhatItMeansElsewhere) {
  for (const double odd : {kNan, kInf, -kInf}) {
    std::vector<double> values = {-3, 1, 0, 2, 4, -0.0};
    values[4] = odd;
    for (const size_t width : {1, 2, 4}) ExpectWhatReduceGives(values, width);
    values[0] = kInf;
    for (const size_t width : {1, 2, 4}) ExpectWhatReduceGives(values, width);
    values[0] = kNan;
    for (const size_t width : {1, 2, 4}) ExpectWhatReduceGives(values, width);
  }
}

}  // namespace
}  // namespace smdebug::reduce
