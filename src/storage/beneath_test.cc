#include "src/storage/beneath.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include "tests/testing/files.h"
#include "tests/testing/temp_dir.h"

namespace smdebug::storage {
namespace {

namespace fs = std::filesystem;
using testing::TempDir;
using testing::WriteFile;

using Opener = base::Fd (*)(int, std::string_view, int);

// By the kernel and name by name: both keep the same promise.
class BeneathTest : public ::testing::TestWithParam<Opener> {
 protected:
  BeneathTest() {
    WriteFile(outside_ / "secret", "secret");
    WriteFile(root_ / "folder/below/file", "content");
    WriteFile(root_ / "file", "content");
    fs::create_symlink(outside_ / "secret", root_ / "folder/link");
    fs::create_symlink("file", root_ / "link");
    fs::create_directory_symlink(outside_.path(), root_ / "away");
    fs::create_directory_symlink("below", root_.path() / "folder/near");
    folder_ =
        base::Fd(open(root_.path().c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  }

  // What `path` holds, or the errno value that opening it gives.
  std::string Open(std::string_view path, int flags = O_RDONLY) const {
    const base::Fd file = GetParam()(folder_.get(), path, flags);
    if (!file.valid()) return std::to_string(errno);
    std::array<char, 100> buffer{};
    const ssize_t got = read(file.get(), buffer.data(), buffer.size());
    return got < 0 ? "opened" : std::string(buffer.data(), size_t(got));
  }

  const TempDir outside_;
  const TempDir root_;
  base::Fd folder_;
};

TEST_P(BeneathTest, OpensFilesAndFolders) {
  EXPECT_EQ(Open("file"), "content");
  EXPECT_EQ(Open("folder/below/file"), "content");
  EXPECT_EQ(Open("folder/below", O_RDONLY | O_DIRECTORY), "opened");
}

TEST_P(BeneathTest, TellsWhatIsMissing) {
  EXPECT_EQ(Open("missing"), std::to_string(ENOENT));
  EXPECT_EQ(Open("missing/file"), std::to_string(ENOENT));
  EXPECT_EQ(Open("folder/missing"), std::to_string(ENOENT));
  EXPECT_EQ(Open("file/below"), std::to_string(ENOTDIR));
  EXPECT_EQ(Open("folder/below/file/x"), std::to_string(ENOTDIR));
}

TEST_P(BeneathTest, FollowsNoLink) {
  const std::string refused = std::to_string(ELOOP);
  EXPECT_EQ(Open("link"), refused);
  EXPECT_EQ(Open("folder/link"), refused);
  EXPECT_EQ(Open("away/secret"), refused);
  EXPECT_EQ(Open("folder/near/file"), refused);
  EXPECT_EQ(Open("away", O_PATH | O_DIRECTORY), refused);
  EXPECT_EQ(Open("folder/near", O_PATH | O_DIRECTORY), refused);
}

INSTANTIATE_TEST_SUITE_P(Kernel, BeneathTest, ::testing::Values(&OpenBeneath));
INSTANTIATE_TEST_SUITE_P(Walk, BeneathTest, ::testing::Values(&WalkBeneath));

TEST(MakeBeneathTest, MakesWhatIsMissingButNothingBehindALink) {
  const TempDir outside;
  const TempDir root;
  fs::create_directory_symlink(outside.path(), root / "away");
  WriteFile(root / "file", "content");
  const base::Fd folder(
      open(root.path().c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  EXPECT_TRUE(MakeBeneath(folder.get(), "a/b/c").valid());
  EXPECT_TRUE(MakeBeneath(folder.get(), "a/b/d").valid());
  EXPECT_TRUE(MakeBeneath(folder.get(), "a").valid());
  EXPECT_TRUE(fs::is_directory(root / "a/b/c"));
  EXPECT_TRUE(fs::is_directory(root / "a/b/d"));
  EXPECT_FALSE(MakeBeneath(folder.get(), "file/x").valid());
  EXPECT_EQ(errno, ENOTDIR);
  EXPECT_FALSE(MakeBeneath(folder.get(), "away/new").valid());
  EXPECT_EQ(errno, ELOOP);
  EXPECT_TRUE(fs::is_empty(outside.path()));
}

TEST(OpenLinklessTest, RefusesALinkAnywhereInThePath) {
  const TempDir dir;
  const fs::path real = fs::canonical(dir.path());
  WriteFile(real / "folder/file", "content");
  fs::create_directory_symlink("folder", real / "alias");
  EXPECT_TRUE(OpenLinkless(real / "folder/file", O_RDONLY).valid());
  EXPECT_FALSE(OpenLinkless(real / "alias/file", O_RDONLY).valid());
  EXPECT_EQ(errno, ELOOP);
}

}  // namespace
}  // namespace smdebug::storage
