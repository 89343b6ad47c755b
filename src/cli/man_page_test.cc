#include "src/cli/man_page.h"

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/cli/command.h"
#include "tests/testing/cli.h"
#include "tests/testing/files.h"
#include "tests/testing/temp_dir.h"

namespace smdebug::cli {
namespace {

using ::testing::HasSubstr;

TEST(ManPageTest, MarkdownBecomesRoff) {
  EXPECT_EQ(RoffOf("One `--json`\nand **two**.\n\n.dot [a](b.md)\n"),
            "One \\fB\\-\\-json\\fR\nand \\fBtwo\\fR.\n.PP\n\\&.dot a\n");
  EXPECT_EQ(
      RoffOf("| Key | Value |\n|---|---|\n| `a` | b \\| \\<c |\n\nEnd.\n"),
      ".TP\n\\fBa\\fR\nb | <c\n.PP\nEnd.\n");
  EXPECT_EQ(RoffOf("a\n\n<!-- given: x -->\n```python\nb\n```\n"),
            "a\n.PP\n.RS 4\n.nf\nb\n.fi\n.RE\n");
  EXPECT_EQ(RoffOf("## Exit codes\n\n```\nx \\n\n```\n"),
            ".SH EXIT CODES\n.PP\n.RS 4\n.nf\nx \\en\n.fi\n.RE\n");
}

TEST(ManPageTest, HelpPrintsItWithEveryCommand) {
  const std::string page = testing::CallCli({"help", "--man"}).out;
  EXPECT_EQ(page, ManPage());
  for (const auto& command : AllCommands()) {
    EXPECT_THAT(
        page, HasSubstr(".SS smdebug " + std::string(command->name()) + "\n"));
  }
}

TEST(ManPageTest, GroffHasNothingToSay) {
  // NOLINTNEXTLINE(concurrency-mt-unsafe)
  if (std::system("command -v groff >/dev/null") != 0) {
    GTEST_SKIP() << "there is no groff";
  }
  const testing::TempDir dir;
  const std::string path = dir / "smdebug.1";
  testing::WriteFile(path, ManPage());
  const std::string call = "groff -man -Tutf8 -ww -z '" + path + "' 2>&1";
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(call.c_str(), "r"),
                                                   pclose);
  std::string said;
  for (int c = fgetc(pipe.get()); c != EOF; c = fgetc(pipe.get())) {
    said += static_cast<char>(c);
  }
  EXPECT_EQ(said, "");
}

}  // namespace
}  // namespace smdebug::cli
