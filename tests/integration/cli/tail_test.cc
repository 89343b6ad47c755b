// `smdebug tail`, beside hooks that are writing.
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include <algorithm>
#include <future>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

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
using testing::EditLedger;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::LiveCall;
using testing::MakeKilled;
using ::testing::Not;
using testing::SaveEverything;
using testing::SaveFloats;
using ::testing::StartsWith;
using testing::TempDir;
using testing::WriteSmallRun;

TEST(TailTest, AFinishedRunIsShownAndEnds) {
  const TempDir dir;
  WriteSmallRun(dir / "run");
  const CliOutcome outcome = CallCli({"tail", dir / "run"});
  EXPECT_EQ(outcome.code, kExitOk) << outcome.err;
  EXPECT_EQ(outcome.out,
            "       0  TRAIN 0  worker_0  3 tensors  scalar/loss 1\n"
            "       1  TRAIN 1  worker_0  3 tensors  scalar/loss 0.5\n"
            "       2  TRAIN 2  worker_0  3 tensors  scalar/loss 0.333333\n"
            "       3  TRAIN 3  worker_0  3 tensors  scalar/loss 0.25\n"
            "       4  EVAL 0   worker_0  2 tensors  scalar/loss 0.2\n"
            "       5  EVAL 1   worker_0  2 tensors  scalar/loss 0.166667\n");
}

TEST(TailTest, AStepWithANumberThatIsNotFiniteIsRed) {
  const TempDir dir;
  {
    Hook hook(SaveEverything(dir / "run"));
    for (const double loss : {1.0, double{NAN}}) {
      hook.BeginStep();
      SaveFloats(hook, "w", {1, 2});
      hook.SaveScalar("loss", loss);
    }
  }
  const Terminal colour = {.is_terminal = true, .colour = true};
  EXPECT_EQ(CallCli({"tail", dir / "run"}, colour).out,
            "       0  worker_0  2 tensors  scalar/loss 1\n"
            "\x1B[31m       1  worker_0  2 tensors  scalar/loss nan\x1B[0m\n");
  EXPECT_THAT(CallCli({"tail", dir / "run"}, {.is_terminal = true}).out,
              Not(HasSubstr("\x1B")));
}

TEST(TailTest, ARunThatTakesThePlaceOfTheOtherIsFollowed) {
  const TempDir dir;
  const std::string run = dir / "run";
  const std::string next = dir / "next";
  WriteSmallRun(next);
  Hook hook(SaveEverything(run));
  for (int i = 0; i < 2; ++i) {
    hook.BeginStep();
    SaveFloats(hook, "w", {1});
  }
  LiveCall tail({"tail", run});
  tail.AwaitOut("worker_0  1 tensor");
  ASSERT_EQ(
      renameat2(AT_FDCWD, next.c_str(), AT_FDCWD, run.c_str(), RENAME_EXCHANGE),
      0);
  EXPECT_EQ(tail.Join(), kExitOk);
  EXPECT_THAT(tail.err(), HasSubstr("holds another run now"));
  EXPECT_THAT(tail.err(), HasSubstr("following the folder anew\n"));
  EXPECT_THAT(tail.out(), HasSubstr("EVAL 1"));
  hook.Close();
}

TEST(TailTest, JsonHasOneObjectPerLine) {
  const TempDir dir;
  WriteSmallRun(dir / "run");
  const CliOutcome outcome =
      CallCli({"tail", dir / "run", "--json", "--from", "4"});
  std::istringstream lines(outcome.out);
  std::string line;
  ASSERT_TRUE(std::getline(lines, line));
  EXPECT_EQ(
      nlohmann::json::parse(line),
      (nlohmann::json{
          {"step", 4},
          {"mode", "EVAL"},
          {"mode_step", 0},
          {"workers", {"worker_0"}},
          {"tensors", 2},
          {"scalars", {{"scalar/loss", {{"step", 4}, {"value", 0.2}}}}}}));
  ASSERT_TRUE(std::getline(lines, line));
  EXPECT_FALSE(std::getline(lines, line));
}

