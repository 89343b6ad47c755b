#include "src/cli/shell/completion.h"

#include <cstdio>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/cli/command.h"
#include "src/cli/shell/grammar.h"
#include "tests/testing/cli.h"
#include "tests/testing/files.h"
#include "tests/testing/temp_dir.h"

namespace smdebug::cli {
namespace {

using testing::CallCli;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;
using ::testing::Not;
using testing::TempDir;
using ::testing::UnorderedElementsAre;

TEST(CompletionTest, OfEveryValueItIsKnownWhatToOffer) {
  for (const auto& command : AllCommands()) {
    CLI::App app;
    DeclareOn(app, *command);
    for (const CLI::Option* option : app.get_options()) {
      if (option->get_items_expected_max() == 0) continue;
      EXPECT_TRUE(FindValues(option->get_name()) ||
                  FindValues(option->get_type_name()))
          << command->name() << ' ' << option->get_name()
          << ": FindValues() in src/cli/shell/grammar.cc does not know it";
    }
  }
}

TEST(CompletionTest, EachShellHasEveryCommandAndOption) {
  for (const std::string& shell : ShellNames()) {
    const std::string script = CallCli({"completion", shell}).out;
    for (const GrammarCommand& command : MakeGrammar()) {
      EXPECT_THAT(script, HasSubstr(command.name));
      for (const GrammarOption& option : command.options) {
        EXPECT_THAT(script, HasSubstr(option.name.substr(2))) << shell;
      }
    }
    EXPECT_THAT(script, HasSubstr("VanishingGradient"));
  }
}

TEST(CompletionTest, AnotherShellIsRefused) {
  const auto refused = CallCli({"completion", "bsh"});
  EXPECT_EQ(refused.code, kExitError);
  EXPECT_THAT(refused.err, HasSubstr("bash"));
}

// What real shells offer in a folder with the folders run-a and run-b, and the
// file hook.json.
class ShellTest : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const char* folder : {"run-a", "run-b"}) {
      std::filesystem::create_directory(dir_ / folder);
    }
    testing::WriteFile(dir_ / "hook.json", "{}");
    for (const std::string& shell : ShellNames()) {
      testing::WriteFile(dir_ / ("script." + shell), CompletionScript(shell));
    }
  }

  static bool Has(const std::string& shell) {
    // NOLINTNEXTLINE(concurrency-mt-unsafe)
    return std::system(("command -v " + shell + " >/dev/null").c_str()) == 0;
  }

  // The lines that `program` prints, which `shell` runs in the folder.
  std::vector<std::string> Run(const std::string& shell,
                               const std::string& program) const {
    testing::WriteFile(dir_ / "program", program);
    const std::string call = fmt::format("cd '{}' && {} ./program 2>&1",
                                         std::string(dir_ / ""), shell);
    const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(call.c_str(), "r"),
                                                     pclose);
    std::string text;
    for (int c = fgetc(pipe.get()); c != EOF; c = fgetc(pipe.get())) {
      text += static_cast<char>(c);
    }
    std::istringstream stream(text);
    std::vector<std::string> lines;
    for (std::string line; std::getline(stream, line);) lines.push_back(line);
    return lines;
  }

  // `words` as bash splits them; the last one is being typed.
  std::vector<std::string> InBash(const std::vector<std::string>& words) const {
    std::string list = "smdebug";
    for (const std::string& word : words) list += " '" + word + "'";
    return Run("bash --norc",
               fmt::format("set -u\nsource ./script.bash\nCOMP_WORDS=({})\n"
                           "COMP_CWORD={}\n_smdebug\n"
                           "for word in \"${{COMPREPLY[@]}}\"; do\n"
                           "  echo \"$word\"\ndone\n",
                           list, words.size()));
  }

  std::vector<std::string> InFish(const std::string& typed) const {
    std::vector<std::string> lines =
        Run("fish --no-config",
            fmt::format("source ./script.fish\ncomplete -C '{}'\n", typed));
    for (std::string& line : lines) line = line.substr(0, line.find('\t'));
    return lines;
  }

  TempDir dir_;
};

TEST_F(ShellTest, BashCompletesCommandsAndOptions) {
  if (!Has("bash")) GTEST_SKIP() << "there is no bash";
  EXPECT_THAT(InBash({"st"}), ElementsAre("status", "steps"));
  EXPECT_THAT(InBash({""}), IsSupersetOf({"watch", "completion", "help"}));
  EXPECT_THAT(InBash({"watch", "--ti"}), ElementsAre("--timeout"));
  EXPECT_THAT(InBash({"watch", "run-a", "--"}), Contains("--rule"));
  EXPECT_THAT(InBash({"help", "wat"}), ElementsAre("watch"));
  EXPECT_THAT(InBash({"completion", ""}), ElementsAre("bash", "zsh", "fish"));
  EXPECT_THAT(InBash({"nonsense", ""}), IsEmpty());
}

