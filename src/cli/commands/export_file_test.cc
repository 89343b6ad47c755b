#include "src/cli/commands/export_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "smdebug/error.h"
#include "src/base/fd.h"
#include "tests/testing/files.h"
#include "tests/testing/temp_dir.h"

namespace smdebug::cli {
namespace {

using testing::FilesBelow;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::ReadFile;
using testing::TempDir;
using testing::WriteFile;

std::string Refusal(const std::string& path, bool replace = false) {
  try {
    const ExportFile file(path, replace);
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

TEST(ExportFileTest, AppearsWhenItIsWhole) {
  const TempDir dir;
  ExportFile file(dir / "x.npz", false);
  const std::string large(3 << 20, 'l');
  file.Write("small");
  file.Write(large);
  file.Write("end");
  EXPECT_EQ(FilesBelow(dir.path()), std::vector<std::string>{"x.npz.tmp"});
  file.Publish();
  EXPECT_EQ(ReadFile(dir / "x.npz"), "small" + large + "end");
  EXPECT_EQ(file.size(), large.size() + 8);
  EXPECT_EQ(FilesBelow(dir.path()), std::vector<std::string>{"x.npz"});
}

TEST(ExportFileTest, AnUnfinishedFileLeavesNothing) {
  const TempDir dir;
  {
    ExportFile file(dir / "x.csv", false);
    file.Write("half");
  }
  EXPECT_THAT(FilesBelow(dir.path()), IsEmpty());
}

TEST(ExportFileTest, NothingIsReplacedUnasked) {
  const TempDir dir;
  WriteFile(dir / "x.csv", "old");
  EXPECT_THAT(Refusal(dir / "x.csv"), HasSubstr("--force replaces it"));
  ExportFile file(dir / "x.csv", true);
  file.Write("new");
  file.Publish();
  EXPECT_EQ(ReadFile(dir / "x.csv"), "new");
}

TEST(ExportFileTest, ALinkStaysAndItsFileIsReplaced) {
  const TempDir dir;
  WriteFile(dir / "there.csv", "old");
  std::filesystem::create_symlink("there.csv", dir / "x.csv");
  EXPECT_THAT(Refusal(dir / "x.csv"), HasSubstr("--force replaces it"));
  ExportFile file(dir / "x.csv", true);
  file.Write("new");
  file.Publish();
  EXPECT_TRUE(std::filesystem::is_symlink(dir / "x.csv"));
  EXPECT_EQ(ReadFile(dir / "there.csv"), "new");
}

TEST(ExportFileTest, ALinkToNothingIsRefused) {
  const TempDir dir;
  std::filesystem::create_symlink("nowhere", dir / "x.csv");
  for (const bool replace : {false, true}) {
    EXPECT_THAT(Refusal(dir / "x.csv", replace),
                HasSubstr("is a link to nowhere, which is not there"));
  }
  EXPECT_TRUE(std::filesystem::is_symlink(dir / "x.csv"));
}

TEST(ExportFileTest, APipeIsWrittenTo) {
  const TempDir dir;
  ASSERT_EQ(mkfifo((dir / "pipe").c_str(), 0600), 0);
  // A reader that takes all there is, later.
  const base::Fd reader(open((dir / "pipe").c_str(), O_RDONLY | O_NONBLOCK));
  ExportFile file(dir / "pipe", false);
  file.Write("streamed");
  file.Publish();
  std::array<char, 16> read_back{};
  ASSERT_EQ(read(reader.get(), read_back.data(), read_back.size()), 8);
  EXPECT_STREQ(read_back.data(), "streamed");
  EXPECT_TRUE(std::filesystem::is_fifo(dir / "pipe"));
}

TEST(ExportFileTest, ADeviceIsWrittenTo) {
  ExportFile file("/dev/null", true);
  file.Write("gone");
  file.Publish();
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
  EXPECT_THAT(Refusal("/dev/full"), IsEmpty());
  ExportFile full("/dev/full", true);
  full.Write("no room");
  EXPECT_THROW(full.Publish(), IoError);
}

TEST(ExportFileTest, WhatCannotBeAFileIsRefused) {
  const TempDir dir;
  EXPECT_THAT(Refusal(dir.path().string(), true), HasSubstr("is a folder"));
  EXPECT_THAT(Refusal(dir / "x.tmp"), HasSubstr(".tmp"));
  EXPECT_THAT(Refusal(dir / "new/x.csv"), HasSubstr("there is no folder"));
  EXPECT_THAT(FilesBelow(dir.path()), IsEmpty());
}

}  // namespace
}  // namespace smdebug::cli
