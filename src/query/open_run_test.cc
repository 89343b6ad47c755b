#include "src/query/open_run.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "smdebug/error.h"
#include "src/run/keys.h"
#include "tests/testing/files.h"
#include "tests/testing/temp_dir.h"
#include "tests/testing/trial_run.h"

namespace smdebug::query {
namespace {

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
      testing::PutFile(*OpenStorageAt(dir / "run"), run::kEndMarkerKey, "");
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

TEST(OpenRunTest, TheFolderOfManyRunsIsNotAwaited) {
  const TempDir dir;
  for (const char* name : {"b", "a"}) {
    testing::PutFile(*OpenStorageAt(dir / (std::string("runs/") + name)),
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
  EXPECT_THAT([&] { Trial(OpenStorageAt(dir / "runs"), {}); },
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
  const std::vector<int64_t> steps = trial.Steps();
  EXPECT_EQ(RequireStep(steps, {}, Mode::kGlobal, "it"), 8);
  EXPECT_THAT([&] { RequireStep(steps, 5, Mode::kGlobal, "it"); },
              ThrowsMessage<Error>(HasSubstr("the nearest are 4 and 8")));
}

}  // namespace
}  // namespace smdebug::query
