#include "src/base/host.h"

#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

namespace smdebug::base {
namespace {

TEST(HostTest, TellsALiveProcessFromADeadOne) {
  EXPECT_GT(ProcessStart(getpid()), 0u);
  EXPECT_EQ(ProcessStart(getpid()), ProcessStart(getpid()));
  const pid_t child = fork();
  if (child == 0) _exit(0);
  ASSERT_EQ(waitpid(child, nullptr, 0), child);
  EXPECT_EQ(ProcessStart(child), 0u);
}

TEST(HostTest, HasAName) { EXPECT_FALSE(HostName().empty()); }

}  // namespace
}  // namespace smdebug::base
