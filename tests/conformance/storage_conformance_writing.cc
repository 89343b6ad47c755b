#include <atomic>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>

#include "smdebug/error.h"
#include "tests/conformance/storage_conformance.h"
#include "tests/testing/files.h"

namespace smdebug::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Optional;

constexpr CreateOptions kLog = {.visibility = Visibility::kWhileWriting};

TEST_P(StorageConformanceTest, AFileIsInvisibleUntilPublished) {
  const auto file = storage_->Create("a/file");
  AppendText(*file, "content");
  file->Flush();
  EXPECT_FALSE(storage_->Read("a/file").has_value());
  EXPECT_FALSE(storage_->Stat("a/file").has_value());
  EXPECT_THAT(Keys(*storage_), IsEmpty());
  EXPECT_THAT(Keys(*storage_, "a/file"), IsEmpty());

  file->Publish();
  EXPECT_THAT(GetFile(*storage_, "a/file"), Optional(std::string("content")));
  EXPECT_THAT(Keys(*storage_), ElementsAre("a/file"));
}

TEST_P(StorageConformanceTest, ADiscardedFileLeavesTheOldOne) {
  PutFile(*storage_, "key", "old");
  {
    const auto file = storage_->Create("key");
    AppendText(*file, "new");
    file->Flush();
    EXPECT_THAT(GetFile(*storage_, "key"), Optional(std::string("old")));
  }
  EXPECT_THAT(GetFile(*storage_, "key"), Optional(std::string("old")));
  EXPECT_THAT(Keys(*storage_), ElementsAre("key"));
}

TEST_P(StorageConformanceTest, PublishReplacesWhole) {
  PutFile(*storage_, "key", "a long first version");
  PutFile(*storage_, "key", "short");
  EXPECT_THAT(GetFile(*storage_, "key"), Optional(std::string("short")));
  EXPECT_EQ(storage_->Stat("key")->size, 5u);
}

TEST_P(StorageConformanceTest, EmptyFilesExist) {
  storage_->Create("never-appended")->Publish();
  PutFile(*storage_, "appended-nothing", "");
  for (const char* key : {"never-appended", "appended-nothing"}) {
    EXPECT_THAT(GetFile(*storage_, key), Optional(std::string()));
    EXPECT_EQ(storage_->Stat(key)->size, 0u);
  }
  EXPECT_EQ(Keys(*storage_).size(), 2u);
}

TEST_P(StorageConformanceTest, AppendsThousandsOfPartsInOrder) {
  std::vector<std::string> texts;
  std::string expected;
  for (size_t i = 0; i < 5000; ++i) {
    texts.push_back(std::string(i % 7, static_cast<char>('a' + i % 26)));
    expected += texts.back();
  }
  std::vector<Bytes> parts;
  parts.reserve(texts.size());
  for (const std::string& text : texts) parts.push_back(base::AsBytes(text));

  const auto file = storage_->Create("parts");
  file->Append(parts);
  file->Append({});
  file->Append(std::span(parts).first(500));
  file->Publish();
  std::string head;
  for (size_t i = 0; i < 500; ++i) head += texts[i];
  EXPECT_THAT(GetFile(*storage_, "parts"), Optional(expected + head));
}

TEST_P(StorageConformanceTest, AppendsLargeParts) {
  const std::string large(5 << 20, 'x');
  const std::vector<Bytes> parts = {base::AsBytes("head"), base::AsBytes(large),
                                    base::AsBytes("tail")};
  const auto file = storage_->Create("large");
  file->Append(parts);
  file->Publish();
  EXPECT_TRUE(GetFile(*storage_, "large") == "head" + large + "tail");
}

TEST_P(StorageConformanceTest, PowerLossDurabilityChangesNothingVisible) {
  for (const Visibility visibility :
       {Visibility::kOnPublish, Visibility::kWhileWriting}) {
    const auto file = storage_->Create("new/folder/key",
                                       {visibility, Durability::kPowerLoss});
    AppendText(*file, "durable");
    file->Publish();
    EXPECT_THAT(GetFile(*storage_, "new/folder/key"),
                Optional(std::string("durable")));
    EXPECT_EQ(Keys(*storage_).size(), 1u);
  }
}

TEST_P(StorageConformanceTest, ALogIsVisibleAsItIsFlushed) {
  if (!GetParam().grows) GTEST_SKIP() << "files do not grow";
  const auto log = storage_->Create("tb/log", kLog);
  AppendText(*log, "one ");
  log->Flush();
  EXPECT_THAT(GetFile(*storage_, "tb/log"), Optional(std::string("one ")));
  EXPECT_THAT(Keys(*storage_), ElementsAre("tb/log"));
  AppendText(*log, "two");
  log->Flush();
  EXPECT_THAT(GetFile(*storage_, "tb/log"), Optional(std::string("one two")));
  log->Publish();
  EXPECT_THAT(GetFile(*storage_, "tb/log"), Optional(std::string("one two")));
}

