#include "src/storage/watched_folders.h"

#include <stdexcept>
#include <string_view>

#include <gtest/gtest.h>

namespace smdebug::storage {
namespace {

constexpr std::string_view kWatched[] = {"index", "deep/inside"};

TEST(WatchedFoldersTest, CoversFilesOfTheRootAndBelowTheFolders) {
  const WatchedFolders watched(kWatched);
  for (const char* key : {"END_OF_JOB", "index/a", "index/000/a", "index",
                          "deep/inside/a", "deep/inside/b/c"}) {
    EXPECT_TRUE(watched.Covers(key)) << key;
  }
  for (const char* key : {"events/a", "index2/a", "deep/a", "deep/inside2/a",
                          "other/index/a", "other/deep/inside/a"}) {
    EXPECT_FALSE(watched.Covers(key)) << key;
  }
}

TEST(WatchedFoldersTest, HoldsFilesOnlyOfTheRootAndTheFolders) {
  const WatchedFolders watched(kWatched);
  for (const char* folder : {"", "index", "index/0", "deep/inside/x"}) {
    EXPECT_TRUE(watched.Holds(folder)) << folder;
  }
  for (const char* folder : {"deep", "inde", "index2", "events"}) {
    EXPECT_FALSE(watched.Holds(folder)) << folder;
  }
}

TEST(WatchedFoldersTest, FoldersOnTheWayLeadToThem) {
  const WatchedFolders watched(kWatched);
  for (const char* folder : {"", "deep", "deep/inside", "index/0"}) {
    EXPECT_TRUE(watched.LeadsTo(folder)) << folder;
  }
  for (const char* folder : {"dee", "deeper", "deep/in", "events"}) {
    EXPECT_FALSE(watched.LeadsTo(folder)) << folder;
  }
}

TEST(WatchedFoldersTest, WithoutFoldersOnlyTheRootCounts) {
  const WatchedFolders watched({});
  EXPECT_TRUE(watched.Covers("a"));
  EXPECT_FALSE(watched.Covers("a/b"));
  EXPECT_TRUE(watched.LeadsTo(""));
  EXPECT_FALSE(watched.LeadsTo("a"));
}

TEST(WatchedFoldersTest, RefusesFoldersThatAreNoKeys) {
  for (const std::string_view folder : {"", "a/", "/a", "a/../b", "."}) {
    EXPECT_THROW(WatchedFolders({&folder, 1}), std::invalid_argument) << folder;
  }
}

}  // namespace
}  // namespace smdebug::storage
