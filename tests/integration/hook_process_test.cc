// A hook among threads, processes and other hooks, on real files.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "smdebug/error.h"
#include "smdebug/hook.h"
#include "tests/testing/hook.h"
#include "tests/testing/run.h"
#include "tests/testing/sanitizer.h"
#include "tests/testing/temp_dir.h"

namespace smdebug {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using testing::FilesBelow;
using ::testing::IsEmpty;
using ::testing::Not;
using testing::ReadStep;
using testing::SaveEverything;
using testing::SaveFloats;
using ::testing::SizeIs;
using testing::Steps;
using testing::TempDir;

// Runs `body` in a forked child and tells whether it ended by itself with 0.
bool RunInChild(const std::function<void()>& body) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);  // A hang becomes a failure.
    body();
    _exit(0);
  }
  int status = 0;
  if (waitpid(child, &status, 0) != child) return false;
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

TEST(HookProcessTest, ThreadsSaveIntoOneStep) {
  TempDir dir;
  Hook hook(SaveEverything(dir / "run"));
  for (int step = 0; step < 20; ++step) {
    hook.BeginStep();
    std::vector<std::jthread> threads;
    threads.reserve(4);
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&, t] {
        for (int i = 0; i < 25; ++i) {
          SaveFloats(hook, "t" + std::to_string(t) + "_" + std::to_string(i),
                     {float(step), float(t), float(i)});
          hook.SaveScalar("s" + std::to_string(t), i);
        }
      });
    }
  }
  hook.Close();
  const auto storage = OpenLocalStorage(dir / "run");
  EXPECT_THAT(Steps(*storage), SizeIs(20));
  for (int step = 0; step < 20; ++step) {
    const auto records = ReadStep(*storage, step);
    EXPECT_THAT(records, SizeIs(104));
    EXPECT_THAT(records.at("t3_24").As<float>(),
                ElementsAre(float(step), 3, 24));
  }
  EXPECT_EQ(hook.stats().dropped, 0);
}

TEST(HookProcessTest, CallsOfAllKindsFromAllSidesAreSafe) {
  TempDir dir;
  Hook hook(SaveEverything(dir / "run"));
  std::vector<std::jthread> threads;
  threads.emplace_back([&] {
    for (int i = 0; i < 300; ++i) hook.BeginStep();
  });
  threads.emplace_back([&] {
    for (int i = 0; i < 300; ++i) {
      hook.SetMode(i % 2 == 0 ? Mode::kTrain : Mode::kEval);
      hook.EndStep();
    }
  });
  threads.emplace_back([&] {
    for (int i = 0; i < 300; ++i) {
      SaveFloats(hook, "x", {1});
      hook.SaveScalar("s", i);
      testing::SaveFloatsTo(hook, "y", {1}, {"mine"});
      static_cast<void>(hook.IsDue("x"));
      static_cast<void>(hook.stats());
    }
  });
  threads.emplace_back([&] { hook.Close(); });
  threads.clear();
  hook.Close();
  const auto storage = OpenLocalStorage(dir / "run");
  for (const int64_t step : Steps(*storage)) {
    EXPECT_THAT(ReadStep(*storage, step), Not(IsEmpty()));
  }
}

TEST(HookProcessTest, SeveralHooksLiveInOneProcess) {
  TempDir dir;
  Hook first(SaveEverything(dir / "a"));
  Hook second(SaveEverything(dir / "b"));
  first.BeginStep();
  second.BeginStep();
  second.BeginStep();
  SaveFloats(first, "x", {1});
  SaveFloats(second, "y", {2});
  first.Close();
  second.Close();
  EXPECT_THAT(Steps(*OpenLocalStorage(dir / "a")), ElementsAre(0));
  EXPECT_THAT(Steps(*OpenLocalStorage(dir / "b")), ElementsAre(1));
}

