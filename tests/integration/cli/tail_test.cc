// `smdebug tail`, beside hooks that are writing.
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <future>
#include <mutex>
#include <sstream>
#include <streambuf>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/integration/cli/runs.h"
#include "tests/testing/cli.h"
#include "tests/testing/files.h"
#include "tests/testing/temp_dir.h"

namespace smdebug::cli {
namespace {

using testing::CallCli;
using testing::CliOutcome;
using ::testing::HasSubstr;
using testing::SaveEverything;
using testing::SaveFloats;
using ::testing::StartsWith;
using testing::TempDir;
using testing::WriteSmallRun;

// Text that one thread writes while another waits for it. Thread-safe.
class SharedText final : public std::streambuf {
 public:
  // Waits until `text` has been written.
  void Await(const std::string& text) {
    std::unique_lock lock(mu_);
    grown_.wait(lock, [&] { return text_.find(text) != std::string::npos; });
  }
  std::string text() {
    const std::lock_guard lock(mu_);
    return text_;
  }

 protected:
  int_type overflow(int_type c) override {
    const char byte = traits_type::to_char_type(c);
    xsputn(&byte, 1);
    return c;
  }
  std::streamsize xsputn(const char* text, std::streamsize size) override {
    const std::lock_guard lock(mu_);
    text_.append(text, static_cast<size_t>(size));
    grown_.notify_all();
    return size;
  }

 private:
  std::mutex mu_;
  std::condition_variable grown_;
  std::string text_;
};

// A call of `smdebug tail` that goes on beside the test.
class LiveTail {
 public:
  explicit LiveTail(const std::vector<std::string>& args)
      : code_(std::async(std::launch::async, [this, args] {
          std::ostream out(&out_);
          std::ostream err(&err_);
          return Main(args, {out, err});
        })) {}

  void AwaitOut(const std::string& text) { out_.Await(text); }
  void AwaitErr(const std::string& text) { err_.Await(text); }
  int Join() { return code_.get(); }
  std::string out() { return out_.text(); }

 private:
  SharedText out_;
  SharedText err_;
  std::future<int> code_;
};

TEST(TailTest, AFinishedRunIsShownAndEnds) {
  const TempDir dir;
  WriteSmallRun(dir / "run");
  const CliOutcome outcome = CallCli({"tail", dir / "run"});
  EXPECT_EQ(outcome.code, kExitOk) << outcome.err;
  EXPECT_EQ(outcome.out,
            "       0  TRAIN 0  worker_0  3 tensors  loss 1\n"
            "       1  TRAIN 1  worker_0  3 tensors  loss 0.5\n"
            "       2  TRAIN 2  worker_0  3 tensors  loss 0.333333\n"
            "       3  TRAIN 3  worker_0  3 tensors  loss 0.25\n"
            "       4  EVAL 0  worker_0  2 tensors  loss 0.2\n"
            "       5  EVAL 1  worker_0  2 tensors  loss 0.166667\n");
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
      "       4  EVAL 0  worker_0  2 tensors  fc.weight:mean 4.625\n"
      "       5  EVAL 1  worker_0  2 tensors  fc.weight:mean 5.625\n");
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

TEST(TailTest, ScalarsOfStepsWithoutFilesStandAtTheNext) {
  const TempDir dir;
  {
    HookConfig config = SaveEverything(dir / "run");
    config.save_config = SaveConfig::Every({.save_interval = 2});
    Hook hook(config);
    for (int step = 0; step < 3; ++step) {
      hook.BeginStep();
      SaveFloats(hook, "w", {1, 2});
      if (step != 2) hook.SaveScalar("loss", step);
    }
  }
  EXPECT_EQ(CallCli({"tail", dir / "run"}).out,
            "       0  worker_0  2 tensors  loss 0\n"
            "       2  worker_0  1 tensor  loss 1 (at 1)\n");
}

TEST(TailTest, FollowsAJobFromBeforeItsStartToItsEnd) {
  const TempDir dir;
  LiveTail tail({"tail", dir / "run"});
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

TEST(TailTest, CtrlCEndsItQuietly) {
  const TempDir dir;
  Hook hook(SaveEverything(dir / "run"));
  hook.BeginStep();
  SaveFloats(hook, "loss", {1});
  hook.EndStep();
  LiveTail tail({"tail", dir / "run"});
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

TEST(TailTest, WhatCanNeverBeARunIsAnError) {
  const TempDir dir;
  testing::WriteFile(dir / "file", "x");
  EXPECT_EQ(CallCli({"tail", dir / "file"}).code, kExitError);
  EXPECT_EQ(CallCli({"tail", dir / "run", "--timeout", "-1"}).code, kExitError);
}

}  // namespace
}  // namespace smdebug::cli
