#include "src/base/fork.h"

#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

namespace smdebug::base {
namespace {

TEST(ForkTest, OnlyTheChildSeesAnotherGeneration) {
  const uint64_t before = ForkGeneration();
  const pid_t child = fork();
  if (child == 0) _exit(ForkGeneration() == before + 1 ? 0 : 1);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  EXPECT_EQ(ForkGeneration(), before);
}

}  // namespace
}  // namespace smdebug::base
