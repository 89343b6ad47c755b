#include "src/query/links.h"

#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/testing/files.h"
#include "tests/testing/temp_dir.h"

namespace smdebug::query {
namespace {

namespace fs = std::filesystem;
using ::testing::IsEmpty;
using testing::TempDir;
using testing::WriteFile;

TEST(LinksTest, TheFirstLinkOnTheWayIsFound) {
  const TempDir outside;
  const TempDir dir;
  WriteFile(dir / "real/file", "x");
  fs::create_directory_symlink(outside.path(), dir / "away");
  fs::create_directory_symlink(outside.path(), dir / "real/away");
  fs::create_symlink(outside / "absent", dir / "real/link");
  const auto storage = OpenLocalStorage(dir.path().string());
  EXPECT_EQ(FindLink(*storage, "away"), "away");
  EXPECT_EQ(FindLink(*storage, "away/a/b"), "away");
  EXPECT_EQ(FindLink(*storage, "real/away/a"), "real/away");
  EXPECT_EQ(FindLink(*storage, "real/link"), "real/link");
  EXPECT_THAT(FindLink(*storage, "real/file"), IsEmpty());
  EXPECT_THAT(FindLink(*storage, "absent/file"), IsEmpty());
}

TEST(LinksTest, TheRootMayBeALink) {
  const TempDir outside;
  const TempDir dir;
  WriteFile(outside / "events/file", "x");
  fs::create_directory_symlink(outside.path(), dir / "run");
  const auto storage = OpenLocalStorage(dir / "run");
  EXPECT_THAT(FindLink(*storage, "events/file"), IsEmpty());
}

TEST(LinksTest, AStoreOfObjectsHasNone) {
  EXPECT_THAT(FindLink(*OpenMemoryStorage(), "events/file"), IsEmpty());
}

}  // namespace
}  // namespace smdebug::query
