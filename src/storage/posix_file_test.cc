#include "src/storage/posix_file.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "smdebug/error.h"
#include "src/base/bytes.h"
#include "tests/testing/files.h"
#include "tests/testing/temp_dir.h"

namespace smdebug::storage {
namespace {

using testing::AppendText;
using testing::ReadFile;
using testing::TempDir;

// Runs `body` in a child process whose files may hold `bytes`; returns what it
// returned.
template <typename Body>
int RunWithFileLimit(rlim_t bytes, Body body) {
  const pid_t child = fork();
  if (child == 0) {
    signal(SIGXFSZ, SIG_IGN);
    const rlimit limit = {bytes, bytes};
    setrlimit(RLIMIT_FSIZE, &limit);
    _exit(body());
  }
  int status = 0;
  if (waitpid(child, &status, 0) != child || !WIFEXITED(status)) return -1;
  return WEXITSTATUS(status);
}

TEST(WriteAllTest, ContinuesAfterPartialWritesAndSignals) {
  struct sigaction interrupting {};
  struct sigaction before {};
  interrupting.sa_handler = [](int) {};  // Without SA_RESTART: EINTR.
  ASSERT_EQ(sigaction(SIGUSR1, &interrupting, &before), 0);

  std::vector<std::string> texts;
  std::string expected;
  for (size_t i = 0; i < 3000; ++i) {
    texts.push_back(std::string(i % 301, static_cast<char>('a' + i % 26)));
    expected += texts.back();
  }
  std::vector<Bytes> parts;
  parts.reserve(texts.size());
  for (const std::string& text : texts) parts.push_back(base::AsBytes(text));

  // A small pipe takes a large write in pieces, as its reader makes room.
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe2(ends.data(), O_CLOEXEC), 0);
  const base::Fd reader(ends[0]);
  base::Fd writer(ends[1]);
  fcntl(writer.get(), F_SETPIPE_SZ, 4096);
  std::string received;
  const pthread_t writing = pthread_self();
  std::jthread draining([&] {
    std::array<char, 1777> buffer{};
    ssize_t got = 0;
    while ((got = read(reader.get(), buffer.data(), buffer.size())) > 0) {
      received.append(buffer.data(), static_cast<size_t>(got));
      pthread_kill(writing, SIGUSR1);
    }
  });
  EXPECT_EQ(WriteAll(writer.get(), parts), 0);
  writer.Close();
  draining.join();
  EXPECT_EQ(received, expected);
  sigaction(SIGUSR1, &before, nullptr);
}

TEST(WriteAllTest, ReportsWhereAPartialWriteEnds) {
  const TempDir dir;
  const std::string path = dir / "file";
  const std::string text(100, 'x');
  const int code = RunWithFileLimit(150, [&] {
    const base::Fd file = OpenFresh(AT_FDCWD, path);
    const std::vector<Bytes> parts = {base::AsBytes(text), base::AsBytes(text)};
    return WriteAll(file.get(), parts);
  });
  EXPECT_EQ(code, EFBIG);
  EXPECT_EQ(ReadFile(path), std::string(150, 'x'));
}

TEST(WriteAllTest, ReportsAFullDisk) {
  const base::Fd full(open("/dev/full", O_WRONLY | O_CLOEXEC));
  ASSERT_TRUE(full.valid());
  const Bytes part = base::AsBytes("x");
  EXPECT_EQ(WriteAll(full.get(), {&part, 1}), ENOSPC);
  EXPECT_EQ(WriteAll(full.get(), {}), 0);
}

TEST(LocalFileTest, AFileThatFailedToGrowIsNeverPublished) {
  const TempDir dir;
  const auto storage = OpenLocalStorage(dir.path().string());
  testing::PutFile(*storage, "key", "old");
  const std::string text(100, 'x');
  const int outcome = RunWithFileLimit(150, [&] {
    const auto file = storage->Create("key");
    const auto code_of = [](auto call) {
      try {
        call();
      } catch (const IoError& error) {
        return error.code();
      }
      return 0;
    };
    AppendText(*file, text);
    if (code_of([&] { AppendText(*file, text); }) != EFBIG) return 1;
    if (code_of([&] { AppendText(*file, "y"); }) != EFBIG) return 2;
    if (code_of([&] { file->Flush(); }) != EFBIG) return 3;
    if (code_of([&] { file->Publish(); }) != EFBIG) return 4;
    return 0;
  });
  EXPECT_EQ(outcome, 0);
  EXPECT_EQ(testing::FilesBelow(dir.path()), std::vector<std::string>{"key"});
  EXPECT_EQ(ReadFile(dir / "key"), "old");
}

TEST(LocalFileTest, ExclusiveCreationThatFailsLeavesNothing) {
  const TempDir dir;
  const auto storage = OpenLocalStorage(dir.path().string());
  const std::string text(100, 'x');
  const int code = RunWithFileLimit(50, [&] {
    try {
      storage->CreateExclusive("claim", base::AsBytes(text));
    } catch (const IoError& error) {
      return error.code();
    }
    return 0;
  });
  EXPECT_EQ(code, EFBIG);
  EXPECT_TRUE(testing::FilesBelow(dir.path()).empty());
}

TEST(OpenFreshTest, LeavesTheOldFileToThoseWhoHoldIt) {
  const TempDir dir;
  testing::WriteFile(dir / "file", "old");
  const base::Fd old(open((dir / "file").c_str(), O_RDONLY | O_CLOEXEC));
  const base::Fd fresh = OpenFresh(AT_FDCWD, dir / "file");
  EXPECT_EQ(ReadFile(dir / "file"), "");
  std::array<char, 8> buffer{};
  EXPECT_EQ(pread(old.get(), buffer.data(), buffer.size(), 0), 3);
}

TEST(ParentOfTest, IsTheFolderPart) {
  const std::vector<std::pair<std::string, std::string>> rows = {
      {"/a/b", "/a"}, {"/a//b", "/a"}, {"/a", "/"},
      {"/", "/"},     {"a", "."},      {"a/b/c", "a/b"}};
  for (const auto& [path, parent] : rows) EXPECT_EQ(ParentOf(path), parent);
}

}  // namespace
}  // namespace smdebug::storage
