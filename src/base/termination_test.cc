#include "smdebug/internal/termination.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <functional>

#include <gtest/gtest.h>

namespace smdebug::base {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;

std::atomic<int> calls{0};
void Count(int) { ++calls; }

// How a child ends that does `work`, as waitpid() tells it.
int StatusOf(const std::function<void()>& work) {
  const pid_t child = fork();
  if (child == 0) {
    work();
    _exit(0);
  }
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return status;
}

bool IsEndedBySigterm(int status) {
  return WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM;
}

TEST(TerminationTest, EndsAProcessThatDoesNotHeedTheSignal) {
  EXPECT_TRUE(IsEndedBySigterm(StatusOf([] {
    signal(SIGTERM, Count);
    GuardTermination(milliseconds(1));
    raise(SIGTERM);
    while (calls == 1) pause();
  })));
}

TEST(TerminationTest, WhoHeedsItGoesOn) {
  EXPECT_EQ(StatusOf([] {
              signal(SIGTERM, Count);
              GuardTermination(minutes(10));
              for (int i = 1; i <= 3; ++i) {
                raise(SIGTERM);
                HeedTermination();
                if (calls != i) _exit(1);
              }
            }),
            0);
}

TEST(TerminationTest, ASecondCallCallsTheHandlerOnceStill) {
  EXPECT_EQ(StatusOf([] {
              signal(SIGTERM, Count);
              GuardTermination(minutes(10));
              GuardTermination(minutes(10));
              raise(SIGTERM);
              HeedTermination();
              if (calls != 1) _exit(1);
            }),
            0);
}

TEST(TerminationTest, WhoInstallsAnotherHandlerDecidesAlone) {
  EXPECT_EQ(StatusOf([] {
              GuardTermination(milliseconds(1));
              signal(SIGTERM, Count);
              raise(SIGTERM);
              usleep(100'000);  // For what must not come.
              if (calls != 1) _exit(1);
            }),
            0);
}

TEST(TerminationTest, AForkedChildIsLeftAlone) {
  EXPECT_EQ(StatusOf([] {
              signal(SIGTERM, Count);
              GuardTermination(milliseconds(1));
              _exit(StatusOf([] {
                raise(SIGTERM);
                usleep(100'000);  // For what must not come.
                if (calls != 1) _exit(1);
              }));
            }),
            0);
}

}  // namespace
}  // namespace smdebug::base
