#include "src/query/open_run.h"

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "smdebug/error.h"
#include "src/run/entering.h"
#include "src/run/keys.h"
#include "src/trial/place.h"
#include "tests/testing/files.h"
#include "tests/testing/sanitizer.h"
#include "tests/testing/temp_dir.h"
#include "tests/testing/trial_run.h"

namespace smdebug::query {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::SizeIs;
using testing::TempDir;
using ::testing::ThrowsMessage;

TEST(OpenRunTest, TheRunThatIsAwaitedIsToldOfOnce) {
  const TempDir dir;
  std::vector<std::string> told;
  const auto waits = [&](const std::string& root) { told.push_back(root); };
  int looks = 0;
  const auto storage = AwaitRunFolder(dir / "run", waits, [&] {
    if (++looks == 2) {
      testing::PutFile(*trial::OpenPlace(dir / "run"), run::kEndMarkerKey, "");
    }
    return true;
  });
  ASSERT_NE(storage, nullptr);
  ASSERT_THAT(told, SizeIs(1));
  EXPECT_EQ(told[0], storage->root());
  EXPECT_EQ(looks, 2);

  EXPECT_NE(AwaitRunFolder(dir / "run", waits, [] { return false; }), nullptr);
  EXPECT_EQ(AwaitRunFolder(dir / "other", waits, [] { return false; }),
            nullptr);
  EXPECT_THAT(told, SizeIs(2));
}

TEST(OpenRunTest, ARunThatDoesNotAppearIsGivenUp) {
  const TempDir dir;
  int told = 0;
  EXPECT_THAT(
      [&] {
        AwaitRunFolder(
            dir / "run", [&](const std::string&) { ++told; },
            [] { return true; }, 0.01);
      },
      ThrowsMessage<NoRunError>(
          HasSubstr("run: no run has appeared within 0.01 s")));
  EXPECT_EQ(told, 1);
}

// A child that stands for a job: it has a sign on the folder, and lives until
// `go_on` is closed.
class ComingJob {
 public:
  explicit ComingJob(const std::string& run) {
    int ready[2];
    int orders[2];
    EXPECT_EQ(pipe(ready), 0);
    EXPECT_EQ(pipe(orders), 0);
    pid_ = fork();
    if (pid_ == 0) {
      close(orders[1]);
      const run::Entering entering(*trial::OpenPlace(run));
      if (write(ready[1], "x", 1) != 1) _exit(1);
      char order = 0;
      _exit(read(orders[0], &order, 1) == 0 ? 0 : 1);
    }
    close(orders[0]);
    order_ = orders[1];
    char sign = 0;
    EXPECT_EQ(read(ready[0], &sign, 1), 1);
    close(ready[0]);
    close(ready[1]);
  }
  ~ComingJob() {
    if (order_ >= 0) End();
  }
  ComingJob(const ComingJob&) = delete;
  ComingJob& operator=(const ComingJob&) = delete;

  pid_t pid() const { return pid_; }

  void End() {
    close(std::exchange(order_, -1));
    EXPECT_EQ(waitpid(pid_, nullptr, 0), pid_);
  }

