#include "src/cli/command_page.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/cli/command.h"
#include "tests/testing/cli.h"
#include "tests/testing/files.h"

namespace smdebug::cli {
namespace {

using ::testing::HasSubstr;

TEST(CommandPageTest, ThePageInTheDocumentsIsUpToDate) {
  const std::string path = SMDEBUG_SOURCE_DIR "/docs/reference/cli.md";
  EXPECT_TRUE(testing::ReadFile(path) == CommandPage())
      << path << " is not what the commands say; make it anew with\n"
      << "  build/release/bin/smdebug help --markdown > docs/reference/cli.md";
}

TEST(CommandPageTest, EveryCommandHasItsOptionsExamplesAndExitCodes) {
  const std::string page = CommandPage();
  for (const auto& command : AllCommands()) {
    const std::string name(command->name());
    const size_t start = page.find("\n## smdebug " + name + "\n");
    ASSERT_NE(start, std::string::npos) << name;
    const std::string section =
        page.substr(start, page.find("\n## smdebug ", start + 1) - start);
    EXPECT_THAT(section, HasSubstr("```\nsmdebug " + name + " "));
    if (name != "completion") {  // It prints a script.
      EXPECT_THAT(section, HasSubstr("| `--json` | Print JSON"));
    }
    EXPECT_THAT(section, HasSubstr("| 0 | "));
    EXPECT_THAT(section, HasSubstr("| 2 | "));
  }
}

TEST(CommandPageTest, HelpPrintsIt) {
  EXPECT_EQ(testing::CallCli({"help", "--markdown"}).out, CommandPage());
}

}  // namespace
}  // namespace smdebug::cli
