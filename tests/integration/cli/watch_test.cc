// `smdebug watch`, beside hooks that are writing.
#include <signal.h>
#include <unistd.h>

#include <limits>
#include <sstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/cli/output/watch_view.h"
#include "tests/integration/cli/live_call.h"
#include "tests/integration/cli/runs.h"
#include "tests/testing/cli.h"
#include "tests/testing/files.h"
#include "tests/testing/temp_dir.h"

namespace smdebug::cli {
namespace {

using testing::CallCli;
using testing::CliOutcome;
using ::testing::HasSubstr;
using testing::LiveCall;
using testing::MakeKilled;
using ::testing::Not;
using testing::ReadFile;
using testing::SaveEverything;
using testing::SaveFloats;
using ::testing::StartsWith;
using testing::TempDir;
using testing::WriteSmallRun;

void SaveStep(Hook& hook, float value) {
  hook.BeginStep();
  SaveFloats(hook, "w", {value});
}

constexpr float kInfinity = std::numeric_limits<float>::infinity();

TEST(WatchTest, AFindingIsToldWhileTheJobRuns) {
  const TempDir dir;
  LiveCall watch({"watch", dir / "run", "--rule", "ExplodingTensor"});
  watch.AwaitErr("waiting for a run");
  Hook hook(SaveEverything(dir / "run"));
  SaveStep(hook, 1);
  SaveStep(hook, kInfinity);
  SaveStep(hook, 2);  // Ends the step before.
  watch.AwaitOut("ExplodingTensor: step 1, w: ");
  hook.Close();
  EXPECT_EQ(watch.Join(), kExitFound);
  EXPECT_THAT(watch.out(),
              HasSubstr("\nExplodingTensor  IssuesFound at 1 step\n"));
}

TEST(WatchTest, AHealthyJobEndsWell) {
  const TempDir dir;
  LiveCall watch({"watch", dir / "run", "--rule", "ExplodingTensor"});
  Hook hook(SaveEverything(dir / "run"));
  for (int i = 0; i < 5; ++i) SaveStep(hook, 1);
  hook.Close();
  EXPECT_EQ(watch.Join(), kExitOk);
  EXPECT_EQ(watch.out(), "ExplodingTensor  NoIssuesFound\n");
}

TEST(WatchTest, TheReportIsThereWhileTheJobRuns) {
  const TempDir dir;
  Hook hook(SaveEverything(dir / "run"));
  SaveStep(hook, kInfinity);
  SaveStep(hook, 1);
  LiveCall watch({"watch", dir / "run", "--json", "--rule", "ExplodingTensor"});
  watch.AwaitOut(R"("event":"finding")");
  hook.Close();
  EXPECT_EQ(watch.Join(), kExitFound);
  const auto report = nlohmann::json::parse(
      ReadFile((dir / "run") + "/rules/ExplodingTensor.json"));
  EXPECT_EQ(report["status"], "IssuesFound");
  EXPECT_EQ(report["ended"], true);
}

TEST(WatchTest, ASecondCallDoesNotTellAgain) {
  const TempDir dir;
  {
    Hook hook(SaveEverything(dir / "run"));
    SaveStep(hook, kInfinity);
    hook.Close();
  }
  const std::vector<std::string> args = {"watch", dir / "run", "--rule",
                                         "ExplodingTensor"};
  EXPECT_THAT(CallCli(args).out, HasSubstr("step 0"));
  const CliOutcome second = CallCli(args);
  EXPECT_EQ(second.code, kExitFound);
  EXPECT_THAT(second.out, Not(HasSubstr("step 0,")));
}

TEST(WatchTest, InterruptedItSaysSoInTheReport) {
  const TempDir dir;
  Hook hook(SaveEverything(dir / "run"));
  SaveStep(hook, kInfinity);
  SaveStep(hook, 1);
  LiveCall watch({"watch", dir / "run", "--rule", "ExplodingTensor", "--rule",
                  "VanishingGradient"});
  watch.AwaitOut("step 0");
  kill(getpid(), SIGINT);
  EXPECT_EQ(watch.Join(), kExitInterrupted);
  EXPECT_THAT(watch.out(), HasSubstr("VanishingGradient  Stopped\n"));
  hook.Close();
}

TEST(WatchTest, GivesUpWhenNothingComes) {
  const TempDir dir;
  const CliOutcome outcome = CallCli(
      {"watch", dir / "run", "--timeout", "0", "--rule", "ExplodingTensor"});
  EXPECT_EQ(outcome.code, kExitError);
  EXPECT_THAT(outcome.err, HasSubstr("nothing new for 0 s"));
}

TEST(WatchTest, AKilledJobIsToldAndItsExitCodeIsThatOfTheRules) {
  const TempDir dir;
  WriteSmallRun(dir / "run");
  MakeKilled(dir / "run");
  const CliOutcome outcome =
      CallCli({"watch", dir / "run", "--rule", "ExplodingTensor"});
  EXPECT_EQ(outcome.code, kExitOk);
  EXPECT_THAT(outcome.err, StartsWith("smdebug: the run was killed: worker_0"));
  EXPECT_EQ(outcome.out, "ExplodingTensor  NoIssuesFound\n");
}

TEST(WatchTest, ATerminalIsDrawnAgainInPlace) {
  const TempDir dir;
  {
    Hook hook(SaveEverything(dir / "run"));
    SaveStep(hook, kInfinity);
    hook.Close();
  }
  const Terminal terminal = {.is_terminal = true, .width = 60};
  const CliOutcome outcome =
      CallCli({"watch", dir / "run", "--rule", "ExplodingTensor"}, terminal);
  EXPECT_EQ(outcome.code, kExitFound);
  EXPECT_THAT(outcome.out, StartsWith("0 steps judged\n"));
  EXPECT_THAT(outcome.out, HasSubstr("\x1B[2A\r\x1B[J1 step judged, the last "
                                     "is 0\nExplodingTensor  IssuesFound"));
}

TEST(WatchTest, LinesFitTheTerminal) {
  std::vector<RuleReport> reports(2);
  reports[0] = {.name = "Short", .status = RuleStatus::kInProgress};
  reports[1] = {.name = "ALongerName",
                .status = RuleStatus::kError,
                .details = std::string(200, 'x')};
  const std::string text = WatchText(reports, 3, 7, {}, {.width = 40});
  EXPECT_THAT(text, StartsWith("3 steps judged, the last is 7\n"
                               "Short        InProgress\n"));
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    EXPECT_LT(line.size(), 40u);
  }
}

}  // namespace
}  // namespace smdebug::cli
