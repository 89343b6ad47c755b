#include "src/cli/command.h"

#include <set>
#include <sstream>
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
using ::testing::Not;

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

TEST(CommandTest, ACallOfNothingShowsTheHelp) {
  const CliOutcome outcome = CallCli({});
  EXPECT_EQ(outcome.code, kExitError);
  EXPECT_EQ(outcome.err,
            CallCli({"--help"}).out + "\nsmdebug: no command is given\n");
  EXPECT_THAT(outcome.err, HasSubstr("\nUsage: smdebug <command> [options]\n"));
  EXPECT_THAT(outcome.err, HasSubstr("\nCommands:\n"));
  EXPECT_THAT(outcome.out, IsEmpty());
}

TEST(CommandTest, UsageNamesEveryArgument) {
  EXPECT_THAT(CallCli({"plot", "--help"}).out,
              HasSubstr("Usage: smdebug plot <run>... <tensor> [options]\n"));
  EXPECT_THAT(CallCli({"show", "--help"}).out,
              HasSubstr("Usage: smdebug show <run>... <tensor> [options]\n"));
  EXPECT_THAT(CallCli({"tail", "--help"}).out,
              HasSubstr("Usage: smdebug tail <run> [options]\n"));
}

TEST(CommandTest, HelpFitsANarrowTerminal) {
  const Terminal narrow = {.is_terminal = true, .width = 50};
  for (const auto& command : AllCommands()) {
    const std::string help =
        CallCli({std::string(command->name()), "--help"}, narrow).out;
    std::istringstream lines(help.substr(0, help.find("Examples:")) +
                             help.substr(help.find("Exit codes:")));
    for (std::string line; std::getline(lines, line);) {
      EXPECT_LE(line.size(), 50u) << command->name() << ": " << line;
    }
  }
}

TEST(CommandTest, OptionsMayStandBeforeTheRun) {
  const std::vector<std::vector<std::string>> calls = {
      {"check", "--rule", "ExplodingTensor", "/no/run", "--json"},
      {"show", "--step", "10", "/no/run", "T"},
      {"show", "--step=10", "/no/run", "T"},
      {"tail", "--from", "100", "--timeout", "0", "/no/run"},
      {"export", "--regex", "lr", "/no/run", "--csv", "-"},
      {"ls", "--mode", "train", "/no/run", "fc.bias"},
      {"plot", "--reduction", "mean", "/no/run", "T"},
  };
  for (const auto& args : calls) {
    const std::string said = CallCli(args).err;
    EXPECT_THAT(said, Not(HasSubstr("is missing"))) << args[0];
    EXPECT_THAT(said, Not(HasSubstr("more than once"))) << args[0];
  }
}

TEST(CommandTest, WrongCallsExitWithTwoAndSayWhatIsWrong) {
  const struct {
    std::vector<std::string> args;
    std::string message;
  } cases[] = {
      {{""}, "'' is not a command"},
      {{"stauts", "run"},
       "'stauts' is not a command; did you mean 'status'? the commands are: "},
      {{"--bogus"}, "there is no option '--bogus'; expected one of --help"},
      {{"--json", "status", "run"},
       "smdebug: '--json' stands before the command; options come after it: "
       "`smdebug status --json`\n"},
      {{"status"}, "<run> is missing\n`smdebug status --help` shows"},
      {{"status", "a", "b"}, "'b' is one argument too many"},
      {{"status", "a", "--bogus"}, "there is no option '--bogus'"},
      {{"status", "--jsno"}, "did you mean '--json'?"},
      {{"status", "a", "--json=x"}, "--json takes no value"},
      {{"tail", "r", "--from"}, "smdebug: --from needs a value: N\n"},
      {{"tail", "r", "--from="}, "smdebug: --from needs a value: N\n"},
      {{"ls", "r", "--step="}, "smdebug: --step needs a value: N\n"},
      {{"check", "r", "--rule="}, "smdebug: --rule needs a value: "},
      {{"ls", "r", "--mode", "eval", "--mode", "train"},
       "--mode is given more than once"},
      {{"export", "r", "--npz", "a", "--csv", "b"},
       "--npz and --csv do not go together"},
      {{"plot", "r", "t", "--points", "3"}, "--points needs --json, too"},
      {{"plot", "r", "t", "--reduction", "men"}, "did you mean 'mean'"},
      {{"config", "--framework", "pytorhc"}, "did you mean 'pytorch'?"},
      {{"rules", "VanishingGradiant"}, "did you mean 'VanishingGradient'?"},
      {{"check", "r", "--rule", "AllZero:treshold=3"},
       "did you mean 'threshold'?"},
      {{"check", "r", "--rule", "AllZero", "--start-step", "5", "--end-step",
        "5"},
       "--end-step 5 leaves nothing to judge"},
      {{"tail", "r", "--tensor", "("}, "--tensor: '(' is not allowed"},
      {{"ls", "r", "--regex", "("}, "--regex: '(' is not allowed"},
  };
  for (const auto& test : cases) {
    const CliOutcome outcome = CallCli(test.args);
    EXPECT_EQ(outcome.code, kExitError);
    EXPECT_THAT(outcome.err, HasSubstr("smdebug: "));
    EXPECT_THAT(outcome.err, HasSubstr(test.message));
    EXPECT_THAT(outcome.out, IsEmpty());
  }
}

