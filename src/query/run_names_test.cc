#include "src/query/run_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace smdebug::query {
namespace {

using ::testing::ElementsAre;

TEST(RunNamesTest, AreShortWhereTheyDiffer) {
  EXPECT_THAT(NamesOfRuns({"/runs/a", "b/"}), ElementsAre("a", "b"));
  EXPECT_THAT(NamesOfRuns({"/x/run", "/y/run", "/y/other"}),
              ElementsAre("/x/run", "/y/run", "other"));
}

}  // namespace
}  // namespace smdebug::query
