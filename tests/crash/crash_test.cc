// A process killed at any moment leaves only whole, published steps, and the
// next run in the same folder just works.
#include <spawn.h>
#include <sys/wait.h>

#include <csignal>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "smdebug/hook.h"
#include "tests/testing/hook.h"
#include "tests/testing/run.h"
#include "tests/testing/temp_dir.h"

namespace smdebug {
namespace {

using testing::ReadStep;
using testing::Steps;
using testing::TempDir;

// Runs the victim, to be killed at `point`. True if it was.
bool RunVictim(const std::string& out_dir, const std::string& point) {
  std::string kill_at = "SMDEBUG_KILL_AT=" + point;
  std::string program = CRASH_VICTIM;
  std::string argument = out_dir;
  char* const argv[] = {program.data(), argument.data(), nullptr};
  char* const env[] = {kill_at.data(), nullptr};
  pid_t child = 0;
  if (posix_spawn(&child, program.c_str(), nullptr, nullptr, argv, env) != 0) {
    throw std::runtime_error("cannot start " + program);
  }
  int status = 0;
  if (waitpid(child, &status, 0) != child) throw std::runtime_error("waitpid");
  if (WIFSIGNALED(status)) return WTERMSIG(status) == SIGKILL;
  EXPECT_EQ(WEXITSTATUS(status), 0);
  return false;
}

// Every step in the folder is whole: five tensors and the scalar, all bytes
// right. Returns how many there are.
size_t CheckSteps(const Storage& storage) {
  const auto steps = Steps(storage);
  for (size_t i = 0; i < steps.size(); ++i) {
    EXPECT_EQ(steps[i], int64_t(i)) << "steps are published in order";
    const auto records = ReadStep(storage, steps[i]);
    EXPECT_EQ(records.size(), 6u);
    for (const auto& [name, record] : records) {
      if (name == "scalar/loss") {
        EXPECT_EQ(record.As<double>(), std::vector<double>{double(i)});
      } else {
        EXPECT_EQ(record.As<float>(), std::vector<float>(5000, float(i)));
      }
    }
  }
  return steps.size();
}

class CrashTest : public ::testing::TestWithParam<const char*> {};

TEST_P(CrashTest, LeavesWholeStepsAndAFolderThatCanBeUsedAgain) {
  const std::string point = GetParam();
  int kills = 0;
  for (int nth : {1, 2, 5, 10, 11}) {
    TempDir dir;
    const std::string run = dir / "run";
    const bool killed = RunVictim(run, point + ":" + std::to_string(nth));
    const auto storage = OpenLocalStorage(run);
    const size_t whole = CheckSteps(*storage);
    if (!killed) {
      EXPECT_EQ(whole, 10u);
      continue;
    }
    ++kills;
    if (whole > 0) {
      EXPECT_TRUE(
          storage->Stat("collections/000000000/worker_0_collections.json"));
    }
    Hook hook(testing::SaveEverything(run));
    hook.BeginStep();
    testing::SaveFloats(hook, "again", {1});
    hook.Close();
    EXPECT_EQ(hook.stats().steps_saved, 1);
    EXPECT_EQ(ReadStep(*storage, 0).count("again"), 1u);
    if (whole > 0) {
      EXPECT_EQ(CheckSteps(*OpenLocalStorage(run + "/previous/1")), whole);
    }
  }
  EXPECT_GT(kills, 0) << "the point was never reached";
}

INSTANTIATE_TEST_SUITE_P(
    Points, CrashTest,
    ::testing::Values("before_event_publish", "after_event_publish",
                      "before_index_publish", "after_index_publish",
                      "before_collections_publish"),
    [](const auto& tested) { return std::string(tested.param); });

}  // namespace
}  // namespace smdebug
