#include "src/storage/local_watch.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/storage/file_system.h"
#include "src/storage/posix_file.h"
#include "tests/testing/environment.h"
#include "tests/testing/files.h"
#include "tests/testing/onlooker.h"
#include "tests/testing/temp_dir.h"

// What holds for every watch is in tests/conformance.
namespace smdebug::storage {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;
using testing::Onlooker;
using testing::ScopedEnvironment;
using testing::TempDir;
using testing::WriteFile;

constexpr milliseconds kPatience{60'000};
constexpr std::string_view kFolders[] = {"index"};

std::unique_ptr<Onlooker> WatchIndex(const fs::path& root) {
  return Onlooker::Of(WatchLocalFiles(root.string(), kFolders));
}

// Runs `body` in a child process; returns what it returned, -1 if it died.
template <typename Body>
int RunInChild(Body body) {
  const pid_t child = fork();
  if (child == 0) _exit(body());
  int status = 0;
  if (waitpid(child, &status, 0) != child || !WIFEXITED(status)) return -1;
  return WEXITSTATUS(status);
}

class LocalWatchTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!InotifySeesAllOf(dir_.path())) GTEST_SKIP() << "not a local folder";
  }

  // With the first change taken.
  static std::unique_ptr<Onlooker> Settled(const fs::path& root) {
    auto watch = WatchIndex(root);
    if (watch == nullptr) throw std::runtime_error("cannot watch");
    EXPECT_TRUE(watch->Changed());
    return watch;
  }

  const TempDir dir_;
  const fs::path root_ = dir_.path() / "jobs/one/run";
};

TEST_F(LocalWatchTest, TheEnvironmentCanAskForPolling) {
  const ScopedEnvironment poll("SMDEBUG_WATCH", "poll");
  EXPECT_EQ(WatchIndex(root_), nullptr);
  const ScopedEnvironment other("SMDEBUG_WATCH", "anything else");
  EXPECT_NE(WatchIndex(root_), nullptr);
}

TEST_F(LocalWatchTest, FileSystemsThatOthersChangeAreNotWatched) {
  EXPECT_EQ(WatchIndex("/proc/self"), nullptr);
  EXPECT_EQ(WatchIndex("/proc/self/missing/run"), nullptr);
}

TEST_F(LocalWatchTest, FoldersAloneAreNoChange) {
  const auto watch = Settled(root_);
  for (const char* folder : {"jobs", "jobs/one", "jobs/one/run",
                             "jobs/one/run/index", "jobs/one/run/index/000"}) {
    fs::create_directory(dir_.path() / folder);
    EXPECT_FALSE(watch->Changed()) << folder;
  }
  WriteFile(root_ / "index/000/a", "x");
  EXPECT_TRUE(watch->Changed());
}

TEST_F(LocalWatchTest, WhatHappensAroundTheRootIsNoChange) {
  const auto watch = Settled(root_);
  WriteFile(dir_ / "file", "x");
  WriteFile(dir_.path() / "jobs2/one/run/index/a", "x");
  EXPECT_FALSE(watch->Changed());
  fs::create_directories(root_);
  EXPECT_FALSE(watch->Changed());
  WriteFile(root_.parent_path() / "file", "x");
  WriteFile(root_.parent_path() / "run2/a", "x");
  fs::remove_all(root_.parent_path() / "run2");
  EXPECT_FALSE(watch->Changed());
}

TEST_F(LocalWatchTest, ARootThatComesWithFilesIsAChange) {
  const auto watch = Settled(root_);
  WriteFile(dir_ / "made/one/run/index/000/a", "x");
  EXPECT_FALSE(watch->Changed());
  fs::rename(dir_ / "made", dir_ / "jobs");
  EXPECT_TRUE(watch->Changed());
  EXPECT_FALSE(watch->Changed());
  WriteFile(root_ / "index/000/b", "x");
  EXPECT_TRUE(watch->Changed());
}

TEST_F(LocalWatchTest, ARootThatIsRemovedAndMadeAgainIsWatchedAgain) {
  const auto watch = Settled(root_);
  for (int round = 0; round < 3; ++round) {
    WriteFile(root_ / "index/000/a", "x");
    EXPECT_TRUE(watch->Changed()) << round;
    fs::remove_all(round == 1 ? root_ : root_.parent_path());
    EXPECT_TRUE(watch->Changed()) << round;
    EXPECT_FALSE(watch->Changed()) << round;
  }
  WriteFile(root_ / "index/000/a", "x");
  fs::remove_all(root_);
  WriteFile(root_ / "a", "x");
  EXPECT_TRUE(watch->Changed());
  WriteFile(root_ / "b", "x");
  EXPECT_TRUE(watch->Changed());
}

