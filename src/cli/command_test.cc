#include "src/cli/command.h"

#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "smdebug/version.h"
#include "tests/testing/cli.h"

namespace smdebug::cli {
namespace {

using testing::CallCli;
using testing::CliOutcome;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(CommandTest, HelpListsEveryCommand) {
  const CliOutcome help = CallCli({"--help"});
  EXPECT_EQ(help.code, kExitOk);
  EXPECT_THAT(help.err, IsEmpty());
  for (const auto& command : AllCommands()) {
    EXPECT_THAT(help.out, HasSubstr(std::string(command->name())));
    EXPECT_THAT(help.out, HasSubstr(std::string(command->summary())));
  }
}

TEST(CommandTest, EveryCommandShowsItsExamples) {
  for (const auto& command : AllCommands()) {
    const std::string name(command->name());
    const CliOutcome help = CallCli({name, "--help"});
    EXPECT_EQ(help.code, kExitOk);
    EXPECT_THAT(help.out, HasSubstr(std::string(command->examples())));
    EXPECT_THAT(help.out, HasSubstr("smdebug " + name));
  }
}

TEST(CommandTest, CommandsHaveDifferentNames) {
  std::set<std::string_view> names;
  const auto commands = AllCommands();
  for (const auto& command : commands) names.insert(command->name());
  EXPECT_EQ(names.size(), commands.size());
}

TEST(CommandTest, HelpIsAlsoACommand) {
  EXPECT_EQ(CallCli({"help"}).out, CallCli({"--help"}).out);
  EXPECT_EQ(CallCli({"help", "ls"}).out, CallCli({"ls", "--help"}).out);
  EXPECT_EQ(CallCli({"help", "lss"}).code, kExitError);
}

TEST(CommandTest, EveryCommandTellsItsExitCodes) {
  for (const auto& command : AllCommands()) {
    const std::string help =
        CallCli({std::string(command->name()), "--help"}).out;
    EXPECT_EQ(command->exit_codes().front().code, kExitOk);
    for (const ExitCode& code : command->exit_codes()) {
      EXPECT_THAT(help, HasSubstr(std::string(code.meaning)));
    }
  }
}

TEST(CommandTest, VersionIsPrinted) {
  const CliOutcome version = CallCli({"--version"});
  EXPECT_EQ(version.code, kExitOk);
  EXPECT_THAT(version.out, HasSubstr(std::string(kVersion)));
}

TEST(CommandTest, WrongCallsExitWithTwoAndSayWhatIsWrong) {
  const struct {
    std::vector<std::string> args;
    std::string message;
  } cases[] = {
      {{}, "a command is missing; the commands are: "},
      {{""}, "'' is not a command"},
      {{"stauts", "run"},
       "'stauts' is not a command; did you mean status? the commands are: "},
      {{"--bogus"}, "--bogus"},
      {{"status"}, "run is required"},
      {{"status", "a", "b"}, "not expected: b"},
      {{"status", "a", "--bogus"}, "not expected: --bogus"},
  };
  for (const auto& test : cases) {
    const CliOutcome outcome = CallCli(test.args);
    EXPECT_EQ(outcome.code, kExitError);
    EXPECT_THAT(outcome.err, HasSubstr("smdebug: "));
    EXPECT_THAT(outcome.err, HasSubstr(test.message));
    EXPECT_THAT(outcome.out, IsEmpty());
  }
}

}  // namespace
}  // namespace smdebug::cli