 private:
  pid_t pid_ = 0;
  int order_ = -1;
};

TEST(OpenRunTest, AJobThatHasNotBegunIsAwaitedAsLongAsItLives) {
  if (testing::kUnderThreadSanitizer) GTEST_SKIP() << "a child with threads";
  const TempDir dir;
  ComingJob job(dir / "run");
  int looks = 0;
  EXPECT_THAT(
      [&] {
        AwaitRunFolder(
            dir / "run", [](const std::string&) {},
            [&] {
              if (++looks == 3) job.End();
              return true;
            },
            /*patience=*/1e-9);
      },
      ThrowsMessage<NoRunError>(AllOf(
          HasSubstr(fmt::format("run: process {}, which had a hook on this "
                                "folder, has ended",
                                job.pid())),
          HasSubstr("saved nothing"))));
  EXPECT_EQ(looks, 3);
}

TEST(OpenRunTest, WhatAJobLeavesThatEndsAtOnceIsTheRun) {
  if (testing::kUnderThreadSanitizer) GTEST_SKIP() << "a child with threads";
  const TempDir dir;
  ComingJob job(dir / "run");
  const auto storage = AwaitRunFolder(
      dir / "run", [](const std::string&) {},
      [&] {
        testing::PutFile(*trial::OpenPlace(dir / "run"), run::kEndMarkerKey,
                         "");
        job.End();
        return true;
      });
  EXPECT_NE(storage, nullptr);
}

TEST(OpenRunTest, TheFolderOfManyRunsIsNotAwaited) {
  const TempDir dir;
  for (const char* name : {"b", "a"}) {
    testing::PutFile(*trial::OpenPlace(dir / (std::string("runs/") + name)),
                     run::kEndMarkerKey, "");
  }
  const auto hint = HasSubstr("holds no run itself; `smdebug ls ");
  EXPECT_THAT(
      [&] {
        AwaitRunFolder(
            dir / "runs", [](const std::string&) {}, [] { return false; });
      },
      ThrowsMessage<FormatError>(hint));
  // As create_trial() does, which waits for what is not there yet.
  EXPECT_THAT([&] { Trial(trial::OpenPlace(dir / "runs"), {}); },
              ThrowsMessage<FormatError>(hint));
  EXPECT_THAT([&] { OpenRun(dir / "runs"); }, ThrowsMessage<FormatError>(hint));
}

TEST(OpenRunTest, AStepOfScalarsAloneIsOne) {
  testing::TestTrial made;
  made.run.Declare({"worker_0"});
  made.run.At(8)
      .Rider("scalar/loss", 1, 4, Mode::kTrain, 2)
      .Number("scalar/loss", 1)
      .Publish();
  made.run.End();
  Trial& trial = made.Open();
  trial.Steps();
  RequireRunStep(trial, 4, Mode::kGlobal, /*include_incomplete=*/false);
  RequireRunStep(trial, 8, Mode::kGlobal, /*include_incomplete=*/false);
  RequireRunStep(trial, 2, Mode::kTrain, /*include_incomplete=*/true);
  EXPECT_THAT([&] { RequireRunStep(trial, 5, Mode::kGlobal, false); },
              ThrowsMessage<Error>(HasSubstr("the nearest are 4 and 8")));
}

TEST(OpenRunTest, WhatIsNotThereIsAnsweredByWhatIs) {
  testing::TestTrial made;
  made.run.Declare({"worker_0"});
  made.run.At(4).Tensor("fc.weight", {1}).Publish();
  made.run.At(8).Number("scalar/loss", 1).Publish();
  made.run.End();
  Trial& trial = made.Open();
  EXPECT_EQ(RequireTensor(trial, "loss").name(), "scalar/loss");
  EXPECT_THAT([&] { RequireTensor(trial, "fc.wieght"); },
              ThrowsMessage<Error>(HasSubstr("did you mean 'fc.weight'?")));
  EXPECT_THAT([&] { RequireWorker(trial, "worker_7"); },
              ThrowsMessage<Error>(HasSubstr("expected worker_0")));
  EXPECT_THAT([&] { RequireMode(std::array{&trial}, Mode::kEval); },
              ThrowsMessage<Error>(HasSubstr(
                  "no saved step of EVAL; all steps are without a mode")));
  const std::vector<int64_t> steps = trial.Steps();
  EXPECT_EQ(RequireStep(steps, {}, Mode::kGlobal, "it"), 8);
  EXPECT_THAT([&] { RequireStep(steps, 5, Mode::kGlobal, "it"); },
              ThrowsMessage<Error>(HasSubstr("the nearest are 4 and 8")));
}

}  // namespace
}  // namespace smdebug::query
