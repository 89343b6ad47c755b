// A writer process and a reader process side by side: the reader sees whole
// steps only, whenever the writer stops or dies.

#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <random>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "smdebug/error.h"
#include "smdebug/hook.h"
#include "smdebug/trial.h"
#include "tests/testing/hook.h"
#include "tests/testing/temp_dir.h"

namespace smdebug {
namespace {

using std::chrono::milliseconds;
using testing::SaveEverything;
using testing::TempDir;

constexpr int kTensors = 4;

float ElementOf(int64_t step, int tensor) {
  return static_cast<float>(step * kTensors + tensor);
}

// Some tensors are small, some large enough to be mapped.
size_t SizeOf(int tensor) { return tensor == 0 ? 100'000 : 700; }

// Writes `steps` steps and exits; in a child. Now and then it goes on only when
// all steps before are there, so that readers meet a step at any of its stages.
[[noreturn]] void Write(const std::string& run, const Worker& worker,
                        int64_t steps, unsigned seed) {
  std::mt19937 random(seed);
  HookConfig config = SaveEverything(run);
  config.include_workers = IncludeWorkers::kAll;
  Hook hook(config, worker);
  for (int64_t step = 0; step < steps; ++step) {
    hook.BeginStep();
    for (int i = 0; i < kTensors; ++i) {
      testing::SaveFloats(hook, fmt::format("t{}", i),
                          std::vector<float>(SizeOf(i), ElementOf(step, i)));
      if (random() % 8 == 0) {
        while (hook.stats().steps_saved < step) std::this_thread::yield();
      }
    }
    hook.SaveScalar("loss", static_cast<double>(step));
  }
  hook.Close();
  _exit(0);
}

pid_t StartWriter(const std::string& run, const Worker& worker, int64_t steps,
                  unsigned seed) {
  const pid_t child = fork();
  if (child == 0) Write(run, worker, steps, seed);
  return child;
}

// Everything that the steps of `worker` have is there, and right.
void CheckStep(Trial& trial, int64_t step, const std::string& worker) {
  for (int i = 0; i < kTensors; ++i) {
    const Value value =
        trial.tensor(fmt::format("t{}", i)).At(step, Mode::kGlobal, worker);
    ASSERT_EQ(value.size(), static_cast<int64_t>(SizeOf(i)));
    for (int64_t k = 0; k < value.size(); k += 97) {
      ASSERT_EQ(value.Get(k), ElementOf(step, i)) << step << " " << i;
    }
  }
  ASSERT_EQ(trial.tensor("scalar/loss").At(step, Mode::kGlobal, worker).Get(0),
            static_cast<double>(step));
}

// Whether some file of the run is being written.
bool HasPendingFile(const std::string& run) {
  namespace fs = std::filesystem;
  std::error_code gone;
  for (fs::recursive_directory_iterator it(run, gone), end; !gone && it != end;
       it.increment(gone)) {
    if (it->path().extension() == ".tmp") return true;
  }
  return false;
}

TEST(LiveTest, AReaderSeesEveryStepWholeUntilTheEnd) {
  const TempDir dir;
  const std::string run = dir / "run";
  constexpr int64_t kSteps = 60;
  const std::vector<pid_t> writers = {
      StartWriter(run, Worker::OfRank(0, 2), kSteps, 1),
      StartWriter(run, Worker::OfRank(1, 2), kSteps, 2)};
  // Opened before the run exists.
  const auto trial = Trial::Open(run);
  for (int64_t step = 0; step < kSteps; ++step) {
    ASSERT_TRUE(
        trial->WaitForSteps({&step, 1}, Mode::kGlobal, milliseconds(60'000)));
    CheckStep(*trial, step, "worker_0");
    CheckStep(*trial, step, "worker_1");
  }
  const int64_t beyond = kSteps;
  EXPECT_THROW(
      trial->WaitForSteps({&beyond, 1}, Mode::kGlobal, milliseconds(60'000)),
      NoMoreData);
  EXPECT_TRUE(trial->loaded_all_steps());
  EXPECT_THAT(trial->damage(), ::testing::IsEmpty());
  for (const pid_t writer : writers) {
    int status = 0;
    waitpid(writer, &status, 0);
    EXPECT_EQ(status, 0);
  }
}

TEST(LiveTest, AKilledWriterLeavesNoPartialStepToTheReader) {
  std::mt19937 random(7);
  int64_t seen = 0;
  for (unsigned round = 0; round < 15; ++round) {
    const TempDir dir;
    const std::string run = dir / "run";
    const pid_t writer = StartWriter(run, {}, 1'000'000, round);
    const auto trial = Trial::Open(run);
    const int64_t kill_after = static_cast<int64_t>(random() % 12);
    int64_t checked = 0;
    bool killed = false;
    while (true) {
      for (const int64_t step : trial->Steps(Mode::kGlobal, true)) {
        if (step < checked) continue;
        ASSERT_EQ(step, checked);
        CheckStep(*trial, step, "worker_0");
        ++checked;
      }
      if (killed) break;
      if (checked >= kill_after) {
        // In the midst of a file, or a little after one.
        if (round % 2 == 0) {
          while (!HasPendingFile(run)) std::this_thread::yield();
        } else {
          trial->WaitForChange(milliseconds(1000));
        }
        ASSERT_EQ(kill(writer, SIGKILL), 0);
        waitpid(writer, nullptr, 0);
        killed = true;
        continue;
      }
      trial->WaitForChange(milliseconds(1000));
    }
    EXPECT_FALSE(trial->loaded_all_steps());
    EXPECT_THAT(trial->damage(), ::testing::IsEmpty());
    seen += checked;
  }
  EXPECT_GT(seen, 15);
}

}  // namespace
}  // namespace smdebug
