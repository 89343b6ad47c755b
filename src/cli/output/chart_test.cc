#include "src/cli/output/chart.h"

#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/cli/output/text.h"

namespace smdebug::cli {
namespace {

using query::Series;

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr ChartOptions kSmall = {.width = 25, .height = 5, .utf8 = false};

std::string ChartText(Series series, const ChartOptions& options) {
  const ChartLine line = {.series = std::move(series)};
  return ChartText({&line, 1}, options);
}

TEST(ChartTest, DrawsACurveWithItsAxes) {
  EXPECT_EQ(ChartText({{0, 10, 20}, {4, 2, 0}}, kSmall),
            "  4 +***\n"
            "    |   *****\n"
            "  2 +        *****\n"
            "    |             ****\n"
            "  0 +                 ***\n"
            "    +--------------------\n"
            "     0        10       20\n");
}

TEST(ChartTest, BrailleHasFinerDots) {
  const std::string text =
      ChartText({{0, 1}, {0, 1}}, {.width = 20, .height = 4, .utf8 = true});
  EXPECT_THAT(text, HasSubstr("\xE2\xA0"));
  EXPECT_THAT(text, HasSubstr("\xE2\x94\x94"));
  EXPECT_THAT(text, Not(HasSubstr("*")));
}

TEST(ChartTest, WhatIsNotFiniteIsMarkedAndCounted) {
  EXPECT_EQ(ChartText({{0, 1, 2, 3, 4}, {1, NAN, kInf, -kInf, 1}}, kSmall),
            "1.5 +          ^\n"
            "    |\n"
            "  1 +*                  *\n"
            "    |\n"
            "0.5 +              v\n"
            "nan |     x\n"
            "    +--------------------\n"
            "     0         2        4\n"
            "x NaN at 1 step, first at step 1\n"
            "^ +Inf at 1 step, first at step 2\n"
            "v -Inf at 1 step, first at step 3\n");
}

TEST(ChartTest, WhatIsNotFiniteIsRedInColour) {
  const ChartOptions colour = {
      .width = 26, .height = 5, .utf8 = false, .colour = true};
  const std::string text = ChartText({{0, 1, 2, 3}, {1, NAN, kInf, 1}}, colour);
  EXPECT_THAT(text, HasSubstr("\n\x1B[31mnan |"));
  EXPECT_THAT(text, HasSubstr("\n\x1B[31mx NaN at 1 step, first at step "
                              "1\x1B[0m\n\x1B[31m^ +Inf"));
  EXPECT_THAT(ChartText({{0, 1}, {1, 2}}, colour), Not(HasSubstr("\x1B")));
}

TEST(ChartTest, LinesHaveSignsOfTheirOwnAndALegend) {
  const ChartLine lines[] = {{"train", {{0, 10, 20}, {4, 2, 0}}},
                             {"eval", {{5, 15}, {4, NAN}}}};
  EXPECT_EQ(ChartText(lines, kSmall),
            "  4 +***  o\n"
            "    |   *****\n"
            "  2 +        *****\n"
            "    |             ****\n"
            "  0 +                 ***\n"
            "nan |              x\n"
            "    +--------------------\n"
            "     0        10       20\n"
            "* train\n"
            "o eval\n"
            "  x NaN at 1 step, first at step 15\n");
}

TEST(ChartTest, NothingFiniteStillShowsWhere) {
  const std::string text = ChartText({{5, 6}, {NAN, NAN}}, kSmall);
  EXPECT_THAT(text, HasSubstr("nan |x"));
  EXPECT_THAT(text, EndsWith("x NaN at 2 steps, first at step 5\n"));
}

TEST(ChartTest, OnePointIsAChart) {
  const std::string text = ChartText({{7}, {0.25}}, kSmall);
  EXPECT_THAT(text, HasSubstr("0.25 +*\n"));
  EXPECT_THAT(text, EndsWith(" 7\n"));
}

TEST(ChartTest, LabelsHaveEnoughDigitsToDiffer) {
  const std::string text = ChartText({{0, 1}, {1.00001, 1.00002}}, kSmall);
  EXPECT_THAT(text, StartsWith(" 1.00002 +"));
  EXPECT_THAT(text, HasSubstr("1.000015 +"));
}

TEST(ChartTest, ExtremesDoNotOverflow) {
  const double most = std::numeric_limits<double>::max();
  const std::string text = ChartText({{0, 1, 2}, {-most, 0, most}}, kSmall);
  EXPECT_THAT(text, StartsWith(" 1.798e+308 +"));
  EXPECT_THAT(text, Not(HasSubstr("nan")));
  ChartText({{0, INT64_MAX}, {most, most}}, kSmall);
}

TEST(ChartTest, NoLineIsWiderThanAsked) {
  for (const size_t width : {30U, 80U, 200U}) {
    const std::string text =
        ChartText({{0, 123456, 1234567}, {0, 1e-30, 3e5}}, {.width = width});
    size_t start = 0;
    for (size_t end = text.find('\n'); end != std::string::npos;
         start = end + 1, end = text.find('\n', start)) {
      EXPECT_LE(TextWidth(text.substr(start, end - start)), width);
    }
  }
}

}  // namespace
}  // namespace smdebug::cli
