#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "smdebug/error.h"
#include "smdebug/storage.h"
#include "tests/testing/files.h"
#include "tests/testing/temp_dir.h"

namespace smdebug {
namespace {

namespace fs = std::filesystem;
using testing::AppendText;
using ::testing::ElementsAre;
using testing::FilesBelow;
using testing::GetFile;
using ::testing::IsEmpty;
using testing::Keys;
using ::testing::Optional;
using testing::PutFile;
using testing::ReadFile;
using ::testing::StartsWith;
using testing::TempDir;
using testing::WriteFile;

class LocalStorageTest : public ::testing::Test {
 protected:
  // The errno of the IoError that `call` throws; 0 if it does not.
  template <typename Call>
  static int CodeOf(Call call) {
    try {
      call();
    } catch (const IoError& error) {
      return error.code();
    }
    return 0;
  }

  const TempDir dir_;
  const fs::path root_ = dir_.path() / "run";
  const std::shared_ptr<Storage> storage_ = OpenLocalStorage(root_.string());
};

TEST_F(LocalStorageTest, TheRootIsMadeByTheFirstWrite) {
  EXPECT_THAT(Keys(*storage_), IsEmpty());
  EXPECT_FALSE(fs::exists(root_));
  PutFile(*storage_, "a", "x");
  EXPECT_EQ(ReadFile(root_ / "a"), "x");
}

TEST_F(LocalStorageTest, APendingFileIsTmpBesideItsPlace) {
  auto file = storage_->Create("events/0/a.tfevents");
  AppendText(*file, "x");
  EXPECT_THAT(FilesBelow(root_), ElementsAre("events/0/a.tfevents.tmp"));
  file->Publish();
  EXPECT_THAT(FilesBelow(root_), ElementsAre("events/0/a.tfevents"));
}

TEST_F(LocalStorageTest, ADiscardedPendingFileIsRemoved) {
  storage_->Create("a/b").reset();
  EXPECT_THAT(FilesBelow(root_), IsEmpty());
}

TEST_F(LocalStorageTest, LeftoversOfACrashAreReplacedAndNeverListed) {
  WriteFile(root_ / "a.tmp", "torn by a crash, and longer than the new one");
  WriteFile(root_ / "b.tmp", "torn");
  EXPECT_THAT(Keys(*storage_), IsEmpty());
  PutFile(*storage_, "a", "whole");
  EXPECT_EQ(ReadFile(root_ / "a"), "whole");
  EXPECT_THAT(FilesBelow(root_), ElementsAre("a", "b.tmp"));
}

TEST_F(LocalStorageTest, TheLaterOfTwoPendingFilesTakesTheName) {
  const auto first = storage_->Create("key");
  const auto second = OpenLocalStorage(root_.string())->Create("key");
  AppendText(*first, "first");
  AppendText(*second, "second");
  EXPECT_EQ(CodeOf([&] { first->Publish(); }), ESTALE);
  second->Publish();
  EXPECT_EQ(ReadFile(root_ / "key"), "second");
}

TEST_F(LocalStorageTest, AFolderThatVanishedIsMadeAgain) {
  PutFile(*storage_, "index/000/a", "x");
  fs::remove_all(root_);
  PutFile(*storage_, "index/000/b", "y");
  EXPECT_TRUE(storage_->CreateExclusive("claims/c", {}));
  EXPECT_THAT(Keys(*storage_), ElementsAre("claims/c", "index/000/b"));
}

TEST_F(LocalStorageTest, PublishingFromAVanishedFolderThrows) {
  const auto file = storage_->Create("a/b");
  AppendText(*file, "x");
  fs::remove_all(root_);
  EXPECT_NE(CodeOf([&] { file->Publish(); }), 0);
  EXPECT_FALSE(fs::exists(root_));
}

TEST_F(LocalStorageTest, AFileInTheWayOfAFolderIsAnError) {
  WriteFile(root_ / "events", "a file");
  EXPECT_EQ(CodeOf([&] { storage_->Create("events/0/a"); }), ENOTDIR);
  EXPECT_EQ(CodeOf([&] { storage_->CreateExclusive("events/a", {}); }),
            ENOTDIR);
  PutFile(*storage_, "a", "x");
  EXPECT_EQ(CodeOf([&] { storage_->Move("a", "events/a"); }), ENOTDIR);
  EXPECT_THAT(GetFile(*storage_, "a"), Optional(std::string("x")));
}

TEST_F(LocalStorageTest, ARootThatIsAFileIsAnError) {
  WriteFile(root_, "a file");
  EXPECT_EQ(CodeOf([&] { storage_->List(""); }), ENOTDIR);
  EXPECT_EQ(CodeOf([&] { storage_->Create("a"); }), ENOTDIR);
  EXPECT_FALSE(storage_->Read("a").has_value());
}

TEST_F(LocalStorageTest, AFolderInThePlaceOfTheFileFailsOnlyThePublish) {
  fs::create_directories(root_ / "key/inside");
  const auto file = storage_->Create("key");
  AppendText(*file, "x");
  EXPECT_EQ(CodeOf([&] { file->Publish(); }), EISDIR);
  EXPECT_EQ(CodeOf([&] { file->Publish(); }), EISDIR);
  EXPECT_TRUE(fs::is_directory(root_ / "key/inside"));
}

TEST_F(LocalStorageTest, AFailedPublishLeavesNoPendingFile) {
  fs::create_directories(root_ / "key/inside");
  EXPECT_EQ(CodeOf([&] { storage_->Create("key")->Publish(); }), EISDIR);
  EXPECT_THAT(FilesBelow(root_), IsEmpty());
}

TEST_F(LocalStorageTest, ANameThatIsTooLongIsAnError) {
  EXPECT_EQ(CodeOf([&] { storage_->Create(std::string(300, 'n')); }),
            ENAMETOOLONG);
}

TEST_F(LocalStorageTest, ListingEndsInFoldersThatAreTooDeep) {
  PutFile(*storage_, "a", "x");
  int folder = open(root_.c_str(), O_PATH | O_CLOEXEC);
  const std::string name(250, 'd');
  for (int depth = 0; depth < 20; ++depth) {
    ASSERT_EQ(mkdirat(folder, name.c_str(), 0777), 0);
    const int below = openat(folder, name.c_str(), O_PATH | O_CLOEXEC);
    ASSERT_GE(below, 0);
    close(folder);
    folder = below;
  }
  close(folder);
  EXPECT_EQ(CodeOf([&] { storage_->List(""); }), ENAMETOOLONG);
  EXPECT_EQ(storage_->List("", "", 1).size(), 1u);
}

TEST_F(LocalStorageTest, SymbolicLinksAreNotListedOrFollowed) {
  const TempDir elsewhere;
  WriteFile(elsewhere / "secret", "x");
  PutFile(*storage_, "real/file", "x");
  fs::create_directory_symlink(elsewhere.path(), root_ / "out");
  fs::create_directory_symlink(root_, root_ / "real/loop");
  fs::create_symlink(elsewhere / "secret", root_ / "link");
  fs::create_symlink("nowhere", root_ / "dangling");
  EXPECT_THAT(Keys(*storage_), ElementsAre("real/file"));
  EXPECT_THAT(Keys(*storage_, "out/"), IsEmpty());
  EXPECT_THAT(Keys(*storage_, "real/loop/real"), IsEmpty());
}

TEST_F(LocalStorageTest, TheRootMayBeASymbolicLink) {
  PutFile(*storage_, "a/b", "x");
  fs::create_directory_symlink(root_, dir_.path() / "alias");
  const auto alias = OpenLocalStorage(dir_ / "alias");
  EXPECT_THAT(Keys(*alias), ElementsAre("a/b"));
  EXPECT_THAT(GetFile(*alias, "a/b"), Optional(std::string("x")));
}

TEST_F(LocalStorageTest, AFifoIsNoFileAndDoesNotHangTheReader) {
  PutFile(*storage_, "a", "x");
  ASSERT_EQ(mkfifo((root_ / "fifo").c_str(), 0600), 0);
  EXPECT_FALSE(storage_->Read("fifo").has_value());
  EXPECT_THAT(Keys(*storage_), ElementsAre("a"));
}

TEST_F(LocalStorageTest, ASmallReadOfAShrunkFileKeepsItsBytes) {
  PutFile(*storage_, "a", std::string(10'000, 'x'));
  const auto blob = storage_->Read("a");
  fs::resize_file(root_ / "a", 10);
  EXPECT_EQ(blob->text(), std::string(10'000, 'x'));
  EXPECT_EQ(storage_->Read("a")->bytes.size(), 10u);
}

TEST_F(LocalStorageTest, MovingWhatIsMissingMakesNoFolder) {
  EXPECT_EQ(CodeOf([&] { storage_->Move("a", "new/b"); }), ENOENT);
  EXPECT_FALSE(fs::exists(root_));
}

TEST_F(LocalStorageTest, TheRootStaysWhenTheProcessMoves) {
  const fs::path before = fs::current_path();
  fs::current_path(dir_.path());
  const auto relative = OpenLocalStorage("relative/./out/");
  fs::current_path(before);
  PutFile(*relative, "a", "x");
  EXPECT_EQ(ReadFile(dir_.path() / "relative/out/a"), "x");
  EXPECT_EQ(relative->root(),
            (fs::canonical(dir_.path()) / "relative/out").string());
}

TEST(OpenStorageTest, ExpandsTheHomeFolder) {
  const char* variable = std::getenv("HOME");  // NOLINT(concurrency-mt-unsafe)
  ASSERT_NE(variable, nullptr);
  const std::string home = variable;
  EXPECT_EQ(OpenStorage("~")->root(), home);
  EXPECT_EQ(OpenStorage("~/run")->root(), home + "/run");
  EXPECT_EQ(OpenStorage("~root/run")->root(), "/root/run");
  EXPECT_EQ(OpenStorage("/a/~/b")->root(), "/a/~/b");
  EXPECT_THAT(OpenStorage("~no-such-user/run")->root(), StartsWith("/"));
}

TEST(OpenStorageTest, TakesPathsAndFileUrls) {
  EXPECT_EQ(OpenStorage("/a/b")->root(), "/a/b");
  EXPECT_EQ(OpenStorage("/a/b/")->root(), "/a/b");
  EXPECT_EQ(OpenStorage("/")->root(), "/");
  EXPECT_EQ(OpenStorage("file:///a/b")->root(), "/a/b");
  EXPECT_EQ(OpenStorage("/odd/name://x")->root(), "/odd/name:/x");
}

TEST(OpenStorageTest, RefusesSchemesWithoutADriver) {
  for (const char* url :
       {"s3://bucket/key", "gs://b", "hdfs://n/p", "S3://b"}) {
    try {
      OpenStorage(url);
      FAIL() << url;
    } catch (const ConfigError& error) {
      EXPECT_EQ(error.value(), url);
      EXPECT_THAT(error.allowed(), ::testing::HasSubstr("file://"));
    }
  }
  EXPECT_THROW(OpenStorage(""), ConfigError);
  EXPECT_THROW(OpenStorage("file://"), ConfigError);
}

}  // namespace
}  // namespace smdebug
