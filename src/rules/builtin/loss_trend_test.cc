#include "src/rules/builtin/loss_trend.h"

#include <algorithm>
#include <random>

#include <gtest/gtest.h>

namespace smdebug::rules {
namespace {

constexpr size_t kManyLosses = 5 * LossTrend::kMostKept;

// What is said at the end of as many losses, which fall by so much in all.
std::optional<LossTrend::Trouble> VerdictOn(size_t losses, double fall) {
  LossTrend trend({});
  std::mt19937 random(7);
  std::normal_distribution<double> noise(0, 0.1);
  size_t most = 0;
  for (size_t i = 0; i < losses; ++i) {
    const double part = static_cast<double>(i) / static_cast<double>(losses);
    trend.Add(static_cast<int64_t>(i), 2 - fall * part + noise(random));
    most = std::max(most, trend.kept());
  }
  if (fall == 0) {
    EXPECT_EQ(most, LossTrend::kMostKept);
  }
  EXPECT_LE(most, LossTrend::kMostKept);
  return trend.Finish();
}

TEST(LossTrendTest, AsManyAsAreKeptAreAllKept) {
  EXPECT_TRUE(VerdictOn(LossTrend::kMostKept, 0));
}

TEST(LossTrendTest, ALossThatNeverFallsTakesABoundedMemory) {
  EXPECT_TRUE(VerdictOn(kManyLosses, 0));
}

TEST(LossTrendTest, ALossThatFallsALittleInManyStepsHasFallen) {
  EXPECT_FALSE(VerdictOn(kManyLosses, 0.2));
}

}  // namespace
}  // namespace smdebug::rules
