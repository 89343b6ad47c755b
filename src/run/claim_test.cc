#include "src/run/claim.h"

#include <gtest/gtest.h>

namespace smdebug::run {
namespace {

TEST(ClaimTest, ReadsBackWhatItWrote) {
  const Claim claim = {.run = "id",
                       .worker = "worker_3",
                       .num_workers = 4,
                       .job = "a job",
                       .proofs = {"parent \"x\"", ""},
                       .host = "host \"a\"",
                       .machine = "boot",
                       .pid = 4711,
                       .start = 123456789012345,
                       .claimed = 1700000000.5,
                       .moving = "previous/12/"};
  EXPECT_EQ(ParseClaim(ToJson(claim)), claim);
}

TEST(ClaimTest, IsNothingForOtherContent) {
  for (const char* text : {"", "{}", "[]", "{\"host\": 1}", "{\"host\": \"a\"",
                           "{\"host\": \"a\", \"pid\": -1.5, \"start\": 1}",
                           // Files must not be moved just anywhere.
                           R"({"host": "a", "pid": 1, "start": 1,
                               "moving": "../elsewhere/"})"}) {
    EXPECT_EQ(ParseClaim(text), std::nullopt) << text;
  }
}

TEST(ClaimTest, ReadsWhatOlderVersionsWrote) {
  EXPECT_EQ(ParseClaim(R"({"host": "a", "pid": 7, "start": 9})"),
            (Claim{.host = "a", .pid = 7, .start = 9}));
}

}  // namespace
}  // namespace smdebug::run
