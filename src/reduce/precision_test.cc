// Data on which a careless sum, variance or product goes wrong.

#include <cmath>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "src/reduce/kernels.h"
#include "src/reduce/reduce.h"
#include "src/reduce/reference.h"
#include "src/reduce/testing.h"

namespace smdebug::reduce {
namespace {

using testing::Dense;
using testing::ReferenceStatistics;

constexpr Wanted kProd = {.prod = true, .median = false, .abs_median = false};

// Statistics on every target, each with the target's name.
template <typename T, class Check>
void OnEveryTarget(const std::vector<T>& values, const Check& check) {
  const Dense<T> dense{std::span<const T>(values)};
  testing::OnEveryTarget([&](const std::string& target) {
    SCOPED_TRACE(target);
    check(Reduce(dense.view, kProd));
  });
}

template <typename T>
std::vector<T> Normal(size_t count, double mean, double deviation) {
  std::mt19937_64 random(17);
  std::normal_distribution<double> normal(mean, deviation);
  std::vector<T> values(count);
  for (T& value : values) value = static_cast<T>(normal(random));
  return values;
}

template <typename T>
std::vector<double> AsDoubles(const std::vector<T>& values) {
  return {values.begin(), values.end()};
}

TEST(VarianceTest, SurvivesAMeanFarAboveTheSpread) {
  for (const double mean : {1e8, -1e8}) {
    const auto values = Normal<double>(20'001, mean, 1e-3);
    const Statistics expected = ReferenceStatistics(values);
    OnEveryTarget(values, [&](const Statistics& s) {
      EXPECT_NEAR(s.deviations / expected.deviations, 1, 1e-9);
      EXPECT_NEAR(s.abs_deviations / expected.abs_deviations, 1, 1e-9);
    });
  }
}

TEST(VarianceTest, SurvivesBlocksWithDifferentMeans) {
  auto values = Normal<float>(15'000, 1e6, 1);
  const auto low = Normal<float>(15'000, -3, 1e-3);
  values.insert(values.end(), low.begin(), low.end());
  const Statistics expected = ReferenceStatistics(AsDoubles(values));
  OnEveryTarget(values, [&](const Statistics& s) {
    EXPECT_NEAR(s.deviations / expected.deviations, 1, 1e-12);
    EXPECT_NEAR(s.abs_deviations / expected.abs_deviations, 1, 1e-12);
  });
}

TEST(VarianceTest, OfValuesAroundMinusOneAndOneDiffersFromThatOfMagnitudes) {
  std::vector<float> values = Normal<float>(20'000, 1, 1e-4);
  for (size_t i = 0; i < values.size(); i += 2) values[i] = -values[i];
  const Statistics expected = ReferenceStatistics(AsDoubles(values));
  OnEveryTarget(values, [&](const Statistics& s) {
    EXPECT_NEAR(s.deviations / expected.deviations, 1, 1e-12);
    EXPECT_NEAR(s.abs_deviations / expected.abs_deviations, 1, 1e-10);
  });
}

TEST(VarianceTest, OfAConstantIsZero) {
  for (const float constant : {0.1f, -3e7f, 1e-30f, 0.0f}) {
    const std::vector<float> values(30'000, constant);
    OnEveryTarget(values, [&](const Statistics& s) {
      EXPECT_EQ(s.deviations, 0);
      EXPECT_EQ(s.abs_deviations, 0);
    });
  }
}

TEST(SumTest, OfPositiveValuesHasTwelveDigits) {
  auto values = Normal<float>(100'000, 0, 1);
  for (float& value : values) value = std::abs(value);
  const Statistics expected = ReferenceStatistics(AsDoubles(values));
  OnEveryTarget(values, [&](const Statistics& s) {
    EXPECT_NEAR(s.sum / expected.sum, 1, 1e-12);
    EXPECT_NEAR(s.sum_squares / expected.sum_squares, 1, 1e-12);
  });
}

TEST(SumTest, MayPassBeyondTheLargestDoubleOnTheWay) {
  std::vector<double> values(9'000, 1.5e308);
  for (size_t i = values.size() / 2; i < values.size(); ++i) values[i] *= -1;
  values.push_back(42);
  OnEveryTarget(values, [](const Statistics& s) {
    EXPECT_LT(std::abs(s.sum), 1e300);
    EXPECT_EQ(s.abs_sum, HUGE_VAL);
    EXPECT_EQ(s.deviations, HUGE_VAL);
    EXPECT_EQ(s.max, 1.5e308);
    EXPECT_EQ(s.pos_inf, 0);
  });
}

TEST(ProductTest, MayPassBeyondTheLargestDoubleOnTheWay) {
  std::vector<double> values(2'000, 1e300);
  values.resize(4'000, 1e-300);
  values.push_back(-3);
  OnEveryTarget(values,
                [](const Statistics& s) { EXPECT_NEAR(s.prod, -3, 1e-10); });
  std::vector<float> floats(5'000, 0x1p100f);
  floats.resize(10'000, 0x1p-100f);
  floats.push_back(1.5f);
  OnEveryTarget(floats, [](const Statistics& s) { EXPECT_EQ(s.prod, 1.5); });
}

TEST(ProductTest, KeepsSubnormalFactors) {
  std::vector<double> values(100, 0x1.8p-1070);
  values.resize(200, 0x1p1000);
  values.resize(270, 0x1p100);
  const double expected = testing::ReferenceProduct(values);
  ASSERT_GT(expected, 0);
  ASSERT_LT(expected, HUGE_VAL);
  OnEveryTarget(values, [&](const Statistics& s) {
    EXPECT_NEAR(s.prod / expected, 1, 1e-13);
  });
}

TEST(ProductTest, OfSmallMagnitudesVanishes) {
  const auto values = Normal<float>(40'000, 0, 0.5);
  OnEveryTarget(values, [](const Statistics& s) { EXPECT_EQ(s.prod, 0); });
}

TEST(ProductTest, OfSmallMagnitudesInOneBlockAndLargeOnesInOthersIsExact) {
  std::vector<float> values(kBlock<float>, 0.5f);
  values.resize(2 * kBlock<float>, 2.0f);
  values.resize(3 * kBlock<float>, 0.5f);
  values.resize(4 * kBlock<float>, 2.0f);
  values[0] = -0.75f;
  OnEveryTarget(values, [](const Statistics& s) { EXPECT_EQ(s.prod, -1.5); });
}

TEST(ProductTest, OfSmallMagnitudesAndAnInfinityIsInfinite) {
  std::vector<float> values(4 * kBlock<float>, 0.5f);
  values[1] = -0.5f;
  values[values.size() - 1] = HUGE_VALF;
  OnEveryTarget(values,
                [](const Statistics& s) { EXPECT_EQ(s.prod, -HUGE_VAL); });
  values[2] = 0;
  OnEveryTarget(values,
                [](const Statistics& s) { EXPECT_TRUE(std::isnan(s.prod)); });
}

TEST(ProductTest, WithAZeroIsZero) {
  std::vector<float> values(3 * kBlock<float>, 3e38f);
  values[kBlock<float> + 3] = -0.0f;
  OnEveryTarget(values, [](const Statistics& s) {
    EXPECT_EQ(s.prod, 0);
    EXPECT_EQ(s.zero, 1);
  });
}

TEST(ProductTest, BeyondTheLargestDoubleIsInfinite) {
  std::vector<float> values(1'001, -100.0f);
  OnEveryTarget(values,
                [](const Statistics& s) { EXPECT_EQ(s.prod, -HUGE_VAL); });
}

}  // namespace
}  // namespace smdebug::reduce
