// `smdebug watch`, beside hooks that are writing.
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <limits>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>
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
using testing::CountLines;
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

TEST(WatchTest, DamageIsToldWhenItIsMet) {
  const TempDir dir;
  Hook hook(SaveEverything(dir / "run"));
  hook.BeginStep();
  SaveFloats(hook, "w", {1});
  hook.EndStep();
  ASSERT_TRUE(hook.Flush());
  LiveCall watch({"watch", dir / "run", "--rule", "ExplodingTensor"});
  for (const char* step : {"5", "6"}) {
    testing::WriteFile(
        fmt::format("{}/index/000000000/00000000000{}_worker_0.json",
                    dir / "run", step),
        "{");
    watch.AwaitErr(fmt::format("; damaged: step {}\n", step));
  }
  hook.Close();
  EXPECT_EQ(watch.Join(), kExitError) << watch.out();  // Steps went unjudged.
  EXPECT_EQ(CountLines(watch.err()), 2u);
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

TEST(WatchTest, WhatIsThereIsJudgedHoweverShortTheTimeIs) {
  const TempDir dir;
  {
    Hook hook(SaveEverything(dir / "run"));
    for (int i = 0; i < 3; ++i) SaveStep(hook, i == 2 ? kInfinity : 1);
    hook.Close();
  }
  const CliOutcome outcome =
      CallCli({"watch", dir / "run", "--json", "--timeout", "0", "--rule",
               "ExplodingTensor"});
  EXPECT_EQ(outcome.code, kExitFound) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr(R"("steps_judged":3)"));
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

TEST(WatchTest, AWrongCallIsRefusedBeforeThereIsARun) {
  const TempDir dir;
  const std::vector<std::string> cases[] = {
      {"did you mean 'Overfit'?", "--rule", "Overfitt"},
      {"did you mean 'threshold'?", "--rule", "AllZero:treshold=3"},
      {"expected a number from 0 to 100", "--rule", "AllZero:threshold=x"},
      {"AllZero.tensor_regex: '('", "--rule", "AllZero:tensor_regex=("},
      {"AllZero cannot be evaluated", "--rule", "AllZero"},
      {"SimilarAcrossRuns cannot be", "--rule", "SimilarAcrossRuns"},
      {"absent: no such folder", "--rule", "SimilarAcrossRuns", "--other-trial",
       dir / "absent"},
      {"absent: no such folder", "--rule",
       "SimilarAcrossRuns:other_trials=" + (dir / "absent")},
      {"did you mean 'stop'?", "--rule", "Overfit", "--action", "stp"},
      {"no such file", "--config", dir / "absent.json"},
  };
  for (const std::vector<std::string>& test : cases) {
    std::vector<std::string> args = {"watch", dir / "run"};
    args.insert(args.end(), test.begin() + 1, test.end());
    const CliOutcome outcome = CallCli(args);
    EXPECT_EQ(outcome.code, kExitError);
    EXPECT_THAT(outcome.err, HasSubstr(test[0]));
    EXPECT_THAT(outcome.err, Not(HasSubstr("waiting"))) << test[0];
  }
}

TEST(WatchTest, ARunThatDoesNotAppearIsGivenUp) {
  const TempDir dir;
  for (const char* command : {"watch", "tail"}) {
    std::vector<std::string> args = {command, dir / "run", "--wait-for-run",
                                     "0"};
    if (args[0] == "watch") {
      args.insert(args.end(), {"--rule", "ExplodingTensor"});
    }
    const CliOutcome outcome = CallCli(args);
    EXPECT_EQ(outcome.code, kExitError);
    EXPECT_EQ(outcome.out, "");
    EXPECT_THAT(outcome.err, HasSubstr("waiting for a run"));
    EXPECT_THAT(outcome.err, HasSubstr("no run has appeared within 0 s"));
  }
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
  EXPECT_THAT(watch.out(),
              HasSubstr("VanishingGradient  Stopped  has judged nothing "
                        "so far: needs collection gradients"));
  hook.Close();
}

TEST(WatchTest, AFolderThatIsMovedAwayIsMissedAndAnotherRunAwaited) {
  const TempDir dir;
  const std::string run = dir / "run";
  Hook hook(SaveEverything(run));
  SaveStep(hook, kInfinity);
  SaveStep(hook, 1);
  LiveCall watch({"watch", run, "--rule", "ExplodingTensor"});
  watch.AwaitOut("step 0");
  std::filesystem::rename(run, run + ".moved");
  watch.AwaitErr("no longer holds the run");
  watch.AwaitErr("waiting for a run");
  kill(getpid(), SIGINT);
  EXPECT_EQ(watch.Join(), kExitInterrupted);
  EXPECT_THAT(watch.err(), HasSubstr("fired on a run that was here before"));
}

TEST(WatchTest, ARunThatTakesThePlaceOfTheOtherIsWatchedFromItsBeginning) {
  const TempDir dir;
  const std::string run = dir / "run";
  const std::string next = dir / "next";
  {
    Hook hook(SaveEverything(next));
    SaveStep(hook, kInfinity);
    SaveStep(hook, 1);
    SaveStep(hook, kInfinity);
    hook.Close();
  }
  Hook hook(SaveEverything(run));
  SaveStep(hook, kInfinity);
  SaveStep(hook, 1);
  LiveCall watch({"watch", run, "--rule", "ExplodingTensor"});
  watch.AwaitOut("step 0, w: ");
  ASSERT_EQ(
      renameat2(AT_FDCWD, next.c_str(), AT_FDCWD, run.c_str(), RENAME_EXCHANGE),
      0);
  watch.AwaitErr("watching the folder anew\n");
  EXPECT_EQ(watch.Join(), kExitFound);
  // Step 0 of either run was told.
  const std::string out = watch.out();
  const size_t first = out.find("step 0, w: ");
  EXPECT_NE(out.find("step 0, w: ", first + 1), std::string::npos) << out;
  EXPECT_THAT(out, HasSubstr("step 2, w: "));
  EXPECT_THAT(out, HasSubstr("\nExplodingTensor  IssuesFound at 2 steps\n"));
  hook.Close();
}

TEST(WatchTest, ARuleThatFiredOnTheRunBeforeIsNotForgotten) {
  const TempDir dir;
  const std::string run = dir / "run";
  const std::string next = dir / "next";
  {
    Hook hook(SaveEverything(next));
    SaveStep(hook, 1);
    hook.Close();
  }
  Hook hook(SaveEverything(run));
  SaveStep(hook, kInfinity);
  SaveStep(hook, 1);
  LiveCall watch(
      {"watch", run, "--rule", "ExplodingTensor", "--action", "exec:true"});
  watch.AwaitOut("exec true: done");
  ASSERT_EQ(
      renameat2(AT_FDCWD, next.c_str(), AT_FDCWD, run.c_str(), RENAME_EXCHANGE),
      0);
  EXPECT_EQ(watch.Join(), kExitFound);
  EXPECT_THAT(watch.out(), HasSubstr("ExplodingTensor  NoIssuesFound"));
  EXPECT_THAT(watch.err(),
              HasSubstr("smdebug: ExplodingTensor fired on a run that was "
                        "here before\n"));
  EXPECT_THAT(watch.err(), Not(HasSubstr("no action was done")));
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

TEST(WatchTest, ASentenceIsWrappedAndNeverCut) {
  std::vector<RuleReport> reports(2);
  reports[0] = {.name = "Short",
                .status = RuleStatus::kIssuesFound,
                .fired_total = 1,
                .findings_total = 1};
  reports[1] = {.name = "Other", .status = RuleStatus::kInProgress};
  const std::map<std::string, std::string, std::less<>> evidence = {
      {"Short", "step 3, w: 17 values are NaN and 5 values are infinite"}};
  EXPECT_EQ(WatchText(reports, 3, 7, evidence, {.width = 40}),
            "3 steps judged, the last is 7\n"
            "Short  IssuesFound at 1 step\n"
            "    step 3, w: 17 values are NaN and 5\n"
            "    values are infinite\n"
            "Other  InProgress\n");
  EXPECT_EQ(WatchText(reports, 3, 7, evidence, {.width = 120}),
            "3 steps judged, the last is 7\n"
            "Short  IssuesFound at 1 step  step 3, w: 17 values are NaN and 5 "
            "values are infinite\n"
            "Other  InProgress\n");
}

TEST(WatchTest, TheViewIsNeverHigherThanTheTerminal) {
  std::vector<RuleReport> reports;
  std::map<std::string, std::string, std::less<>> evidence;
  for (int i = 0; i < 4; ++i) {
    reports.push_back({.name = "R" + std::to_string(i),
                       .status = RuleStatus::kIssuesFound,
                       .fired_total = 1,
                       .findings_total = 1});
    evidence[reports.back().name] = "a sentence that needs a line of its own";
  }
  EXPECT_EQ(CountLines(WatchText(reports, 3, 7, evidence,
                                 {.width = 40, .height = 24})),
            13u);
  EXPECT_EQ(CountLines(WatchText(reports, 3, 7, evidence,
                                 {.width = 40, .height = 10})),
            5u);
  const std::string text =
      WatchText(reports, 3, 7, evidence, {.width = 40, .height = 5});
  EXPECT_EQ(CountLines(text), 4u);
  EXPECT_THAT(text, HasSubstr("... and 2 more lines\n"));
}

TEST(WatchTest, WhatARulePrintsIsAboveTheView) {
  std::ostringstream out;
  {
    WatchView view(out, {.is_terminal = true}, /*json=*/false);
    view.TellPrinted("a\tline \x1B[2J");
    view.TellPrinted("10 %\r50 %\r");
    view.End({.reports = {{.name = "R", .status = RuleStatus::kInProgress}},
              .steps_judged = 1,
              .last_step = 0});
    view.TellPrinted("the last words");
  }
  EXPECT_EQ(out.str(),
            "a line ?[2J\n50 %\n1 step judged, the last is 0\nR  "
            "InProgress\nthe last words\n");
}

}  // namespace
}  // namespace smdebug::cli
