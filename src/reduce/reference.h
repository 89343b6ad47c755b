#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "src/reduce/reduce.h"

// The reductions as plain loops over long double, to test against.
namespace smdebug::reduce::testing {

inline double ReferenceMedian(std::vector<double> values) {
  if (values.empty()) return NAN;
  std::ranges::sort(values);
  const size_t n = values.size();
  const long double low = values[(n - 1) / 2];
  const long double high = values[n / 2];
  return static_cast<double>((low + high) / 2);
}

// The product, which long double alone could not hold on the way.
inline double ReferenceProduct(const std::vector<double>& values) {
  long double mantissa = 1;
  int64_t exponent = 0;
  for (const long double x : values) {
    int e = 0;
    mantissa = std::frexp(mantissa * x, &e);
    exponent += e;
  }
  const auto limited = std::clamp<int64_t>(exponent, -5000, 5000);
  return static_cast<double>(std::scalbn(mantissa, static_cast<int>(limited)));
}

inline double SquaredDeviations(const std::vector<double>& values) {
  long double sum = 0;
  for (const double x : values) sum += x;
  const long double mean =
      values.empty() ? 0 : sum / static_cast<long double>(values.size());
  long double squares = 0;
  for (const double x : values) {
    squares += (x - mean) * (x - mean);
  }
  return static_cast<double>(squares);
}

inline Statistics ReferenceStatistics(const std::vector<double>& values) {
  Statistics s;
  s.count = static_cast<int64_t>(values.size());
  std::vector<double> abs;
  long double sum = 0;
  long double abs_sum = 0;
  long double squares = 0;
  for (const double x : values) {
    s.nan += std::isnan(x) ? 1 : 0;
    s.pos_inf += x == HUGE_VAL ? 1 : 0;
    s.neg_inf += x == -HUGE_VAL ? 1 : 0;
    s.zero += x == 0 ? 1 : 0;
    sum += x;
    abs_sum += std::abs(x);
    squares += static_cast<long double>(x) * x;
    abs.push_back(std::abs(x));
  }
  if (s.nan > 0 || values.empty()) {
    s.min = s.max = s.abs_min = s.abs_max = s.median = s.abs_median = NAN;
  } else {
    s.min = std::ranges::min(values);
    s.max = std::ranges::max(values);
    s.abs_min = std::ranges::min(abs);
    s.abs_max = std::ranges::max(abs);
    s.median = ReferenceMedian(values);
    s.abs_median = ReferenceMedian(abs);
  }
  s.sum = static_cast<double>(sum);
  s.abs_sum = static_cast<double>(abs_sum);
  s.sum_squares = static_cast<double>(squares);
  s.deviations = SquaredDeviations(values);
  s.abs_deviations = SquaredDeviations(abs);
  s.prod = ReferenceProduct(values);
  return s;
}

// Both NaN, equal, or apart by no more than `tolerance`.
inline bool Near(double actual, double expected, double tolerance) {
  if (std::isnan(expected)) return std::isnan(actual);
  return actual == expected || std::abs(actual - expected) <= tolerance;
}

// `rounding` is the relative error of one element: 0 where it is exact.
inline void ExpectStatistics(const Statistics& actual,
                             const Statistics& expected, double rounding = 0) {
  EXPECT_EQ(actual.count, expected.count);
  EXPECT_EQ(actual.nan, expected.nan);
  EXPECT_EQ(actual.pos_inf, expected.pos_inf);
  EXPECT_EQ(actual.neg_inf, expected.neg_inf);
  EXPECT_EQ(actual.zero, expected.zero);
  const auto near = [](const char* what, double a, double e, double tolerance) {
    EXPECT_TRUE(Near(a, e, tolerance))
        << what << " is " << a << ", expected " << e << ", off by " << a - e;
  };
  // Where no tolerance is given, values come from the tensor as they are.
  const double one = rounding * std::abs(expected.abs_max);
  near("min", actual.min, expected.min, one);
  near("max", actual.max, expected.max, one);
  near("abs_min", actual.abs_min, expected.abs_min, one);
  near("abs_max", actual.abs_max, expected.abs_max, one);
  near("median", actual.median, expected.median, one);
  near("abs_median", actual.abs_median, expected.abs_median, one);
  // A hundred roundings; squares below the smallest normal number are lost.
  constexpr double kEps = 100 * std::numeric_limits<double>::epsilon();
  const auto n = static_cast<double>(expected.count);
  const double lost = 1e-300 * n;
  near("sum", actual.sum, expected.sum, kEps * expected.abs_sum);
  near("abs_sum", actual.abs_sum, expected.abs_sum, kEps * expected.abs_sum);
  const double squares = kEps * expected.sum_squares + lost;
  near("sum_squares", actual.sum_squares, expected.sum_squares, squares);
  near("deviations", actual.deviations, expected.deviations, squares);
  near("abs_deviations", actual.abs_deviations, expected.abs_deviations,
       squares);
  near("prod", actual.prod, expected.prod,
       (2 + n) * 1e-15 * std::abs(expected.prod) +
           4 * std::numeric_limits<double>::denorm_min());
}

}  // namespace smdebug::reduce::testing
