// Whoever reads beside a hook that is not closed sees every step that has
// ended, however far behind the hook's writer is.

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <functional>
#include <memory>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "smdebug/guard.h"
#include "smdebug/hook.h"
#include "smdebug/trial.h"
#include "tests/testing/hook.h"
#include "tests/testing/temp_dir.h"

namespace smdebug {
namespace {

using ::testing::ElementsAre;
using testing::SaveEverything;
using testing::SaveFloats;

class OwnWritesTest : public ::testing::Test {
 protected:
  // Ends `steps` more steps, large enough to take the writer some time.
  static void Train(Hook& hook, int steps) {
    const std::vector<float> values(200'000, 1);
    for (int i = 0; i < steps; ++i) {
      hook.BeginStep();
      for (const char* name : {"a", "b", "c"}) SaveFloats(hook, name, values);
    }
    hook.EndStep();
  }

  std::unique_ptr<Hook> Open(const Worker& worker = {}) const {
    HookConfig config = SaveEverything(run());
    config.include_workers = IncludeWorkers::kAll;
    return std::make_unique<Hook>(config, worker);
  }

  std::string run() const { return (dir_.path() / "run").string(); }

  // Whether `test` is true in a process that is forked here.
  static bool IsTrueInChild(const std::function<bool()>& test) {
    const pid_t child = fork();
    if (child == 0) _exit(test() ? 0 : 1);
    int status = 0;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
  }

  testing::TempDir dir_;
};

std::vector<int64_t> UpTo(int64_t end) {
  std::vector<int64_t> steps(static_cast<size_t>(end));
  std::iota(steps.begin(), steps.end(), 0);
  return steps;
}

TEST_F(OwnWritesTest, ATrialInTheSameProcessHasEveryStepThatHasEnded) {
  const auto hook = Open();
  std::unique_ptr<Trial> early;
  for (int64_t end = 5; end <= 50; end += 5) {
    Train(*hook, 5);
    EXPECT_EQ(Trial::Open(run())->Steps(), UpTo(end));
    if (early == nullptr) early = Trial::Open(run());
    EXPECT_EQ(early->Steps(), UpTo(end));
  }
  hook->BeginStep();
  EXPECT_EQ(early->Steps(), UpTo(50));
}

TEST_F(OwnWritesTest, AScalarOfAStepThatHasEndedIsThere) {
  const auto hook = Open();
  Train(*hook, 3);
  const auto trial = Trial::Open(run());
  Train(*hook, 1);
  EXPECT_EQ(trial->Steps(), UpTo(4));
  hook->SaveScalar("late", 7);
  Train(*hook, 1);
  EXPECT_THAT(trial->tensor("scalar/late").Steps(), ElementsAre(3));
}

TEST_F(OwnWritesTest, SoHasATrialInAForkedChild) {
  const auto hook = Open();
  Train(*hook, 5);
  const auto early = Trial::Open(run());
  Train(*hook, 5);
  EXPECT_TRUE(
      IsTrueInChild([&] { return Trial::Open(run())->Steps() == UpTo(10); }));
  EXPECT_TRUE(IsTrueInChild([&] { return early->Steps() == UpTo(10); }));
}

TEST_F(OwnWritesTest, AChildSeesWhatItsParentEndsAfterwards) {
  const auto hook = Open();
  Train(*hook, 5);
  int to_child[2];
  int to_parent[2];
  ASSERT_EQ(pipe(to_child) | pipe(to_parent), 0);
  const pid_t child = fork();
  if (child == 0) {
    const auto trial = Trial::Open(run());
    const bool was_right = trial->Steps() == UpTo(5);
    char word = 0;
    if (write(to_parent[1], "x", 1) != 1 || read(to_child[0], &word, 1) != 1) {
      _exit(2);
    }
    _exit(was_right && trial->Steps() == UpTo(10) ? 0 : 1);
  }
  char word = 0;
  ASSERT_EQ(read(to_parent[0], &word, 1), 1);
  Train(*hook, 5);
  ASSERT_EQ(write(to_child[1], "x", 1), 1);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  for (const int fd : {to_child[0], to_child[1], to_parent[0], to_parent[1]}) {
    close(fd);
  }
}

TEST_F(OwnWritesTest, RulesOfTwoHooksInOneProcessDoNotWaitForEachOther) {
  const auto first = Open(Worker::OfRank(0, 2));
  const auto second = Open(Worker::OfRank(1, 2));
  const std::vector<RuleEvaluation> rules = {
      ToEvaluation(ParseRuleSpec("ExplodingTensor"))};
  RuleGuard of_first(*first, rules);
  RuleGuard of_second(*second, rules);
  std::thread other([&] { Train(*second, 20); });
  Train(*first, 20);
  other.join();
  EXPECT_EQ(Trial::Open(run())->Steps(), UpTo(20));
  first->Close();
  second->Close();
  EXPECT_EQ(of_first.reports()[0].steps_judged, 20);
  EXPECT_EQ(of_second.reports()[0].steps_judged, 20);
}

TEST_F(OwnWritesTest, AWriterThatIsStoppedOrGoneIsNotWaitedFor) {
  int ends[2];
  int test_lives[2];
  ASSERT_EQ(pipe(ends) | pipe(test_lives), 0);
  const pid_t child = fork();
  if (child == 0) {
    const auto hook = Open();
    Train(*hook, 3);
    const bool is_out = hook->Flush();
    // This one holds the socket longer than the writer lives.
    if (fork() == 0) {
      close(test_lives[1]);
      char word = 0;
      _exit(static_cast<int>(read(test_lives[0], &word, 1)));
    }
    if (write(ends[1], is_out ? "y" : "n", 1) != 1) _exit(1);
    while (true) pause();
  }
  char word = 0;
  ASSERT_EQ(read(ends[0], &word, 1), 1);
  EXPECT_EQ(word, 'y');
  ASSERT_EQ(kill(child, SIGSTOP), 0);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, WUNTRACED), child);
  ASSERT_TRUE(WIFSTOPPED(status));
  EXPECT_EQ(Trial::Open(run())->Steps(), UpTo(3));
  ASSERT_EQ(kill(child, SIGKILL), 0);
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(Trial::Open(run())->Steps(), UpTo(3));
  for (const int fd : {ends[0], ends[1], test_lives[0], test_lives[1]}) {
    close(fd);
  }
}

TEST_F(OwnWritesTest, ClosingAndReadingAtOnceEnds) {
  for (int i = 0; i < 20; ++i) {
    const testing::TempDir dir;
    const std::string run = dir / "run";
    auto hook = std::make_unique<Hook>(SaveEverything(run));
    Train(*hook, 3);
    std::thread reader(
        [&] { EXPECT_THAT(Trial::Open(run)->Steps(), UpTo(3)); });
    hook = nullptr;
    reader.join();
  }
}

}  // namespace
}  // namespace smdebug
