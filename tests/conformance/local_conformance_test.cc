#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "src/storage/file_system.h"
#include "src/storage/posix_file.h"
#include "tests/conformance/storage_conformance.h"
#include "tests/testing/files.h"
#include "tests/testing/temp_dir.h"

namespace smdebug::testing {
namespace {

// A storage and the folder it lies in. The root itself does not exist yet.
struct LocalStorageInTempDir {
  TempDir folder;
  std::shared_ptr<Storage> storage = OpenLocalStorage(folder / "new/root");
};

std::shared_ptr<Storage> OpenInTempDir() {
  auto local = std::make_shared<LocalStorageInTempDir>();
  Storage* storage = local->storage.get();
  return {std::move(local), storage};
}

const StorageDriver kLocalDriver = {
    "local", OpenInTempDir,
    storage::InotifySeesAllOf(std::filesystem::temp_directory_path())};

INSTANTIATE_TEST_SUITE_P(Local, StorageConformanceTest,
                         ::testing::Values(kLocalDriver));
INSTANTIATE_TEST_SUITE_P(Local, WatchConformanceTest,
                         ::testing::Values(kLocalDriver));

// Runs `body(i)` in `count` processes that start together. How many of them
// returned true; -1 if one threw.
template <typename Body>
int CountInProcesses(int count, Body body) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return -1;
  base::Fd gate(ends[0]);
  base::Fd bar(ends[1]);
  std::vector<pid_t> children;
  for (int i = 0; i < count; ++i) {
    children.push_back(fork());
    if (children.back() != 0) continue;
    bar.Close();
    char nothing = 0;
    while (read(gate.get(), &nothing, 1) < 0) {
    }
    try {
      _exit(body(i) ? 1 : 0);
    } catch (...) {
      _exit(2);
    }
  }
  bar.Close();
  int sum = 0;
  for (const pid_t child : children) {
    int status = 0;
    waitpid(child, &status, 0);
    const bool answered = WIFEXITED(status) && WEXITSTATUS(status) < 2;
    sum = answered && sum >= 0 ? sum + WEXITSTATUS(status) : -1;
  }
  return sum;
}

TEST(LocalStorageProcessesTest, OneOfManyWinsExclusiveCreation) {
  const TempDir folder;
  for (int round = 0; round < 10; ++round) {
    const std::string key = "claims/" + std::to_string(round);
    // Half of them write, and half of them look whether they ever see less
    // than one of the writers has written.
    const int told = CountInProcesses(8, [&](int i) {
      const auto storage = OpenLocalStorage(folder / "root");
      const std::string content(100'000, static_cast<char>('a' + i));
      if (i % 2 == 0) {
        return storage->CreateExclusive(key, base::AsBytes(content));
      }
      std::optional<std::string> seen;
      while (!seen.has_value()) seen = GetFile(*storage, key);
      return *seen !=
             std::string(content.size(), seen->empty() ? ' ' : (*seen)[0]);
    });
    ASSERT_EQ(told, 1);
  }
  EXPECT_EQ(FilesBelow(folder / "root").size(), 10u);
}

TEST(LocalStorageProcessesTest, NoConditionalReplacementGetsLost) {
  constexpr int kProcesses = 4;
  constexpr int kRounds = 50;
  const TempDir folder;
  const auto storage = OpenLocalStorage(folder / "root");
  ASSERT_TRUE(storage->CreateExclusive("count", base::AsBytes("0")));
  const int told = CountInProcesses(kProcesses, [&](int) {
    const auto own = OpenLocalStorage(folder / "root");
    for (int round = 0; round < kRounds; ++round) AddOne(*own, "count");
    return true;
  });
  EXPECT_EQ(told, kProcesses);
  EXPECT_EQ(GetFile(*storage, "count"), std::to_string(kProcesses * kRounds));
  EXPECT_EQ(FilesBelow(folder / "root"), std::vector<std::string>{"count"});
}

}  // namespace
}  // namespace smdebug::testing
