#include "src/cli/output/terminal.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <optional>
#include <string>

#include <gtest/gtest.h>

#include "tests/testing/environment.h"

namespace smdebug::cli {
namespace {

using testing::ScopedEnvironment;

// A terminal of 40 columns that nobody sits at.
class TerminalTest : public ::testing::Test {
 protected:
  void SetUp() override {
    master_ = posix_openpt(O_RDWR | O_NOCTTY);
    char name[100];
    if (master_ < 0 || grantpt(master_) != 0 || unlockpt(master_) != 0 ||
        ptsname_r(master_, name, sizeof(name)) != 0) {
      GTEST_SKIP() << "this machine has no pseudo-terminals";
    }
    fd_ = open(name, O_RDWR | O_NOCTTY);
    if (fd_ < 0) GTEST_SKIP() << "this machine has no pseudo-terminals";
    const winsize size = {
        .ws_row = 10, .ws_col = 40, .ws_xpixel = 0, .ws_ypixel = 0};
    ASSERT_EQ(ioctl(fd_, TIOCSWINSZ, &size), 0);
  }
  void TearDown() override {
    if (fd_ >= 0) close(fd_);
    if (master_ >= 0) close(master_);
  }

  const ScopedEnvironment no_color_{"NO_COLOR", std::nullopt};
  const ScopedEnvironment term_{"TERM", "xterm"};
  const ScopedEnvironment lc_all_{"LC_ALL", std::nullopt};
  const ScopedEnvironment lc_ctype_{"LC_CTYPE", std::nullopt};
  const ScopedEnvironment lang_{"LANG", "en_GB.UTF-8"};
  int master_ = -1;
  int fd_ = -1;
};

TEST_F(TerminalTest, ATerminalHasColourAndAWidth) {
  const Terminal terminal = DetectTerminal(fd_);
  EXPECT_TRUE(terminal.is_terminal);
  EXPECT_TRUE(terminal.colour);
  EXPECT_TRUE(terminal.utf8);
  EXPECT_EQ(terminal.width, 40u);
}

TEST_F(TerminalTest, NoColorTurnsColourOff) {
  {
    const ScopedEnvironment no_color("NO_COLOR", "1");
    EXPECT_FALSE(DetectTerminal(fd_).colour);
  }
  {
    const ScopedEnvironment no_color("NO_COLOR", "");  // As if it were unset.
    EXPECT_TRUE(DetectTerminal(fd_).colour);
  }
}

TEST_F(TerminalTest, ADumbTerminalIsNone) {
  for (const std::optional<std::string>& name :
       {std::optional<std::string>("dumb"), std::optional<std::string>()}) {
    const ScopedEnvironment term("TERM", name);
    EXPECT_FALSE(DetectTerminal(fd_).is_terminal);
    EXPECT_FALSE(DetectTerminal(fd_).colour);
  }
}

TEST_F(TerminalTest, APipeIsNoTerminal) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const Terminal terminal = DetectTerminal(ends[1]);
  EXPECT_FALSE(terminal.is_terminal);
  EXPECT_FALSE(terminal.colour);
  EXPECT_TRUE(terminal.utf8);
  close(ends[0]);
  close(ends[1]);
}

TEST_F(TerminalTest, TheFirstLocaleVariableThatIsSetDecides) {
  const ScopedEnvironment lc_ctype("LC_CTYPE", "C");
  EXPECT_FALSE(DetectTerminal(fd_).utf8);
  const ScopedEnvironment lc_all("LC_ALL", "C.utf8");
  EXPECT_TRUE(DetectTerminal(fd_).utf8);
}

TEST_F(TerminalTest, WithoutALocaleThereIsAsciiOnly) {
  const ScopedEnvironment lang("LANG", std::nullopt);
  EXPECT_FALSE(DetectTerminal(fd_).utf8);
}

TEST_F(TerminalTest, PaintLeavesPlainTextAlone) {
  EXPECT_EQ(Paint({}, Colour::kRed, "text"), "text");
  const Terminal colour = {.is_terminal = true, .colour = true};
  EXPECT_EQ(Paint(colour, Colour::kRed, "text"), "\x1B[31mtext\x1B[0m");
  EXPECT_EQ(Paint(colour, Colour::kBold, ""), "");
}

}  // namespace
}  // namespace smdebug::cli
