#include "src/query/text.h"

#include <cmath>
#include <cstdlib>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace smdebug::query {
namespace {

TEST(TextTest, ControlCharactersNeverReachTheTerminal) {
  EXPECT_EQ(Printable("a\x1B[2J\n\x7F"), "a?[2J??");
  EXPECT_EQ(Printable("caf\xC3\xA9"), "caf\xC3\xA9");
}

TEST(TextTest, NounsFollowTheirCount) {
  EXPECT_EQ(Counted(0, "step"), "0 steps");
  EXPECT_EQ(Counted(1, "step"), "1 step");
  EXPECT_EQ(Join(std::vector<std::string>{"a", "b"}), "a, b");
}

TEST(TextTest, NumbersAreShortButWholeNumbersWhole) {
  EXPECT_EQ(ShortNumber(0), "0");
  EXPECT_EQ(ShortNumber(-0.0), "0");
  EXPECT_EQ(ShortNumber(1234567), "1234567");
  EXPECT_EQ(ShortNumber(-3), "-3");
  EXPECT_EQ(ShortNumber(1.0 / 3), "0.333333");
  EXPECT_EQ(ShortNumber(1.5e-7), "1.5e-07");
  EXPECT_EQ(ShortNumber(1e300), "1e+300");
  EXPECT_EQ(ShortNumber(NAN), "nan");
  EXPECT_EQ(ShortNumber(-NAN), "nan");
  EXPECT_EQ(ShortNumber(-INFINITY), "-inf");
}

TEST(TextTest, ExactNumbersReadBackEqual) {
  for (const double value : {0.1, 1.0 / 3, 5e-324, 1.7976931348623157e308}) {
    EXPECT_EQ(std::strtod(ExactNumber(value).c_str(), nullptr), value);
  }
  EXPECT_EQ(ExactNumber(0.1), "0.1");
  EXPECT_EQ(ExactNumber(-NAN), "nan");
  EXPECT_EQ(ExactNumber(INFINITY), "inf");
}

TEST(TextTest, ShapesReadAsInNumPy) {
  EXPECT_EQ(ShapeText(std::vector<int64_t>{}), "()");
  EXPECT_EQ(ShapeText(std::vector<int64_t>{3}), "(3,)");
  EXPECT_EQ(ShapeText(std::vector<int64_t>{3, 4}), "(3, 4)");
}

}  // namespace
}  // namespace smdebug::query