// A folder that someone has open does not tell of its own removal.
TEST_F(LocalWatchTest, AFolderInUseThatIsRemovedAndMadeAgainIsWatchedAgain) {
  fs::create_directories(root_ / "index/000");
  const auto watch = Settled(root_);
  const auto open_folder = [](const fs::path& folder) {
    return base::Fd(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  };
  const base::Fd above = open_folder(root_.parent_path());
  const base::Fd root = open_folder(root_);
  const base::Fd index = open_folder(root_ / "index");
  for (const fs::path& removed :
       {root_ / "index", root_, root_.parent_path()}) {
    fs::remove_all(removed);
    static_cast<void>(watch->Changed());
    fs::create_directories(root_ / "index");
    static_cast<void>(watch->Changed());
    WriteFile(root_ / "index/a", "x");
    EXPECT_TRUE(watch->Changed()) << removed;
    EXPECT_FALSE(watch->Changed()) << removed;
  }
}

TEST_F(LocalWatchTest, ARootThatIsMovedAwayIsWatchedNoMore) {
  for (const fs::path& moved :
       {root_, root_.parent_path(), root_.parent_path().parent_path()}) {
    WriteFile(root_ / "index/a", "x");
    const auto watch = Settled(root_);
    fs::rename(moved, dir_ / "away");
    EXPECT_TRUE(watch->Changed()) << moved;
    const fs::path away =
        dir_.path() / "away" / root_.lexically_relative(moved);
    WriteFile(away / "index/b", "x");
    EXPECT_FALSE(watch->Changed()) << moved;
    WriteFile(root_ / "index/c", "x");
    EXPECT_TRUE(watch->Changed()) << moved;
    fs::remove_all(dir_ / "away");
  }
}

TEST_F(LocalWatchTest, AFolderThatIsMovedInIsWatchedWithAllBelowIt) {
  fs::create_directories(root_ / "index");
  const auto watch = Settled(root_);
  WriteFile(root_ / "staged/deep/a", "x");
  EXPECT_FALSE(watch->Changed());
  fs::rename(root_ / "staged", root_ / "index/new");
  EXPECT_TRUE(watch->Changed());
  WriteFile(root_ / "index/new/deep/b", "x");
  EXPECT_TRUE(watch->Changed());
  fs::rename(root_ / "index/new", root_ / "index/newer");
  EXPECT_TRUE(watch->Changed());
  WriteFile(root_ / "index/newer/deep/c", "x");
  EXPECT_TRUE(watch->Changed());
  fs::rename(root_ / "index/newer", root_ / "away");
  EXPECT_TRUE(watch->Changed());
  WriteFile(root_ / "away/deep/d", "x");
  EXPECT_FALSE(watch->Changed());
}

TEST_F(LocalWatchTest, AFolderMayLookLikeAPendingFile) {
  const auto watch = Settled(root_);
  WriteFile(root_ / "index/odd.tmp/a", "x");
  EXPECT_TRUE(watch->Changed());
  WriteFile(root_ / "index/odd.tmp/b", "x");
  EXPECT_TRUE(watch->Changed());
  WriteFile(root_ / "index/odd.tmp/c.tmp", "x");
  EXPECT_FALSE(watch->Changed());
}

TEST_F(LocalWatchTest, TheRootMayBeBehindASymbolicLink) {
  fs::create_directories(root_);
  fs::create_directory_symlink(root_.parent_path(), dir_ / "link");
  const auto watch = Settled(dir_ / "link/run");
  WriteFile(root_ / "index/a", "x");
  EXPECT_TRUE(watch->Changed());
  fs::remove_all(root_);
  WriteFile(root_ / "index/a", "x");
  EXPECT_TRUE(watch->Changed());
  WriteFile(root_ / "index/b", "x");
  EXPECT_TRUE(watch->Changed());
}

TEST_F(LocalWatchTest, AWayThroughOneFolderTwiceIsNotWatched) {
  fs::create_directories(root_);
  fs::create_directory_symlink(dir_.path(), dir_ / "loop");
  EXPECT_EQ(WatchIndex(dir_ / "loop/jobs/one/run"), nullptr);
}

TEST_F(LocalWatchTest, ALinkIntoNowhereIsNotWatched) {
  fs::create_directory_symlink(dir_ / "nowhere", dir_ / "link");
  EXPECT_EQ(WatchIndex(dir_ / "link"), nullptr);
  EXPECT_EQ(WatchIndex(dir_ / "link/run"), nullptr);
}

TEST_F(LocalWatchTest, SymbolicLinksBelowTheRootAreNotFollowed) {
  fs::create_directories(root_ / "index");
  fs::create_directories(dir_ / "elsewhere");
  fs::create_directory_symlink(dir_ / "elsewhere", root_ / "index/link");
  const auto watch = Settled(root_);
  WriteFile(dir_ / "elsewhere/a", "x");
  EXPECT_FALSE(watch->Changed());
}

TEST_F(LocalWatchTest, LostEventsAreAChangeAndNothingIsMissedAfter) {
  size_t queued = 0;
  std::ifstream("/proc/sys/fs/inotify/max_queued_events") >> queued;
  if (queued == 0 || queued > 20'000) GTEST_SKIP() << "queue of " << queued;
  fs::create_directories(root_ / "index");
  const auto watch = Settled(root_);
  // Each round makes two events.
  for (size_t i = 0; i < queued; ++i) {
    WriteFile(root_ / "index/noise.tmp", "");
    fs::remove(root_ / "index/noise.tmp");
  }
  WriteFile(root_ / "index/000/deep/a", "x");  // Its events are lost.
  EXPECT_TRUE(watch->Changed());
  EXPECT_FALSE(watch->Changed());
  WriteFile(root_ / "index/000/deep/b", "x");
  EXPECT_TRUE(watch->Changed());
}

TEST_F(LocalWatchTest, SignalsDoNotEndTheWait) {
  struct sigaction interrupting {};
  struct sigaction before {};
  interrupting.sa_handler = [](int) {};  // Without SA_RESTART: EINTR.
  ASSERT_EQ(sigaction(SIGUSR1, &interrupting, &before), 0);
  const auto watch = Settled(root_);
  std::atomic<bool> ended{false};
  std::atomic<bool> changed{false};
  std::jthread waiter([&] {
    changed = watch->Wait(kPatience);
    ended = true;
  });
  for (int i = 0; i < 100; ++i) {
    pthread_kill(waiter.native_handle(), SIGUSR1);
    std::this_thread::yield();
    EXPECT_FALSE(ended);
  }
  WriteFile(root_ / "a", "x");
  waiter.join();
  EXPECT_TRUE(changed);
  sigaction(SIGUSR1, &before, nullptr);
}

TEST_F(LocalWatchTest, AChildOfAForkTakesNothingFromItsParent) {
  const auto watch = Settled(root_);
  WriteFile(root_ / "a", "x");
  EXPECT_EQ(RunInChild([&] {
              const bool always = watch->Changed() && watch->Changed() &&
                                  watch->Wait(milliseconds(0));
              return always ? 7 : 1;
            }),
            7);
  EXPECT_TRUE(watch->Changed());
  EXPECT_FALSE(watch->Changed());
}

TEST_F(LocalWatchTest, WithoutAFreeDescriptorThereIsNoWatch) {
  EXPECT_EQ(RunInChild([&] {
              const rlimit limit = {3, 3};
              setrlimit(RLIMIT_NOFILE, &limit);
              return WatchIndex(root_) == nullptr ? 7 : 1;
            }),
            7);
}

// Lets this process, alone in a new user namespace, have `count` watches.
bool LimitWatches(const char* count) {
  if (unshare(CLONE_NEWUSER) != 0) return false;
  std::ofstream limit("/proc/sys/user/max_inotify_watches");
  limit << count << std::flush;
  return limit.good();
}

TEST_F(LocalWatchTest, BeyondTheLimitOfWatchesEverythingMayHaveChanged) {
  constexpr int kCannotLimit = 9;
  fs::create_directories(root_ / "index");
  const int result = RunInChild([&] {
    if (!LimitWatches("20")) return kCannotLimit;
    const auto watch = WatchIndex(root_);
    if (watch == nullptr) return 1;
    if (!watch->Changed() || watch->Changed()) return 2;
    for (int i = 0; i < 30; ++i) {
      fs::create_directory(root_ / "index" / std::to_string(i));
    }
    if (!watch->Wait(kPatience)) return 3;
    for (int i = 0; i < 3; ++i) {
      if (!watch->Changed()) return 4;
      if (!watch->Wait(milliseconds(1))) return 5;
    }
    return WatchIndex(root_) == nullptr ? 7 : 6;
  });
  if (result == kCannotLimit) GTEST_SKIP() << "not allowed to set a limit";
  EXPECT_EQ(result, 7);
}

}  // namespace
}  // namespace smdebug::storage
