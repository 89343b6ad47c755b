#include <atomic>
#include <functional>
#include <latch>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>

#include "tests/conformance/storage_conformance.h"
#include "tests/testing/files.h"

// Creation and replacement under a condition.
namespace smdebug::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Optional;

// Runs `body(i)` in `count` threads that start together.
template <typename Body>
void RunTogether(int count, Body body) {
  std::latch start(count);
  std::vector<std::jthread> threads;
  threads.reserve(static_cast<size_t>(count));
  for (int i = 0; i < count; ++i) {
    threads.emplace_back([&, i] {
      start.arrive_and_wait();
      body(i);
    });
  }
}

TEST_P(StorageConformanceTest, ExclusiveCreationKeepsWhatIsThere) {
  EXPECT_TRUE(storage_->CreateExclusive("deep/claim", base::AsBytes("one")));
  EXPECT_FALSE(storage_->CreateExclusive("deep/claim", base::AsBytes("two")));
  EXPECT_THAT(GetFile(*storage_, "deep/claim"), Optional(std::string("one")));
  storage_->Remove("deep/claim");
  EXPECT_TRUE(storage_->CreateExclusive("deep/claim", {}));
  EXPECT_THAT(GetFile(*storage_, "deep/claim"), Optional(std::string()));
  EXPECT_THAT(Keys(*storage_), ElementsAre("deep/claim"));
}

TEST_P(StorageConformanceTest, ExclusiveCreationKeepsWhatWasPublished) {
  PutFile(*storage_, "key", "published");
  EXPECT_FALSE(storage_->CreateExclusive("key", base::AsBytes("claimed")));
  EXPECT_THAT(GetFile(*storage_, "key"), Optional(std::string("published")));
}

TEST_P(StorageConformanceTest, OneOfManyThreadsWinsExclusiveCreation) {
  constexpr int kThreads = 8;
  for (int round = 0; round < 20; ++round) {
    const std::string key = "claims/" + std::to_string(round);
    std::atomic<int> winners{0};
    std::atomic<int> winner{-1};
    RunTogether(kThreads, [&](int i) {
      const std::string name = std::to_string(i);
      if (!storage_->CreateExclusive(key, base::AsBytes(name))) return;
      ++winners;
      winner = i;
    });
    ASSERT_EQ(winners, 1);
    ASSERT_THAT(GetFile(*storage_, key), Optional(std::to_string(winner)));
  }
}

