#include "src/run/presence.h"

#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/testing/temp_dir.h"

namespace smdebug::run {
namespace {

TEST(PresenceTest, IsOfTheProcessThatTookTheName) {
  const std::string name = "smdebug-test-" + std::to_string(getpid());
  EXPECT_FALSE(IsPresent(getpid(), name));
  {
    const Presence presence(name);
    EXPECT_TRUE(IsPresent(getpid(), name));
    EXPECT_FALSE(IsPresent(getppid(), name));
    EXPECT_FALSE(IsPresent(getpid(), name + "x"));
    // A second taker gets nothing and takes nothing away.
    const Presence other(name);
    EXPECT_TRUE(IsPresent(getpid(), name));
  }
  EXPECT_FALSE(IsPresent(getpid(), name));
}

// Each of those who connect has a socket with the same name.
TEST(PresenceTest, IsSeenWhileOthersConnect) {
  const std::string name = "smdebug-test-" + std::to_string(getpid());
  const Presence presence(name);
  const base::Fd door = presence.Share();
  ASSERT_EQ(listen(door.get(), SOMAXCONN), 0);
  std::vector<std::optional<Line>> lines;
  for (int i = 0; i < 8; ++i) {
    lines.push_back(Connect(name));
    ASSERT_TRUE(lines.back());
    EXPECT_TRUE(IsPresent(getpid(), name)) << i;
  }
}

TEST(PresenceTest, TheNameIsOfPlaceRunAndWorker) {
  const smdebug::testing::TempDir dir;
  const auto here = OpenLocalStorage(dir.path().string());
  const auto same = OpenLocalStorage(dir.path().string() + "/./");
  const auto elsewhere = OpenLocalStorage("/");
  EXPECT_EQ(PresenceName(*here, "r", "w"), PresenceName(*same, "r", "w"));
  EXPECT_NE(PresenceName(*here, "r", "w"), PresenceName(*elsewhere, "r", "w"));
  EXPECT_NE(PresenceName(*here, "r", "w"), PresenceName(*here, "r2", "w"));
  EXPECT_NE(PresenceName(*here, "r", "w"), PresenceName(*here, "r", "w2"));
}

}  // namespace
}  // namespace smdebug::run