TEST_P(StorageConformanceTest, AnAbandonedLogKeepsWhatWasFlushed) {
  if (!GetParam().grows) GTEST_SKIP() << "files do not grow";
  {
    const auto log = storage_->Create("log", kLog);
    AppendText(*log, "kept");
    log->Flush();
  }
  EXPECT_THAT(GetFile(*storage_, "log"), Optional(std::string("kept")));
}

TEST_P(StorageConformanceTest, ANewLogReplacesAnOlderFile) {
  PutFile(*storage_, "log", "a long older version");
  const auto log = storage_->Create("log", kLog);
  AppendText(*log, "new");
  log->Publish();
  EXPECT_THAT(GetFile(*storage_, "log"), Optional(std::string("new")));
}

TEST_P(StorageConformanceTest, UseAfterPublishIsRefused) {
  for (const CreateOptions options : {CreateOptions{}, kLog}) {
    const auto file = storage_->Create("key", options);
    AppendText(*file, "x");
    file->Publish();
    EXPECT_THROW(AppendText(*file, "y"), std::logic_error);
    EXPECT_THROW(file->Flush(), std::logic_error);
    EXPECT_THROW(file->Publish(), std::logic_error);
    EXPECT_THAT(GetFile(*storage_, "key"), Optional(std::string("x")));
  }
}

TEST_P(StorageConformanceTest, APendingFileOutlivesOthersOfOtherKeys) {
  const auto first = storage_->Create("dir/first");
  const auto second = storage_->Create("dir/second");
  AppendText(*first, "1");
  AppendText(*second, "2");
  second->Publish();
  storage_->Remove("dir/second");
  first->Publish();
  EXPECT_THAT(Keys(*storage_), ElementsAre("dir/first"));
}

// Whether a driver lets both publish or refuses one is its own affair.
TEST_P(StorageConformanceTest, TwoPendingFilesOfOneKeyNeverMix) {
  const auto first = storage_->Create("key");
  AppendText(*first, "first,");
  const auto second = storage_->Create("key");
  AppendText(*second, "second,");
  AppendText(*first, "whole");
  AppendText(*second, "whole");
  std::string last;
  const auto publish = [&](PendingFile& file, const char* content) {
    try {
      file.Publish();
      last = content;
    } catch (const IoError&) {
    }
  };
  publish(*first, "first,whole");
  if (!last.empty()) {
    EXPECT_THAT(GetFile(*storage_, "key"), Optional(last));
  }
  publish(*second, "second,whole");
  ASSERT_FALSE(last.empty()) << "neither could publish";
  EXPECT_THAT(GetFile(*storage_, "key"), Optional(last));
  EXPECT_THAT(Keys(*storage_), ElementsAre("key"));
}

TEST_P(StorageConformanceTest, DiscardingOneOfTwoPendingFilesKeepsTheOther) {
  auto first = storage_->Create("key");
  AppendText(*first, "first");
  const auto second = storage_->Create("key");
  AppendText(*second, "second");
  first.reset();
  second->Publish();
  EXPECT_THAT(GetFile(*storage_, "key"), Optional(std::string("second")));
}

TEST_P(StorageConformanceTest, ThreadsWriteDifferentKeysAtOnce) {
  constexpr int kThreads = 8;
  constexpr int kFiles = 25;
  const auto key_of = [](int thread, int file) {
    return "step" + std::to_string(file) + "/worker_" + std::to_string(thread);
  };
  {
    std::vector<std::jthread> threads;
    threads.reserve(kThreads);
    for (int thread = 0; thread < kThreads; ++thread) {
      threads.emplace_back([&, thread] {
        for (int file = 0; file < kFiles; ++file) {
          const std::string key = key_of(thread, file);
          PutFile(*storage_, key, key);
        }
      });
    }
  }
  EXPECT_EQ(Keys(*storage_).size(), size_t{kThreads} * kFiles);
  for (int thread = 0; thread < kThreads; ++thread) {
    for (int file = 0; file < kFiles; ++file) {
      const std::string key = key_of(thread, file);
      EXPECT_THAT(GetFile(*storage_, key), Optional(key));
    }
  }
}

TEST_P(StorageConformanceTest, AReaderSeesOldOrNewNeverBetween) {
  const std::string old_content(300'000, 'a');
  const std::string new_content(400'000, 'b');
  PutFile(*storage_, "key", old_content);
  std::atomic<bool> done{false};
  std::jthread writer([&] {
    for (int i = 0; i < 50; ++i) {
      PutFile(*storage_, "key", i % 2 == 0 ? new_content : old_content);
    }
    done = true;
  });
  do {
    const auto content = GetFile(*storage_, "key");
    ASSERT_TRUE(content == old_content || content == new_content);
  } while (!done);
}

}  // namespace
}  // namespace smdebug::testing