TEST(TailTest, ChosenTensorsAreShownByTheirMean) {
  const TempDir dir;
  WriteSmallRun(dir / "run");
  EXPECT_EQ(
      CallCli({"tail", dir / "run", "--tensor", "weight", "--from", "3"}).out,
      "       3  TRAIN 3  worker_0  3 tensors  fc.weight:mean 3.625  "
      "gradient/fc.weight:mean 0.5\n"
      "       4  EVAL 0   worker_0  2 tensors  fc.weight:mean 4.625\n"
      "       5  EVAL 1   worker_0  2 tensors  fc.weight:mean 5.625\n");
}

TEST(TailTest, ATensorThatIsNowhereIsRefused) {
  const TempDir dir;
  WriteSmallRun(dir / "run");
  const CliOutcome outcome = CallCli({"tail", dir / "run", "--tensor", "zzz"});
  EXPECT_EQ(outcome.code, kExitError);
  EXPECT_THAT(outcome.out, IsEmpty());
  EXPECT_THAT(outcome.err, HasSubstr("no tensor matches 'zzz'; the tensors "
                                     "are fc.weight, gradient/fc.weight"));
}

TEST(TailTest, ATensorMayComeLater) {
  const TempDir dir;
  LiveCall call({"tail", dir / "run", "--tensor", "late", "--from", "0"});
  {
    Hook hook(SaveEverything(dir / "run"));
    hook.BeginStep();
    SaveFloats(hook, "early", {1});
    hook.BeginStep();
    call.AwaitErr("so far no tensor matches 'late'; the only tensor is early");
    SaveFloats(hook, "late", {2});
  }
  EXPECT_EQ(call.Join(), kExitOk);
  EXPECT_THAT(call.out(), HasSubstr("late 2"));
}

TEST(TailTest, OnlyTheLastTenStepsOfAnOldRunAreShown) {
  const TempDir dir;
  {
    Hook hook(SaveEverything(dir / "run"));
    for (int step = 0; step < 25; ++step) {
      hook.BeginStep();
      SaveFloats(hook, "w", {1, 2});
    }
  }
  const auto count = [&](std::vector<std::string> args) {
    args.insert(args.begin(), {"tail", dir / "run"});
    return std::ranges::count(CallCli(args).out, '\n');
  };
  EXPECT_THAT(CallCli({"tail", dir / "run"}).out, StartsWith("      15  "));
  EXPECT_EQ(count({}), 10);
  EXPECT_EQ(count({"--from", "0"}), 25);
  EXPECT_EQ(count({"--from", "24"}), 1);
}

TEST(TailTest, ScalarsOfStepsBetweenFilesHaveTheirOwnLines) {
  const TempDir dir;
  {
    HookConfig config = SaveEverything(dir / "run");
    config.save_config = SaveConfig::Every({.save_interval = 3});
    Hook hook(config);
    for (int step = 0; step < 6; ++step) {
      hook.BeginStep();
      SaveFloats(hook, "w", {1, 2});
      if (step != 3) hook.SaveScalar("loss", step);
    }
  }
  EXPECT_EQ(CallCli({"tail", dir / "run"}).out,
            "       0  worker_0  2 tensors  scalar/loss 0\n"
            "       1  worker_0  1 tensor   scalar/loss 1\n"
            "       2  worker_0  1 tensor   scalar/loss 2\n"
            "       3  worker_0  1 tensor\n"
            "       4  worker_0  1 tensor   scalar/loss 4\n"
            "       5  worker_0  1 tensor   scalar/loss 5\n");
}

TEST(TailTest, FollowsAJobFromBeforeItsStartToItsEnd) {
  const TempDir dir;
  LiveCall tail({"tail", dir / "run"});
  tail.AwaitErr("waiting for a run");
  {
    Hook hook(SaveEverything(dir / "run"));
    for (int step = 0; step < 3; ++step) {
      hook.BeginStep();
      SaveFloats(hook, "loss", {static_cast<float>(step)});
      hook.EndStep();
      tail.AwaitOut("loss " + std::to_string(step) + "\n");
    }
  }
  EXPECT_EQ(tail.Join(), kExitOk);
  EXPECT_EQ(tail.out(),
            "       0  worker_0  1 tensor  loss 0\n"
            "       1  worker_0  1 tensor  loss 1\n"
            "       2  worker_0  1 tensor  loss 2\n");
}

