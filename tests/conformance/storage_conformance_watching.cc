#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>

#include "tests/conformance/storage_conformance.h"
#include "tests/testing/files.h"

namespace smdebug::testing {
namespace {

using std::chrono::milliseconds;
using ::testing::ElementsAre;

// For what is bound to happen.
constexpr milliseconds kPatience{60'000};

constexpr CreateOptions kGrowing = {.visibility = Visibility::kWhileWriting};

// Returns when the thread, once it has given its number, sleeps.
void AwaitSleepOf(const std::atomic<pid_t>& thread) {
  while (thread == 0) std::this_thread::yield();
  const std::string path =
      "/proc/self/task/" + std::to_string(thread) + "/stat";
  while (ReadFile(path).find(") S ") == std::string::npos) {
    std::this_thread::yield();
  }
}

TEST_P(WatchConformanceTest, TheFirstCallTellsOfAChange) {
  EXPECT_TRUE(watch_->Wait(kPatience));
  EXPECT_TRUE(watch_->Changed());
  EXPECT_FALSE(watch_->Changed());
}

TEST_P(WatchConformanceTest, WithoutAChangeAWaitTimesOut) {
  EXPECT_TRUE(watch_->Changed());
  EXPECT_FALSE(watch_->Wait(milliseconds(20)));
  EXPECT_FALSE(watch_->Wait(milliseconds(0)));
  EXPECT_FALSE(watch_->Wait(milliseconds(-1)));
  EXPECT_FALSE(watch_->Changed());
}

TEST_P(WatchConformanceTest, APublishedFileEndsTheWait) {
  EXPECT_TRUE(watch_->Changed());
  for (const char* key : {"index/000/a", "index/000/b", "index/c"}) {
    std::jthread writer([&] { PutFile(*storage_, key, "x"); });
    EXPECT_TRUE(watch_->Wait(milliseconds::max())) << key;
    EXPECT_TRUE(watch_->Changed()) << key;
    EXPECT_EQ(Keys(*storage_, key).size(), 1u);
    writer.join();
    static_cast<void>(watch_->Changed());  // A change may be told twice.
  }
}

TEST_P(WatchConformanceTest, WaitingLeavesTheChangeToBeTaken) {
  EXPECT_TRUE(watch_->Changed());
  PutFile(*storage_, "index/a", "x");
  EXPECT_TRUE(watch_->Wait(kPatience));
  EXPECT_TRUE(watch_->Wait(milliseconds(0)));
  EXPECT_TRUE(watch_->Changed());
  EXPECT_FALSE(watch_->Changed());
}

TEST_P(WatchConformanceTest, FilesElsewhereDoNotCount) {
  EXPECT_TRUE(watch_->Changed());
  PutFile(*storage_, "events/000/a", "x");
  PutFile(*storage_, "index2/a", "x");
  EXPECT_TRUE(storage_->CreateExclusive("claims/a", {}));
  storage_->Move("events/000/a", "previous/index/a");
  storage_->Remove("index2/a");
  EXPECT_FALSE(watch_->Changed());
  PutFile(*storage_, "index/a", "x");
  EXPECT_TRUE(watch_->Changed());
}

TEST_P(WatchConformanceTest, FilesRightBelowTheRootCount) {
  EXPECT_TRUE(watch_->Changed());
  for (const char* key : {"END_OF_JOB.ts", "another"}) {
    PutFile(*storage_, key, "x");
    EXPECT_TRUE(watch_->Wait(kPatience)) << key;
    EXPECT_TRUE(watch_->Changed()) << key;
    EXPECT_FALSE(watch_->Changed()) << key;
  }
}

TEST_P(WatchConformanceTest, WatchesWhatIsThereAlready) {
  PutFile(*storage_, "index/000/a", "x");
  PutFile(*storage_, "deep/inside/000/a", "x");
  const auto watch = Watch();
  ASSERT_NE(watch, nullptr);
  EXPECT_TRUE(watch->Changed());
  EXPECT_FALSE(watch->Changed());
  for (const char* key : {"index/000/b", "deep/inside/000/b", "index/001/a"}) {
    PutFile(*storage_, key, "x");
    EXPECT_TRUE(watch->Changed()) << key;
    EXPECT_FALSE(watch->Changed()) << key;
  }
}

TEST_P(WatchConformanceTest, OnTheWayToADeepFolderNothingCounts) {
  EXPECT_TRUE(watch_->Changed());
  PutFile(*storage_, "deep/a", "x");
  PutFile(*storage_, "deep/insider/a", "x");
  EXPECT_FALSE(watch_->Changed());
  PutFile(*storage_, "deep/inside/a", "x");
  EXPECT_TRUE(watch_->Changed());
  PutFile(*storage_, "deep/inside/b/c/d", "x");
  EXPECT_TRUE(watch_->Changed());
  PutFile(*storage_, "deep/b", "x");
  EXPECT_FALSE(watch_->Changed());
}

TEST_P(WatchConformanceTest, RemovalsAndMovesCount) {
  PutFile(*storage_, "index/a", "x");
  PutFile(*storage_, "elsewhere/b", "x");
  EXPECT_TRUE(watch_->Changed());
  storage_->Remove("index/a");
  EXPECT_TRUE(watch_->Changed());
  storage_->Move("elsewhere/b", "index/b");
  EXPECT_TRUE(watch_->Changed());
  storage_->Move("index/b", "elsewhere/b");
  EXPECT_TRUE(watch_->Changed());
  EXPECT_FALSE(watch_->Changed());
}

TEST_P(WatchConformanceTest, AReplacedFileCounts) {
  PutFile(*storage_, "index/a", "x");
  EXPECT_TRUE(watch_->Changed());
  PutFile(*storage_, "index/a", "y");
  EXPECT_TRUE(watch_->Changed());
}

TEST_P(WatchConformanceTest, WhatChangesNothingDoesNotCount) {
  ASSERT_TRUE(storage_->CreateExclusive("index/a", {}));
  EXPECT_TRUE(watch_->Changed());
  storage_->Remove("index/missing");
  EXPECT_FALSE(storage_->CreateExclusive("index/a", {}));
  EXPECT_TRUE(storage_->Read("index/a").has_value());
  EXPECT_THAT(Keys(*storage_), ElementsAre("index/a"));
  EXPECT_FALSE(watch_->Changed());
}

TEST_P(WatchConformanceTest, PendingFilesDoNotCount) {
  EXPECT_TRUE(watch_->Changed());
  for (const char* key : {"index/000/a", "b"}) {
    auto discarded = storage_->Create(key);
    AppendText(*discarded, "x");
    discarded->Flush();
    EXPECT_FALSE(watch_->Changed()) << key;
    discarded.reset();
    EXPECT_FALSE(watch_->Changed()) << key;
    const auto published = storage_->Create(key);
    AppendText(*published, "x");
    EXPECT_FALSE(watch_->Wait(milliseconds(1))) << key;
    published->Publish();
    EXPECT_TRUE(watch_->Changed()) << key;
  }
}

TEST_P(WatchConformanceTest, AGrowingFileCountsWhenItComesAndWhenItIsWhole) {
  EXPECT_TRUE(watch_->Changed());
  const auto log = storage_->Create("index/log", kGrowing);
  AppendText(*log, "first");
  log->Flush();
  EXPECT_TRUE(watch_->Changed());
  AppendText(*log, "second");
  log->Flush();
  EXPECT_FALSE(watch_->Changed());
  log->Publish();
  EXPECT_TRUE(watch_->Changed());
}

TEST_P(WatchConformanceTest, EveryWatchSeesTheChange) {
  const auto other = Watch();
  EXPECT_TRUE(watch_->Changed());
  EXPECT_TRUE(other->Changed());
  PutFile(*storage_, "index/a", "x");
  EXPECT_TRUE(watch_->Changed());
  EXPECT_TRUE(other->Changed());
  EXPECT_FALSE(watch_->Changed());
}

TEST_P(WatchConformanceTest, AWatchOutlivesItsStorage) {
  auto storage = GetParam().open();
  const auto watch = Onlooker::Of(storage->Watch({}));
  EXPECT_TRUE(watch->Changed());
  storage.reset();
  static_cast<void>(watch->Wait(milliseconds(0)));
  static_cast<void>(watch->Changed());
}

TEST_P(WatchConformanceTest, RefusesFoldersThatAreNoKeys) {
  for (const std::string_view folder : {"", "/", "a/", "../a", "a//b"}) {
    EXPECT_THROW(storage_->Watch({&folder, 1}), std::invalid_argument)
        << folder;
  }
}

TEST_P(WatchConformanceTest, AChangeThatAnotherThreadHasSeenStillEndsAWait) {
  const auto watch = storage_->Watch({});
  const uint64_t known = watch->Changes();
  EXPECT_FALSE(watch->Wait(known, milliseconds(0)));
  PutFile(*storage_, "a", "x");
  const uint64_t seen_by_another = watch->Changes();
  EXPECT_NE(seen_by_another, known);
  EXPECT_TRUE(watch->Wait(known, kPatience));
  EXPECT_FALSE(watch->Wait(seen_by_another, milliseconds(0)));
}

TEST_P(WatchConformanceTest, OneChangeEndsTheWaitOfEveryThread) {
  EXPECT_TRUE(watch_->Changed());
  std::atomic<int> woken{0};
  std::vector<std::jthread> threads;
  threads.reserve(4);
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&] { woken += watch_->Wait(kPatience) ? 1 : 0; });
  }
  PutFile(*storage_, "index/a", "x");
  threads.clear();
  EXPECT_EQ(woken, 4);
}

