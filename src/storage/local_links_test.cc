#include <array>
#include <filesystem>
#include <functional>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "smdebug/error.h"
#include "smdebug/storage.h"
#include "src/base/bytes.h"
#include "tests/testing/files.h"
#include "tests/testing/temp_dir.h"

// A run folder may come from anybody: what lies behind a link in it is neither
// read nor written.
namespace smdebug {
namespace {

namespace fs = std::filesystem;
using testing::AppendText;
using ::testing::ElementsAre;
using testing::FilesBelow;
using testing::GetFile;
using ::testing::HasSubstr;
using testing::Keys;
using ::testing::Optional;
using testing::PutFile;
using testing::ReadFile;
using testing::TempDir;
using testing::WriteFile;

constexpr std::array kLinked = {"link", "real/link", "away/secret",
                                "real/away/secret", "away/deep/secret"};
// Those behind a linked folder.
constexpr std::array kBehind = {"away/secret", "real/away/secret",
                                "away/deep/secret", "away/new",
                                "real/away/new/file"};

class LocalLinksTest : public ::testing::Test {
 protected:
  LocalLinksTest() {
    WriteFile(outside_ / "secret", "secret");
    WriteFile(outside_ / "deep/secret", "secret");
    WriteFile(root_ / "real/file", "content");
    fs::create_symlink(outside_ / "secret", root_ / "link");
    fs::create_symlink(outside_ / "secret", root_ / "real/link");
    fs::create_directory_symlink(outside_.path(), root_ / "away");
    fs::create_directory_symlink(outside_.path(), root_ / "real/away");
  }

  ~LocalLinksTest() override {
    EXPECT_THAT(FilesBelow(outside_.path()),
                ElementsAre("deep/secret", "secret"));
    EXPECT_EQ(ReadFile(outside_ / "secret"), "secret");
    EXPECT_EQ(ReadFile(outside_ / "deep/secret"), "secret");
  }

  void ExpectRefused(const std::function<void()>& call, const char* key) {
    try {
      call();
      ADD_FAILURE() << key << " was written";
    } catch (const IoError& error) {
      EXPECT_EQ(error.kind(), IoKind::kDenied) << key;
      EXPECT_THAT(error.what(), HasSubstr("symbolic link")) << key;
    }
  }

