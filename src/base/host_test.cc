#include "src/base/host.h"

#include <sys/wait.h>
#include <unistd.h>

#include <thread>

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

TEST(HostTest, TellsTheGroupOfAProcess) {
  const auto status = FindProcessStatus(getpid());
  ASSERT_TRUE(status);
  EXPECT_EQ(status->group, getpgrp());
  EXPECT_FALSE(status->HasEnded());
}

TEST(HostTest, AProcessThatEndsWhileItIsLookedAtIsGone) {
  for (int i = 0; i < 100; ++i) {
    const pid_t child = fork();
    if (child == 0) _exit(0);
    std::thread reaper([child] { waitpid(child, nullptr, 0); });
    while (FindProcessStatus(child)) {
    }
    reaper.join();
  }
}

TEST(HostTest, HasAName) { EXPECT_FALSE(HostName().empty()); }

}  // namespace
}  // namespace smdebug::base