TEST(HookProcessTest, AForkedChildNeitherWritesNorHangs) {
  TempDir dir;
  auto hook = std::make_unique<Hook>(SaveEverything(dir / "run"));
  hook->BeginStep();
  SaveFloats(*hook, "x", {1});
  hook->BeginStep();
  SaveFloats(*hook, "x", {2});
  EXPECT_TRUE(RunInChild([&] {
    for (int i = 0; i < 100; ++i) {
      hook->BeginStep();
      if (hook->StepIsDue()) _exit(1);
      SaveFloats(*hook, "child", std::vector<float>(100'000));
      hook->SaveScalar("child", 1);
      hook->SetMode(Mode::kEval);
    }
    static_cast<void>(hook->step());
    static_cast<void>(hook->stats());
    hook->Close();
    hook.reset();
  }));
  hook->Close();
  const auto storage = OpenLocalStorage(dir / "run");
  EXPECT_THAT(Steps(*storage), ElementsAre(0, 1));
  EXPECT_THAT(ReadStep(*storage, 1), SizeIs(1));
}

TEST(HookProcessTest, AForkWhileTheHookIsBusyDoesNotHangTheChild) {
  TempDir dir;
  // It waits for its writer, so that little is left to write at the end.
  Hook hook(SaveEverything(dir / "run"), {}, {.buffer_bytes = 64 << 10});
  std::jthread busy([&](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      hook.BeginStep();
      SaveFloats(hook, "x", std::vector<float>(1000));
    }
  });
  for (int i = 0; i < 20; ++i) {
    EXPECT_TRUE(RunInChild([&] {
      hook.BeginStep();
      SaveFloats(hook, "child", {1});
      hook.Close();
    }));
  }
}

TEST(HookProcessTest, AChildMayHaveAHookOfItsOwn) {
  if (testing::kUnderThreadSanitizer) GTEST_SKIP() << "a child with threads";
  TempDir dir;
  Hook parent(SaveEverything(dir / "parent"));
  parent.BeginStep();
  SaveFloats(parent, "x", {1});
  EXPECT_TRUE(RunInChild([&] {
    Hook child(SaveEverything(dir / "child"));
    child.BeginStep();
    SaveFloats(child, "y", {1});
    child.Close();
  }));
  EXPECT_THAT(Steps(*OpenLocalStorage(dir / "child")), ElementsAre(0));
}

TEST(HookProcessTest, TheLastOfSeveralWorkersEndsTheJob) {
  TempDir dir;
  const std::string run = dir / "run";
  const auto work = [&](int64_t rank) {
    HookConfig config = SaveEverything(run);
    config.include_workers = IncludeWorkers::kAll;
    Hook hook(config, Worker::OfRank(rank, 3));
    hook.BeginStep();
    SaveFloats(hook, "x", {float(rank)});
  };
  const auto storage = OpenLocalStorage(run);
  for (int64_t rank = 0; rank < 3; ++rank) {
    EXPECT_FALSE(storage->Stat("training_job_end.ts"));
    EXPECT_TRUE(RunInChild([&] { work(rank); }));
  }
  EXPECT_TRUE(storage->Stat("training_job_end.ts"));
  for (int64_t rank = 0; rank < 3; ++rank) {
    const std::string worker = "worker_" + std::to_string(rank);
    EXPECT_THAT(ReadStep(*storage, 0, worker).at("x").As<float>(),
                ElementsAre(float(rank)));
  }
}

TEST(HookProcessTest, OnlyTheChiefWritesWhenOneWorkerIsIncluded) {
  TempDir dir;
  const std::string run = dir / "run";
  for (const int64_t rank : {0, 1}) {
    EXPECT_TRUE(RunInChild([&] {
      // The other worker meets the marker of the chief and must not mind.
      Hook hook(SaveEverything(run), Worker::OfRank(rank, 2));
      hook.BeginStep();
      if (hook.StepIsDue() != (rank == 0)) _exit(1);
      SaveFloats(hook, "x", {1});
      hook.SaveScalar("s", 1);
    }));
  }
  for (const std::string& file : FilesBelow(run)) {
    EXPECT_THAT(file, Not(::testing::HasSubstr("worker_1")));
  }
  EXPECT_THROW(Hook(SaveEverything(run)), RunExistsError);
}

TEST(HookProcessTest, AChildOfAHookThatIsSeveralWorkersDoesNothing) {
  TempDir dir;
  HookConfig config = SaveEverything(dir / "run");
  config.include_workers = IncludeWorkers::kAll;
  const std::vector<Worker> workers = {Worker::OfRank(0, 2),
                                       Worker::OfRank(1, 2)};
  auto hook = Hook::OfWorkers(config, workers);
  hook->BeginStep();
  SaveFloats(*hook, "before", {1});
  EXPECT_TRUE(RunInChild([&] {
    bool is_inert = hook->BeginIdleStep() && hook->IsIdle() &&
                    !hook->IsDue("x") && hook->due_key() == 0;
    hook->BeginStep();
    const float value = 1;
    hook->Save("x", ViewOf<float>({&value, 1}, {}), {.worker = 1});
    hook->SaveScalar("x", 1);
    is_inert = is_inert && !hook->Flush() && hook->stats() == HookStats();
    hook->Close();
    hook.reset();
    if (!is_inert) _exit(1);
  }));
  SaveFloats(*hook, "after", {1});
  hook->Close();
  const auto storage = OpenLocalStorage(dir / "run");
  for (const std::string worker : {"worker_0", "worker_1"}) {
    EXPECT_THAT(testing::ReadStep(*storage, 0, worker), SizeIs(2));
    EXPECT_THAT(Steps(*storage, worker), ElementsAre(0));
  }
}

TEST(HookProcessTest, ARerunAfterACrashJustWorks) {
  TempDir dir;
  const std::string run = dir / "run";
  const pid_t victim = fork();
  if (victim == 0) {
    Hook hook(SaveEverything(run));
    for (int i = 0; i < 3; ++i) {
      hook.BeginStep();
      SaveFloats(hook, "old", {float(i)});
    }
    while (hook.stats().steps_saved < 2) std::this_thread::yield();
    raise(SIGKILL);
  }
  ASSERT_EQ(waitpid(victim, nullptr, 0), victim);
  ASSERT_THAT(FilesBelow(run), Contains("claim.smd"));
  Hook hook(SaveEverything(run));
  hook.BeginStep();
  SaveFloats(hook, "new", {1});
  hook.Close();
  const auto storage = OpenLocalStorage(run);
  EXPECT_THAT(Steps(*storage), ElementsAre(0));
  EXPECT_EQ(ReadStep(*storage, 0).count("new"), 1u);
  EXPECT_THAT(Steps(*OpenLocalStorage(run + "/previous/1")), ElementsAre(0, 1));
}

TEST(HookProcessTest, AnOutDirThatCannotBeIsRefused) {
  TempDir dir;
  testing::WriteFile(dir / "file", "not a folder");
  EXPECT_THROW(Hook(SaveEverything(dir / "file")), IoError);
  EXPECT_THROW(Hook(SaveEverything(dir / "file/run")), IoError);
  EXPECT_THROW(Hook(SaveEverything("s3://bucket/run")), ConfigError);
  EXPECT_THROW(Hook(SaveEverything("")), ConfigError);
}

}  // namespace
}  // namespace smdebug