  const TempDir outside_;
  const TempDir root_;
  const std::shared_ptr<Storage> storage_ =
      OpenLocalStorage(root_.path().string());
};

TEST_F(LocalLinksTest, NothingIsReadThroughALink) {
  for (const char* key : kLinked) {
    EXPECT_FALSE(storage_->Read(key).has_value()) << key;
    EXPECT_FALSE(storage_->ReadVersioned(key).has_value()) << key;
    EXPECT_FALSE(storage_->Stat(key).has_value()) << key;
  }
  EXPECT_THAT(GetFile(*storage_, "real/file"),
              Optional(std::string("content")));
}

TEST_F(LocalLinksTest, NothingIsListedThroughALink) {
  EXPECT_THAT(Keys(*storage_), ElementsAre("real/file"));
  for (const char* prefix : {"link", "away", "away/", "away/deep/",
                             "real/away/", "real/away/deep/s"}) {
    EXPECT_THAT(Keys(*storage_, prefix), ::testing::IsEmpty()) << prefix;
  }
}

TEST_F(LocalLinksTest, NothingIsWrittenThroughALinkedFolder) {
  for (const char* key : kBehind) {
    ExpectRefused([&] { storage_->Create(key); }, key);
    ExpectRefused(
        [&] {
          storage_->Create(key, {.visibility = Visibility::kWhileWriting});
        },
        key);
    ExpectRefused([&] { storage_->CreateExclusive(key, base::AsBytes("x")); },
                  key);
    EXPECT_FALSE(storage_->ReplaceIfUnchanged(key, "", base::AsBytes("x")));
    ExpectRefused([&] { storage_->Move("real/file", key); }, key);
    EXPECT_THROW(storage_->Move(key, "taken"), IoError) << key;
    storage_->Remove(key);
  }
  EXPECT_THAT(GetFile(*storage_, "real/file"),
              Optional(std::string("content")));
}

// A link to a file is replaced by the file that takes its name.
TEST_F(LocalLinksTest, NothingIsWrittenThroughALinkedFile) {
  EXPECT_THROW(storage_->CreateExclusive("link", base::AsBytes("x")), IoError);
  EXPECT_THROW(storage_->Move("link", "taken"), IoError);
  EXPECT_FALSE(storage_->ReplaceIfUnchanged("link", "", base::AsBytes("x")));
  PutFile(*storage_, "link", "own");
  EXPECT_THAT(GetFile(*storage_, "link"), Optional(std::string("own")));

  const auto log =
      storage_->Create("real/link", {.visibility = Visibility::kWhileWriting});
  AppendText(*log, "own");
  log->Publish();
  EXPECT_THAT(GetFile(*storage_, "real/link"), Optional(std::string("own")));
}

TEST_F(LocalLinksTest, ALinkInThePlaceOfThePendingFileIsReplaced) {
  fs::create_symlink(outside_ / "secret", root_ / "real/new.tmp");
  PutFile(*storage_, "real/new", "own");
  EXPECT_THAT(GetFile(*storage_, "real/new"), Optional(std::string("own")));
}

TEST_F(LocalLinksTest, RemovingALinkKeepsWhatItPointsAt) {
  storage_->Remove("link");
  storage_->Remove("away");
  EXPECT_FALSE(fs::is_symlink(root_ / "link"));
}

TEST_F(LocalLinksTest, AFolderThatBecomesALinkBeforePublishIsNotWritten) {
  const auto file = storage_->Create("events/0/a");
  AppendText(*file, "x");
  fs::rename(root_ / "events/0", root_ / "moved");
  fs::create_directory_symlink(outside_.path(), root_ / "events/0");
  ExpectRefused([&] { file->Publish(); }, "events/0/a");
}

TEST_F(LocalLinksTest, ChangesBehindALinkAreNotWatched) {
  constexpr std::array<std::string_view, 2> kFolders = {"away", "real"};
  const auto watch = storage_->Watch(kFolders);
  if (watch == nullptr) GTEST_SKIP() << "the file system cannot be watched";
  const uint64_t before = watch->Changes();
  WriteFile(outside_ / "new", "x");
  fs::remove(outside_ / "new");
  EXPECT_EQ(watch->Changes(), before);
  PutFile(*storage_, "real/new", "x");
  EXPECT_NE(watch->Changes(), before);
}

TEST_F(LocalLinksTest, HardLinksAreFiles) {
  fs::create_hard_link(root_ / "real/file", root_ / "second");
  EXPECT_THAT(GetFile(*storage_, "second"), Optional(std::string("content")));
  EXPECT_THAT(Keys(*storage_), ElementsAre("real/file", "second"));
}

TEST_F(LocalLinksTest, TheRootAndFoldersAboveItMayBeLinks) {
  fs::create_directory_symlink(root_.path(), outside_ / "alias");
  fs::create_directory_symlink(outside_.path(), outside_ / "above");
  for (const std::string& path :
       {outside_ / "alias", outside_ / "above/alias"}) {
    const auto alias = OpenLocalStorage(path);
    PutFile(*alias, "new/folder/file", "x");
    EXPECT_THAT(GetFile(*alias, "new/folder/file"), Optional(std::string("x")));
    EXPECT_TRUE(alias->CreateExclusive("claim", {}));
    EXPECT_FALSE(alias->Read("away/secret").has_value());
    alias->Move("new/folder/file", "new/file");
    EXPECT_THAT(Keys(*alias), ElementsAre("claim", "new/file", "real/file"));
    alias->Remove("claim");
    alias->Remove("new/file");
  }
  fs::remove(outside_ / "above");
  fs::remove(outside_ / "alias");
}

TEST_F(LocalLinksTest, TheFirstLinkOnTheWayIsFound) {
  fs::create_symlink(outside_ / "absent", root_ / "real/dangling");
  const auto storage = OpenLocalStorage(root_.path().string());
  EXPECT_EQ(storage->FindLink("away"), "away");
  EXPECT_EQ(storage->FindLink("away/a/b"), "away");
  EXPECT_EQ(storage->FindLink("real/away/a"), "real/away");
  EXPECT_EQ(storage->FindLink("real/link"), "real/link");
  EXPECT_EQ(storage->FindLink("real/dangling"), "real/dangling");
  for (const char* key : {"real", "real/file", "real/file/x", "absent/file"}) {
    EXPECT_EQ(storage->FindLink(key), "") << key;
  }
  EXPECT_EQ(OpenMemoryStorage()->FindLink("away"), "");
}

TEST_F(LocalLinksTest, WhereTheRootIsALinkItIsNotOneOnTheWay) {
  const TempDir dir;
  fs::create_directory_symlink(root_.path(), dir / "run");
  const auto storage = OpenLocalStorage(dir / "run");
  EXPECT_EQ(storage->FindLink("real/file"), "");
  EXPECT_EQ(storage->FindLink("real/link"), "real/link");
  // A store that is held tells of the folder that it holds.
  storage->Hold();
  fs::remove(dir / "run");
  EXPECT_EQ(storage->FindLink("real/link"), "real/link");
}

}  // namespace
}  // namespace smdebug
