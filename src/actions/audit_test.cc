#include "src/actions/audit.h"

#include <sys/wait.h>
#include <unistd.h>

#include <map>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/run/keys.h"
#include "tests/testing/files.h"
#include "tests/testing/temp_dir.h"

namespace smdebug::actions {
namespace {

using ::testing::ElementsAre;
using testing::GetFile;
using testing::Keys;
using ::testing::Optional;
using testing::TempDir;

// All lines of the trail, in the order of its parts, which is that of their
// numbers.
std::vector<std::string> Lines(const Storage& run) {
  std::string text = GetFile(run, run::kAuditKey).value_or("");
  for (const std::string& key : Keys(run, run::kLaterAuditPrefix)) {
    text += GetFile(run, key).value();
  }
  std::istringstream in(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

TEST(AuditTest, LinesFollowEachOther) {
  const auto run = OpenMemoryStorage();
  AddToAudit(*run, "one\n");
  AddToAudit(*run, "two\n");
  EXPECT_THAT(GetFile(*run, run::kAuditKey),
              Optional(std::string("one\ntwo\n")));
}

TEST(AuditTest, AFullPartIsFollowedByAnother) {
  const auto run = OpenMemoryStorage();
  const std::string line(kFullPartBytes / 2, 'x');
  // Of the form of a part but for its number.
  testing::PutFile(*run, "rules/actions-7.jsonl", "a file of someone else\n");
  for (const char end : {'1', '2', '3', '4', '5'}) {
    AddToAudit(*run, line + end + "\n");
  }
  run->Remove("rules/actions-7.jsonl");
  EXPECT_THAT(Keys(*run),
              ElementsAre("rules/actions-000002.jsonl",
                          "rules/actions-000003.jsonl", "rules/actions.jsonl"));
  EXPECT_THAT(Lines(*run), ElementsAre(line + '1', line + '2', line + '3',
                                       line + '4', line + '5'));
}

// Those of several processes and threads, over the end of a part.
TEST(AuditTest, NoLineGetsLostOrMixed) {
  constexpr int kProcesses = 3;
  constexpr int kThreads = 2;
  constexpr int kLines = 40;
  const TempDir dir;
  const std::string path = dir.path().string();
  const auto add = [&path](int process) {
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < kThreads; ++thread) {
      threads.emplace_back([&, thread] {
        const auto run = OpenLocalStorage(path);
        const std::string writer(2000,
                                 static_cast<char>('a' + process * 2 + thread));
        for (int i = 0; i < kLines; ++i) {
          AddToAudit(*run, writer + std::to_string(i) + "\n");
        }
      });
    }
  };
  std::vector<pid_t> children;
  for (int process = 0; process < kProcesses; ++process) {
    children.push_back(fork());
    if (children.back() != 0) continue;
    add(process);
    _exit(0);
  }
  for (const pid_t child : children) {
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  const auto run = OpenLocalStorage(path);
  EXPECT_GE(Keys(*run).size(), 2u);
  std::map<char, int> counts;
  for (const std::string& line : Lines(*run)) {
    // Each writer's lines are whole and in its order.
    ASSERT_EQ(line,
              std::string(2000, line[0]) + std::to_string(counts[line[0]]++));
  }
  EXPECT_EQ(counts.size(), size_t{kProcesses} * kThreads);
  for (const auto& [writer, count] : counts) EXPECT_EQ(count, kLines);
}

}  // namespace
}  // namespace smdebug::actions
