#include "src/cli/interrupt.h"

#include <signal.h>

#include <gtest/gtest.h>

namespace smdebug::cli {
namespace {

TEST(InterruptTest, ASignalSetsTheMarkAndNoMore) {
  for (const int signal : {SIGINT, SIGTERM}) {
    const InterruptScope scope;
    EXPECT_FALSE(scope.interrupted());
    ASSERT_EQ(raise(signal), 0);
    EXPECT_TRUE(scope.interrupted());
  }
}

TEST(InterruptTest, AfterwardsSignalsDoWhatTheyDidBefore) {
  struct sigaction before = {};
  sigaction(SIGINT, nullptr, &before);
  { const InterruptScope scope; }
  struct sigaction after = {};
  sigaction(SIGINT, nullptr, &after);
  EXPECT_EQ(after.sa_handler, before.sa_handler);
}

}  // namespace
}  // namespace smdebug::cli
