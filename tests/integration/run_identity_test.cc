// A folder may hold one run after the other; nobody takes one for another, and
// nobody waits for a process that is gone.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "smdebug/error.h"
#include "smdebug/guard.h"
#include "smdebug/hook.h"
#include "smdebug/invoker.h"
#include "smdebug/run.h"
#include "smdebug/trial.h"
#include "tests/testing/hook.h"
#include "tests/testing/temp_dir.h"

namespace smdebug {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::SaveEverything;
using testing::SaveFloats;
using ::testing::SizeIs;
using testing::TempDir;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

// Runs `work` in a child that is killed when it returns.
void RunAndKill(const std::function<void()>& work) {
  const pid_t child = fork();
  if (child == 0) {
    work();
    raise(SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status));
}

class RunIdentityTest : public ::testing::Test {
 protected:
  // Leaves a run whose steps all have `value`, without an end.
  void LeaveKilledRun(float value, int steps = 3) {
    RunAndKill([&] {
      // Never destroyed, as in a process that is killed.
      auto* hook = new Hook(SaveEverything(run_));
      for (int step = 0; step < steps; ++step) {
        hook->BeginStep();
        SaveFloats(*hook, "x", {value});
      }
      hook->EndStep();
      while (hook->stats().steps_saved < steps) std::this_thread::yield();
    });
  }

  std::unique_ptr<Trial> Open(bool wait_for_run = true) {
    TrialOptions options;
    options.wait_for_run = wait_for_run;
    return std::make_unique<Trial>(OpenLocalStorage(run_), options);
  }

  TempDir dir_;
  const std::string run_ = dir_ / "run";
};

TEST_F(RunIdentityTest, AKilledRunIsReadToItsEnd) {
  LeaveKilledRun(1);
  const auto trial = Open();
  EXPECT_THAT(trial->Steps(), ElementsAre(0, 1, 2));
  EXPECT_TRUE(trial->loaded_all_steps());
  EXPECT_EQ(trial->run_info().state, RunState::kKilled);
  const int64_t next[] = {3};
  EXPECT_THROW(trial->WaitForSteps(next), NoMoreData);
}

TEST_F(RunIdentityTest, WhoWaitsIsToldWhenTheWriterIsGone) {
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  const pid_t child = fork();
  if (child == 0) {
    auto* hook = new Hook(SaveEverything(run_));
    hook->BeginStep();
    SaveFloats(*hook, "x", {1});
    hook->EndStep();
    while (hook->stats().steps_saved < 1) std::this_thread::yield();
    static_cast<void>(write(ready[1], "x", 1));
    pause();
  }
  char byte = 0;
  ASSERT_EQ(read(ready[0], &byte, 1), 1);
  const auto trial = Open();
  EXPECT_EQ(trial->run_info().state, RunState::kRunning);
  std::jthread waiting([&] {
    const int64_t never[] = {1};
    EXPECT_THROW(trial->WaitForSteps(never), NoMoreData);
  });
  kill(child, SIGKILL);
  ASSERT_EQ(waitpid(child, nullptr, 0), child);
  waiting.join();
  close(ready[0]);
  close(ready[1]);
}

TEST_F(RunIdentityTest, ARunThatWasKilledBeforeItsFirstStepIsNotAwaited) {
  RunAndKill([&] { new Hook(SaveEverything(run_)); });
  EXPECT_THROW(Open(), MissingCollectionFiles);
  EXPECT_THAT(Open(/*wait_for_run=*/false)->Steps(), ElementsAre());
}

TEST_F(RunIdentityTest, AnOpenTrialSaysThatItsRunIsGone) {
  Hook hook(SaveEverything(run_));
  for (int step = 0; step < 2; ++step) {
    hook.BeginStep();
    SaveFloats(hook, "x", {1});
  }
  ASSERT_TRUE(hook.Flush());
  const auto trial = Open(/*wait_for_run=*/false);
  EXPECT_THAT(trial->Steps(), ElementsAre(0));
  std::filesystem::rename(run_, run_ + ".moved");
  try {
    trial->Refresh();
    FAIL() << "went on";
  } catch (const RunReplacedError& error) {
    EXPECT_EQ(error.opened(), hook.run_id());
    EXPECT_EQ(error.found(), "");
    EXPECT_THAT(error.what(), HasSubstr("no longer holds the run"));
  }
}

TEST_F(RunIdentityTest, AnOpenTrialSaysThatTheFolderHoldsAnotherRun) {
  LeaveKilledRun(1);
  TrialOptions options;
  options.wait_for_run = false;
  Trial trial(OpenLocalStorage(run_), options);
  ASSERT_TRUE(trial.HasTensor("x"));  // Known, and not looked at again.
  Hook second(SaveEverything(run_));
  for (int step = 0; step < 5; ++step) {
    second.BeginStep();
    SaveFloats(second, "x", {2});
  }
  second.Close();
  try {
    trial.Steps();
    FAIL() << "went on";
  } catch (const RunReplacedError& error) {
    EXPECT_EQ(error.opened(), trial.run_id());
    EXPECT_EQ(error.found(), second.run_id());
    EXPECT_THAT(error.what(), HasSubstr(run_));
  }
  // A value of the new run is never given for one of the old.
  EXPECT_THROW(trial.tensor("x").At(1), RunReplacedError);
  const auto anew = Open();
  EXPECT_EQ(anew->run_id(), second.run_id());
  EXPECT_EQ(anew->tensor("x").At(4).Get(0), 2);
}

// A rule told of the run before, which was set aside.
TEST_F(RunIdentityTest, ARuleFiresAgainInTheNextRunOfTheFolder) {
  const auto job = [&](RuleGuard** guard) {
    auto* hook = new Hook(SaveEverything(run_));
    *guard =
        new RuleGuard(*hook, {ToEvaluation(ParseRuleSpec("ExplodingTensor"))});
    for (int step = 0; step < 6; ++step) {
      hook->BeginStep();
      SaveFloats(*hook, "weight", {step < 5 ? 1 : kNan});
    }
    hook->EndStep();
    while ((*guard)->fired_rules() == 0) std::this_thread::yield();
    return hook;
  };
  RunAndKill([&] {
    RuleGuard* guard = nullptr;
    job(&guard);
  });
  RuleGuard* guard = nullptr;
  const std::unique_ptr<Hook> hook(job(&guard));
  hook->Close();
  EXPECT_EQ(guard->fired_rules(), 1);
  EXPECT_THAT(guard->reports()[0].fired_steps, ElementsAre(5));
  delete guard;
  EXPECT_TRUE(hook->storage()->Stat("previous/1/rules/ExplodingTensor.json"));
}

TEST_F(RunIdentityTest, AnExceptionThatPassesFailsTheRun) {
  try {
    Hook hook(SaveEverything(run_));
    hook.BeginStep();
    SaveFloats(hook, "x", {1});
    throw std::runtime_error("the training is broken");
  } catch (const std::runtime_error&) {
  }
  const auto storage = OpenLocalStorage(run_);
  EXPECT_EQ(LookAtRun(*storage).state, RunState::kFailed);
  EXPECT_TRUE(HasRunEnded(*storage));
  // The next one begins where it was.
  Hook next(SaveEverything(run_));
  EXPECT_TRUE(storage->Stat("previous/1/training_job_end.ts"));
}

TEST_F(RunIdentityTest, ASecondJobIsRefusedByNameOfTheWriter) {
  Hook first(SaveEverything(run_));
  try {
    Hook second(SaveEverything(run_));
    FAIL() << "let in";
  } catch (const RunBusyError& error) {
    EXPECT_EQ(error.pid(), getpid());
    EXPECT_EQ(error.out_dir(), run_);
  }
  first.BeginStep();
  SaveFloats(first, "x", {1});
  first.Close();
  EXPECT_EQ(first.stats().steps_saved, 1);
  EXPECT_THROW(Hook(SaveEverything(run_)), RunExistsError);
}

// A folder of a run that is being written goes away under the writer.
class LostFolderTest : public RunIdentityTest {
 protected:
  void SaveStep(Hook& hook, float value) {
    hook.BeginStep();
    SaveFloats(hook, "x", {value});
    hook.EndStep();
  }
  void SaveSteps(Hook& hook, int count, float value) {
    const HookStats before = hook.stats();
    for (int step = 0; step < count; ++step) SaveStep(hook, value);
    const int64_t done = before.steps_saved + before.lost + count;
    while (hook.stats().steps_saved + hook.stats().lost < done) {
      std::this_thread::yield();
    }
  }