TEST(TailTest, AStepThatHoldsOnlyScalarsOfOthersHasNoLine) {
  const TempDir dir;
  HookConfig config = SaveEverything(dir / "run");
  config.save_config = SaveConfig::Every({.save_interval = 4});
  {
    Hook hook(config);
    for (int step = 0; step < 7; ++step) {
      hook.BeginStep();
      if (step % 4 == 0) SaveFloats(hook, "w", {1, 2});
      if (step == 1 || step == 5) hook.SaveScalar("loss", 1);
    }
    hook.Close();
  }
  const CliOutcome outcome = CallCli({"tail", dir / "run", "--from", "0"});
  EXPECT_EQ(outcome.code, kExitOk) << outcome.err;
  EXPECT_THAT(outcome.out, Not(HasSubstr("0 workers"))) << outcome.out;
  EXPECT_THAT(outcome.out, HasSubstr("scalar/loss 1"));
}

TEST(TailTest, DamageIsToldWhenItIsMet) {
  const TempDir dir;
  Hook hook(SaveEverything(dir / "run"));
  hook.BeginStep();
  SaveFloats(hook, "w", {1});
  hook.EndStep();
  ASSERT_TRUE(hook.Flush());
  LiveCall tail({"tail", dir / "run"});
  for (const char* step : {"5", "6"}) {
    testing::WriteFile(
        fmt::format("{}/index/000000000/00000000000{}_worker_0.json",
                    dir / "run", step),
        "{");
    tail.AwaitErr(fmt::format("; damaged: step {}\n", step));
  }
  hook.Close();
  EXPECT_EQ(tail.Join(), kExitOk);
  EXPECT_EQ(CountLines(tail.err()), 2u);
}

TEST(TailTest, CtrlCEndsItQuietly) {
  const TempDir dir;
  Hook hook(SaveEverything(dir / "run"));
  hook.BeginStep();
  SaveFloats(hook, "loss", {1});
  hook.EndStep();
  LiveCall tail({"tail", dir / "run"});
  tail.AwaitOut("loss 1\n");
  ASSERT_EQ(kill(getpid(), SIGINT), 0);
  EXPECT_EQ(tail.Join(), kExitInterrupted);
  EXPECT_EQ(tail.out(), "       0  worker_0  1 tensor  loss 1\n");
}

TEST(TailTest, GivesUpWhenNothingNewComes) {
  const TempDir dir;
  Hook hook(SaveEverything(dir / "run"));
  hook.BeginStep();
  SaveFloats(hook, "loss", {1});
  hook.EndStep();
  CliOutcome outcome = CallCli({"tail", dir / "run", "--timeout", "0"});
  EXPECT_EQ(outcome.code, kExitFound);
  EXPECT_THAT(outcome.err, HasSubstr("nothing new for 0 s"));
  outcome = CallCli({"tail", dir / "absent", "--timeout", "0"});
  EXPECT_EQ(outcome.code, kExitFound);
}

TEST(TailTest, SaysHowAJobEndedThatDidNotFinish) {
  const TempDir dir;
  WriteSmallRun(dir / "run");
  EXPECT_THAT(CallCli({"tail", dir / "run"}).err, IsEmpty());
  MakeKilled(dir / "run");
  CliOutcome outcome = CallCli({"tail", dir / "run", "--from", "5"});
  EXPECT_EQ(outcome.code, kExitOk);
  EXPECT_THAT(outcome.err, StartsWith("smdebug: the run was killed: worker_0"));
  EXPECT_EQ(outcome.out,
            "       5  EVAL 1  worker_0  2 tensors  scalar/loss 0.166667\n");

  EditLedger(dir / "run", [](run::Ledger& ledger) {
    ledger.closed = true;
    ledger.ending = "failed";
    ledger.reason = "ValueError: no";
  });
  outcome = CallCli({"tail", dir / "run"});
  EXPECT_EQ(outcome.code, kExitOk);
  EXPECT_EQ(outcome.err, "smdebug: the run has failed: ValueError: no\n");
}

TEST(TailTest, WhatCanNeverBeARunIsAnError) {
  const TempDir dir;
  testing::WriteFile(dir / "file", "x");
  EXPECT_EQ(CallCli({"tail", dir / "file"}).code, kExitError);
  EXPECT_EQ(CallCli({"tail", dir / "run", "--timeout", "-1"}).code, kExitError);
}

}  // namespace
}  // namespace smdebug::cli