TEST_F(ShellTest, BashCompletesValues) {
  if (!Has("bash")) GTEST_SKIP() << "there is no bash";
  const auto rule = ElementsAre("VanishingGradient");
  EXPECT_THAT(InBash({"rules", "Van"}), rule);
  EXPECT_THAT(InBash({"watch", "--rule", "Van"}), rule);
  EXPECT_THAT(InBash({"watch", "--rule", "=", "Van"}), rule);
  EXPECT_THAT(InBash({"watch", "--rule", "="}), Contains("AllZero"));
  EXPECT_THAT(InBash({"watch", "--rule", "Overfit", ":", "pat"}), IsEmpty());
  EXPECT_THAT(InBash({"watch", "--action", "st"}), ElementsAre("stop"));
  EXPECT_THAT(InBash({"watch", "--action", "em"}), ElementsAre("email:"));
  EXPECT_THAT(InBash({"ls", "--mode", ""}),
              ElementsAre("train", "eval", "predict", "global"));
  EXPECT_THAT(InBash({"plot", "--reduction", "abs_l"}),
              ElementsAre("abs_l1", "abs_l2"));
  EXPECT_THAT(InBash({"export", "run-a", "--reduction", "mean,abs_l"}),
              ElementsAre("mean,abs_l1", "mean,abs_l2"));
  EXPECT_THAT(InBash({"watch", "--timeout", ""}), IsEmpty());
}

TEST_F(ShellTest, BashCompletesFoldersForRunsAndFilesForFiles) {
  if (!Has("bash")) GTEST_SKIP() << "there is no bash";
  const auto runs = UnorderedElementsAre("run-a", "run-b");
  EXPECT_THAT(InBash({"status", ""}), runs);
  EXPECT_THAT(InBash({"watch", "--rule", "Overfit", "--json", "ru"}), runs);
  EXPECT_THAT(InBash({"watch", "--rule", "Overfit", ":", "a", "=", "1", "r"}),
              runs);
  EXPECT_THAT(InBash({"diff", "run-a", "ru"}), runs);
  EXPECT_THAT(InBash({"check", "--other-trial", "ru"}), runs);
  EXPECT_THAT(InBash({"verify", "run-a", ""}), IsEmpty());
  EXPECT_THAT(InBash({"config", "ho"}), ElementsAre("hook.json"));
}

TEST_F(ShellTest, FishCompletesTheSame) {
  if (!Has("fish")) GTEST_SKIP() << "there is no fish";
  EXPECT_THAT(InFish("smdebug st"), ElementsAre("status", "steps"));
  EXPECT_THAT(InFish("smdebug watch --ti"), ElementsAre("--timeout"));
  EXPECT_THAT(InFish("smdebug watch --rule Van"),
              ElementsAre("VanishingGradient"));
  EXPECT_THAT(InFish("smdebug rules Van"), ElementsAre("VanishingGradient"));
  EXPECT_THAT(InFish("smdebug status ru"),
              UnorderedElementsAre("run-a/", "run-b/"));
  EXPECT_THAT(InFish("smdebug status ho"), Not(Contains("hook.json")));
  EXPECT_THAT(InFish("smdebug config ho"), ElementsAre("hook.json"));
}

// _arguments works only while a line is edited, so here it prints what it is
// given.
TEST_F(ShellTest, ZshReadsTheScriptAndGetsTheSpecifications) {
  if (!Has("zsh")) GTEST_SKIP() << "there is no zsh";
  EXPECT_THAT(Run("zsh -f -n", CompletionScript("zsh")), IsEmpty());
  const std::vector<std::string> specs = Run("zsh -f", R"(
compdef() { echo "compdef $*" }
_describe() { eval "print -l -- \"\${$4[@]}\"" }
_arguments() {
  if [[ $1 == -C ]]; then state=$wanted; return; fi
  print -l -- "$@"
}
source ./script.zsh
wanted=command; _smdebug
wanted=argument; words=(watch); _smdebug
)");
  EXPECT_THAT(specs, IsSupersetOf({"compdef _smdebug smdebug",
                                   "steps:List the saved steps of a run.",
                                   "1:run:_files -/",
                                   "--json[Print JSON instead of text]"}));
  EXPECT_THAT(specs, Contains(HasSubstr("*--rule=[Name, ")));
}

}  // namespace
}  // namespace smdebug::cli
