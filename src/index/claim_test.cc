#include "src/index/claim.h"

#include <gtest/gtest.h>

namespace smdebug::index {
namespace {

TEST(ClaimTest, ReadsBackWhatItWrote) {
  const Claim claim = {"host \"a\"", 4711, 123456789012345};
  EXPECT_EQ(ParseClaim(ToJson(claim)), claim);
}

TEST(ClaimTest, IsNothingForOtherContent) {
  for (const char* text : {"", "{}", "[]", "{\"host\": 1}", "{\"host\": \"a\"",
                           "{\"host\": \"a\", \"pid\": -1.5, \"start\": 1}"}) {
    EXPECT_EQ(ParseClaim(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace smdebug::index
