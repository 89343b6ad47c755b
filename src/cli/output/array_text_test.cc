#include "src/cli/output/array_text.h"

#include <numeric>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

namespace smdebug::cli {
namespace {

std::string TextOf(const std::vector<double>& values,
                   const std::vector<int64_t>& shape, int64_t most = 1000,
                   size_t width = 78) {
  return ArrayText(ViewOf<double>(values, shape), most, width);
}

std::vector<double> Range(size_t size) {
  std::vector<double> values(size);
  std::iota(values.begin(), values.end(), 0);
  return values;
}

TEST(ArrayTextTest, SmallArraysAreShownWhole) {
  EXPECT_EQ(TextOf({0.5}, {}), "0.5");
  EXPECT_EQ(TextOf({}, {0}), "[]");
  EXPECT_EQ(TextOf({1, -2.5, 3}, {3}), "[   1 -2.5    3]");
  EXPECT_EQ(TextOf(Range(6), {2, 3}),
            "[[0 1 2]\n"
            " [3 4 5]]");
  EXPECT_EQ(TextOf(Range(8), {2, 2, 2}),
            "[[[0 1]\n"
            "  [2 3]]\n"
            "\n"
            " [[4 5]\n"
            "  [6 7]]]");
  EXPECT_EQ(TextOf({}, {2, 0}), "[[]\n []]");
}

TEST(ArrayTextTest, LargeArraysShowTheirEnds) {
  EXPECT_EQ(TextOf(Range(1000), {1000}, 10), "[  0   1   2 ... 997 998 999]");
  EXPECT_EQ(TextOf(Range(1000), {1000}, 4), "[  0   1 ... 998 999]");
  EXPECT_EQ(TextOf(Range(1000), {1000}, 0), "[  0 ... 999]");
  EXPECT_EQ(TextOf(Range(100), {10, 10}, 16),
            "[[ 0  1 ...  8  9]\n"
            " [10 11 ... 18 19]\n"
            " ...\n"
            " [80 81 ... 88 89]\n"
            " [90 91 ... 98 99]]");
}

TEST(ArrayTextTest, ExactlyAsManyAsAllowedAreAllShown) {
  EXPECT_EQ(TextOf(Range(10), {10}, 10), "[0 1 2 3 4 5 6 7 8 9]");
  EXPECT_EQ(TextOf(Range(10), {10}, 9), "[0 1 2 ... 7 8 9]");
}

TEST(ArrayTextTest, LongRowsWrapUnderTheirBracket) {
  EXPECT_EQ(TextOf(Range(10), {1, 10}, 100, 11),
            "[[0 1 2 3 4\n"
            "  5 6 7 8 9]]");
}

TEST(ArrayTextTest, AbsurdlyManyAxesAreShownAsOne) {
  EXPECT_EQ(TextOf({7}, std::vector<int64_t>(1'000'000, 1)), "[7]");
}

TEST(ArrayTextTest, StringsAreQuoted) {
  const std::vector<std::string_view> words = {"a", "long"};
  const std::vector<int64_t> shape = {2};
  EXPECT_EQ(ArrayText(ViewOf<std::string_view>(words, shape), 10),
            "['a' 'long']");
}

}  // namespace
}  // namespace smdebug::cli