TEST_P(StorageConformanceTest, NobodySeesAnExclusiveFileWithoutItsContent) {
  const std::string content(200'000, 'x');
  for (int round = 0; round < 10; ++round) {
    const std::string key = "claims/" + std::to_string(round);
    std::atomic<int> torn{0};
    RunTogether(6, [&](int i) {
      if (i % 2 == 0) {
        storage_->CreateExclusive(key, base::AsBytes(content));
        return;
      }
      std::optional<std::string> seen;
      while (!seen.has_value()) seen = GetFile(*storage_, key);
      if (*seen != content) ++torn;
      if (storage_->ReadVersioned(key)->text != content) ++torn;
    });
    ASSERT_EQ(torn, 0);
  }
}

TEST_P(StorageConformanceTest, ReadsAFileWithItsVersion) {
  EXPECT_FALSE(storage_->ReadVersioned("a/key").has_value());
  PutFile(*storage_, "a/key", "content");
  const auto first = storage_->ReadVersioned("a/key");
  ASSERT_TRUE(first.has_value());
  EXPECT_EQ(first->text, "content");
  EXPECT_EQ(storage_->ReadVersioned("a/key")->version, first->version);
  EXPECT_FALSE(storage_->ReadVersioned("a").has_value());
  EXPECT_FALSE(storage_->ReadVersioned("a/key/below").has_value());
}

TEST_P(StorageConformanceTest, ReplacesOnceForEachVersion) {
  ASSERT_TRUE(storage_->CreateExclusive("a/key", base::AsBytes("first")));
  const std::string version = storage_->ReadVersioned("a/key")->version;
  EXPECT_TRUE(storage_->ReplaceIfUnchanged("a/key", version,
                                           base::AsBytes("the second")));
  EXPECT_FALSE(
      storage_->ReplaceIfUnchanged("a/key", version, base::AsBytes("third")));
  EXPECT_THAT(GetFile(*storage_, "a/key"), Optional(std::string("the second")));
  EXPECT_TRUE(storage_->ReplaceIfUnchanged(
      "a/key", storage_->ReadVersioned("a/key")->version, {}));
  EXPECT_THAT(GetFile(*storage_, "a/key"), Optional(std::string()));
  EXPECT_THAT(Keys(*storage_), ElementsAre("a/key"));
}

TEST_P(StorageConformanceTest, ReplacesNothingThatIsNotThere) {
  EXPECT_FALSE(storage_->ReplaceIfUnchanged("key", "", base::AsBytes("x")));
  PutFile(*storage_, "key", "old");
  const std::string version = storage_->ReadVersioned("key")->version;
  storage_->Remove("key");
  EXPECT_FALSE(
      storage_->ReplaceIfUnchanged("key", version, base::AsBytes("x")));
  EXPECT_THAT(Keys(*storage_), IsEmpty());
}

TEST_P(StorageConformanceTest, ReplacesNothingThatWasPublishedSince) {
  PutFile(*storage_, "key", "old");
  const std::string version = storage_->ReadVersioned("key")->version;
  PutFile(*storage_, "key", "new");
  EXPECT_FALSE(
      storage_->ReplaceIfUnchanged("key", version, base::AsBytes("x")));
  EXPECT_THAT(GetFile(*storage_, "key"), Optional(std::string("new")));
}

// However fast it is written again, and though nothing else differs.
TEST_P(StorageConformanceTest, EqualContentWrittenAgainIsAnotherVersion) {
  const std::vector<std::function<void()>> rewritings = {
      [&] { PutFile(*storage_, "key", "same"); },
      [&] {
        storage_->Remove("key");
        PutFile(*storage_, "key", "same");
      },
      [&] {
        storage_->Remove("key");
        storage_->CreateExclusive("key", base::AsBytes("same"));
      },
      [&] {
        storage_->ReplaceIfUnchanged("key",
                                     storage_->ReadVersioned("key")->version,
                                     base::AsBytes("same"));
      }};
  PutFile(*storage_, "key", "same");
  std::set<std::string> versions = {storage_->ReadVersioned("key")->version};
  for (int round = 0; round < 50; ++round) {
    for (const auto& rewrite : rewritings) {
      rewrite();
      const auto read = storage_->ReadVersioned("key");
      ASSERT_EQ(read->text, "same");
      ASSERT_TRUE(versions.insert(read->version).second)
          << read->version << " came twice, in round " << round;
    }
  }
}

TEST_P(StorageConformanceTest, OneOfManyThreadsReplacesAVersion) {
  PutFile(*storage_, "key", "start");
  for (int round = 0; round < 20; ++round) {
    const std::string version = storage_->ReadVersioned("key")->version;
    std::atomic<int> winners{0};
    std::atomic<int> winner{-1};
    RunTogether(8, [&](int i) {
      const std::string name = std::to_string(i);
      if (!storage_->ReplaceIfUnchanged("key", version, base::AsBytes(name))) {
        return;
      }
      ++winners;
      winner = i;
    });
    ASSERT_EQ(winners, 1);
    ASSERT_THAT(GetFile(*storage_, "key"), Optional(std::to_string(winner)));
  }
}

TEST_P(StorageConformanceTest, NoConditionalReplacementGetsLost) {
  constexpr int kThreads = 4;
  constexpr int kRounds = 25;
  ASSERT_TRUE(storage_->CreateExclusive("count", base::AsBytes("0")));
  RunTogether(kThreads, [&](int) {
    for (int round = 0; round < kRounds; ++round) AddOne(*storage_, "count");
  });
  EXPECT_THAT(GetFile(*storage_, "count"),
              Optional(std::to_string(kThreads * kRounds)));
  EXPECT_THAT(Keys(*storage_), ElementsAre("count"));
}

}  // namespace

void AddOne(Storage& storage, std::string_view key) {
  while (true) {
    const VersionedText read = storage.ReadVersioned(key).value();
    const std::string next = std::to_string(std::stoi(read.text) + 1);
    if (storage.ReplaceIfUnchanged(key, read.version, base::AsBytes(next))) {
      return;
    }
  }
}

}  // namespace smdebug::testing
