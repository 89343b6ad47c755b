#include "src/run/entering.h"

#include <sys/wait.h>
#include <unistd.h>

#include <memory>

#include <gtest/gtest.h>

#include "smdebug/storage.h"
#include "tests/testing/temp_dir.h"

namespace smdebug::run {
namespace {

TEST(EnteringTest, AProcessIsNotInItsOwnWay) {
  const smdebug::testing::TempDir dir;
  const auto storage = OpenLocalStorage(dir / "run");
  const Entering first(*storage);
  const Entering second(*storage);
  EXPECT_EQ(first.other(), 0);
  EXPECT_EQ(second.other(), 0);
}

// Its parent is another one than this process's, and it has ended by itself
// when its child looks.
TEST(EnteringTest, AnotherJobIsNamedAsLongAsItHasNotEntered) {
  const smdebug::testing::TempDir dir;
  const auto storage = OpenLocalStorage(dir / "run");
  auto entering = std::make_unique<Entering>(*storage);
  int64_t seen[2] = {-1, -1};
  int results[2];
  int orders[2];
  ASSERT_EQ(pipe(results), 0);
  ASSERT_EQ(pipe(orders), 0);
  const pid_t parent = fork();
  if (parent == 0) {
    if (fork() != 0) _exit(0);
    char order = 0;
    for (int i = 0; i < 2; ++i) {
      if (read(orders[0], &order, 1) != 1) _exit(1);
      const int64_t other = Entering(*storage).other();
      if (write(results[1], &other, sizeof(other)) != sizeof(other)) _exit(1);
    }
    _exit(0);
  }
  ASSERT_EQ(waitpid(parent, nullptr, 0), parent);
  for (int64_t& one : seen) {
    ASSERT_EQ(write(orders[1], "x", 1), 1);
    ASSERT_EQ(read(results[0], &one, sizeof(one)), ssize_t{sizeof(one)});
    entering.reset();
  }
  EXPECT_EQ(seen[0], getpid());
  EXPECT_EQ(seen[1], 0);
}

}  // namespace
}  // namespace smdebug::run
