#include "src/base/child.h"

#include <unistd.h>

#include <string>
#include <system_error>

#include <gtest/gtest.h>

#include "tests/testing/environment.h"

namespace smdebug::base {
namespace {

pid_t StartShell(const char* script) {
  return StartChild({.words = {"sh", "-c", script},
                     .environment = {"SMDEBUG_WORD=7", "PATH=/usr/bin:/bin"}});
}

TEST(ChildTest, TellsHowAChildEnded) {
  EXPECT_EQ(EndText(Reap(StartShell("exit $SMDEBUG_WORD")).value()),
            "exit code 7");
  EXPECT_EQ(EndText(Reap(StartShell("kill -9 $$")).value()), "signal 9");
}

TEST(ChildTest, AChildLeadsAGroupOfItsOwn) {
  const pid_t pid = StartShell("true");
  EXPECT_EQ(getpgid(pid), pid);
  Reap(pid);
}

TEST(ChildTest, AProgramIsFoundByItsPathOrOnThePath) {
  EXPECT_TRUE(IsProgram("sh"));
  EXPECT_TRUE(IsProgram("/bin/sh"));
  for (const char* none : {"", "no-such-program", "/no/such/program", "./sh",
                           "/bin", "/etc/passwd"}) {
    EXPECT_FALSE(IsProgram(none)) << none;
  }
  const testing::ScopedEnvironment path("PATH", "/nowhere:");
  EXPECT_FALSE(IsProgram("sh"));
  EXPECT_TRUE(IsProgram("/bin/sh"));
}

TEST(ChildTest, AProgramThatIsNotThereIsNamed) {
  try {
    StartChild({.words = {"/no/such/program"}, .environment = {}});
    FAIL();
  } catch (const std::system_error& error) {
    EXPECT_EQ(error.code(), std::errc::no_such_file_or_directory);
    EXPECT_NE(std::string(error.what()).find("/no/such/program"),
              std::string::npos);
  }
}

TEST(ChildTest, AChildIsReapedOnce) {
  const pid_t pid = StartShell("true");
  EXPECT_TRUE(Reap(pid));
  EXPECT_FALSE(Reap(pid));
}

}  // namespace
}  // namespace smdebug::base