  // Another job takes the name of the folder while `first` goes on and closes.
  void FinishBesideANewRun(Hook& first) {
    Hook second(SaveEverything(run_));
    SaveSteps(second, 2, 2);
    SaveSteps(first, 3, 1);
    second.Close();
    first.Close();
  }
  void ExpectNewRunAlone() {
    const auto trial = Open();
    EXPECT_THAT(trial->Steps(), ElementsAre(0, 1));
    EXPECT_EQ(trial->tensor("x").At(1).Get(0), 2);
    EXPECT_EQ(trial->run_info().state, RunState::kFinished);
  }

  const std::string moved_ = dir_ / "moved";
};

TEST_F(LostFolderTest, ARunGoesOnInAFolderThatIsMoved) {
  Hook first(SaveEverything(run_));
  SaveSteps(first, 3, 1);
  std::filesystem::rename(run_, moved_);
  SaveSteps(first, 3, 1);
  EXPECT_FALSE(std::filesystem::exists(run_));
  FinishBesideANewRun(first);
  EXPECT_EQ(first.stats().errors, 0);
  ExpectNewRunAlone();
  Trial kept(OpenLocalStorage(moved_), {});
  EXPECT_THAT(kept.Steps(), SizeIs(9));
  EXPECT_EQ(kept.run_info().state, RunState::kFinished);
}

TEST_F(LostFolderTest, ARunWhoseFolderIsRemovedIsLostAndSaysSo) {
  Hook first(SaveEverything(run_));
  SaveSteps(first, 3, 1);
  std::filesystem::remove_all(run_);
  SaveSteps(first, 3, 1);
  EXPECT_FALSE(std::filesystem::exists(run_));
  FinishBesideANewRun(first);
  EXPECT_EQ(first.stats().steps_saved, 3);
  EXPECT_EQ(first.stats().lost, 6);
  EXPECT_GT(first.stats().errors, 0);
  ExpectNewRunAlone();
}

}  // namespace
}  // namespace smdebug