TEST(CommandTest, HelpFitsATerminalAndHasNoWordsOfTheParser) {
  for (const auto& command : AllCommands()) {
    const std::string name(command->name());
    const std::string help = CallCli({name, "--help"}).out;
    for (const char* word :
         {"REQUIRED", "Excludes", "Positionals", "Needs", "NONNEGATIVE",
          "POSITIVE", "INT:", "UINT", "FLOAT", "TEXT"}) {
      EXPECT_THAT(help, Not(HasSubstr(word))) << name;
    }
    std::istringstream lines(help.substr(0, help.find("Examples:")));
    for (std::string line; std::getline(lines, line);) {
      EXPECT_LE(line.size(), 80u) << name << ": " << line;
    }
  }
}

TEST(CommandTest, NumbersThatAreNotAllowedAreNamedWithWhatIs) {
  const std::string seconds = "a number of seconds, 0 or more";
  const std::string number = "a number, 0 or more";
  const std::string whole = "a whole number of at least 0";
  const struct {
    std::vector<std::string> args;
    std::string option;
    std::string allowed;
  } cases[] = {
      {{"tail", "r"}, "--timeout", seconds},
      {{"tail", "r"}, "--from", whole},
      {{"watch", "r", "--rule", "Overfit"}, "--timeout", seconds},
      {{"watch", "r", "--rule", "Overfit"}, "--start-step", whole},
      {{"check", "r", "--rule", "Overfit"}, "--end-step", whole},
      {{"diff", "r", "s"}, "--rtol", number},
      {{"diff", "r", "s"}, "--atol", number},
      {{"diff", "r", "s"}, "--limit", whole},
      {{"plot", "r", "t"}, "--width", "a whole number from 20 to 1000"},
      {{"plot", "r", "t"}, "--height", "a whole number from 3 to 1000"},
      {{"plot", "r", "t", "--json"},
       "--points",
       "a whole number of at least 1"},
      {{"ls", "r"}, "--step", whole},
      {{"export", "r", "--csv", "-"}, "--step", whole},
      {{"show", "r", "t"}, "--step", whole + ", or last"},
      {{"show", "r", "t"}, "--values", whole + ", or all"},
  };
  for (const auto& test : cases) {
    for (const std::string value : {"-1", "x", "", "1x", "nan", "-inf"}) {
      std::vector<std::string> args = test.args;
      args.insert(args.end(), {test.option, value});
      const CliOutcome outcome = CallCli(args);
      EXPECT_EQ(outcome.code, kExitError);
      EXPECT_EQ(outcome.err, "smdebug: " + test.option + ": '" + value +
                                 "' is not allowed; expected " + test.allowed +
                                 "\n`smdebug " + test.args[0] +
                                 " --help` shows what is allowed.\n");
    }
  }
}

}  // namespace
}  // namespace smdebug::cli
