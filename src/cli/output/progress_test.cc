#include "src/cli/output/progress.h"

#include <sstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace smdebug::cli {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr Terminal kTerminal = {.is_terminal = true, .width = 100};

TEST(ProgressTest, TellsShareAmountRateAndRest) {
  EXPECT_EQ(ProgressLine(Progress::Unit::kBytes, 1 << 20, 4 << 20, 2, 60),
            "[##.......]  25%  1.0 MiB of 4.0 MiB  512.0 KiB/s  6 s left");
  EXPECT_THAT(ProgressLine(Progress::Unit::kSteps, 10, 10, 2, 100),
              EndsWith("] 100%  10 of 10 steps  5/s"));
}

TEST(ProgressTest, FitsTheTerminal) {
  for (const size_t width : {1U, 10U, 40U, 50U, 60U, 200U}) {
    EXPECT_LE(ProgressLine(Progress::Unit::kBytes, 1, 3, 1, width).size(),
              width);
  }
  EXPECT_THAT(ProgressLine(Progress::Unit::kSteps, 0, 0, 0, 100),
              HasSubstr("100%"));
}

TEST(ProgressTest, DrawsAtMostTenTimesASecondAndCleansUp) {
  std::ostringstream err;
  double now = 0;
  {
    Progress progress(err, kTerminal, Progress::Unit::kSteps, 100,
                      [&] { return now; });
    progress.Add(1);
    EXPECT_THAT(err.str(), IsEmpty());  // Quick work shows nothing at all.
    now = 0.2;
    progress.Add(1);
    EXPECT_THAT(err.str(), HasSubstr("2 of 100 steps"));
    now = 0.25;
    progress.Add(1);
    EXPECT_THAT(err.str(), Not(HasSubstr("3 of 100")));
    now = 0.31;
    progress.Add(1);
    EXPECT_THAT(err.str(), HasSubstr("4 of 100 steps"));
  }
  EXPECT_THAT(err.str(), EndsWith("\r\x1B[K"));
}

TEST(ProgressTest, WritesNothingWithoutATerminal) {
  std::ostringstream err;
  double now = 0;
  {
    Progress progress(err, {}, Progress::Unit::kBytes, 10, [&] { return now; });
    now = 5;
    progress.Add(5);
  }
  EXPECT_THAT(err.str(), IsEmpty());
}

}  // namespace
}  // namespace smdebug::cli
