#include "src/cli/output/bars.h"

#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace smdebug::cli {
namespace {

using query::Bin;
using ::testing::HasSubstr;

TEST(BarsTest, BarsShowEveryBinThatHasAnything) {
  const std::vector<Bin> bins = {{0, 0.5, 1000}, {0.5, 1, 1}, {1, 1.5, 0}};
  EXPECT_EQ(BarsText(bins, 40, false),
            "    0 .. 0.5  1000  ####################\n"
            "  0.5 .. 1       1  #\n"
            "    1 .. 1.5     0\n");
  EXPECT_THAT(BarsText(bins, 40, true), HasSubstr("1  \xE2\x96\x8F\n"));
  EXPECT_EQ(BarsText({{7, 7, 2}}, 20, false), "  7  2  ############\n");
}

}  // namespace
}  // namespace smdebug::cli
