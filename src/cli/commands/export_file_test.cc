#include "src/cli/commands/export_file.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "smdebug/error.h"
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

TEST(ExportFileTest, WhatCannotBeAFileIsRefused) {
  const TempDir dir;
  EXPECT_THAT(Refusal(dir.path().string(), true), HasSubstr("is a folder"));
  EXPECT_THAT(Refusal(dir / "x.tmp"), HasSubstr(".tmp"));
  EXPECT_THAT(Refusal(dir / "new/x.csv"), HasSubstr("there is no folder"));
  EXPECT_THAT(FilesBelow(dir.path()), IsEmpty());
}

}  // namespace
}  // namespace smdebug::cli