TEST_P(WatchConformanceTest, AChangeThatAnotherThreadTakesEndsTheWait) {
  for (int round = 0; round < 50; ++round) {
    PutFile(*storage_, "a", "x");
    EXPECT_TRUE(watch_->Changed());
    std::atomic<pid_t> about_to_wait{0};
    std::atomic<bool> ended_by_change{false};
    std::jthread waiter([&] {
      about_to_wait = gettid();
      ended_by_change = watch_->Wait(kPatience);
    });
    AwaitSleepOf(about_to_wait);
    storage_->Remove("a");
    EXPECT_TRUE(watch_->Changed());
    waiter.join();
    ASSERT_TRUE(ended_by_change);
  }
}

TEST_P(WatchConformanceTest, NoFileOfManyNewFoldersIsMissed) {
  constexpr size_t kFolders = 300;
  EXPECT_TRUE(watch_->Changed());
  std::jthread writer([&] {
    for (size_t folder = 0; folder < kFolders; ++folder) {
      const std::string prefix = "index/" + std::to_string(folder);
      PutFile(*storage_, prefix + "/a", "x");
      PutFile(*storage_, prefix + "/deeper/b", "x");
    }
  });
  size_t found = 0;
  while (found < 2 * kFolders) {
    ASSERT_TRUE(watch_->Wait(kPatience)) << "after " << found << " files";
    if (watch_->Changed()) found = storage_->List("index/").size();
  }
  writer.join();
}

}  // namespace
}  // namespace smdebug::testing
