#include "src/cli/output/json_output.h"

#include <sstream>

#include <gtest/gtest.h>

namespace smdebug::cli {
namespace {

TEST(JsonOutputTest, BadTextCostsOnlyItself) {
  std::ostringstream out;
  PrintJsonLine(out, {{"name", "a\xFF"}});
  EXPECT_EQ(out.str(), "{\"name\":\"a\xEF\xBF\xBD\"}\n");
}

}  // namespace
}  // namespace smdebug::cli
