#include "src/steps/file_pair_source.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "smdebug/error.h"
#include "src/run/keys.h"
#include "tests/testing/fault_storage.h"
#include "tests/testing/files.h"

namespace smdebug::steps {
namespace {

using smdebug::testing::FaultStorage;
using smdebug::testing::Operation;
using smdebug::testing::PutFile;

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class FilePairSourceTest : public ::testing::Test {
 protected:
  void Publish(int64_t step, const std::string& worker,
               const std::string& content, std::string place = {}) {
    const std::string name = run::EncodeWorker(worker);
    if (place.empty()) place = run::EventFileKey(step, name);
    index::StepIndex index;
    index.event_file = place;
    index.tensors = {{"x", {0, content.size(), std::nullopt}}};
    PutFile(storage_, place, content);
    PutFile(storage_, run::IndexFileKey(step, name), ToJson(index));
  }

  std::vector<std::string> After(std::string_view cursor) const {
    std::vector<std::string> found;
    for (const StepItem& item : source_.List(cursor)) {
      found.push_back(std::to_string(item.step) + " " + item.worker);
    }
    return found;
  }

  static std::string Text(const std::optional<Blob>& blob) {
    return blob ? std::string(blob->text()) : "nothing";
  }

  FaultStorage storage_{OpenMemoryStorage()};
  const FilePairSource source_{&storage_};
};

TEST_F(FilePairSourceTest, ListsWhatComesAfterACursor) {
  Publish(1, "a", "");
  Publish(1, "b", "");
  Publish(2, "a", "");
  Publish(1000, "/job:b", "");
  EXPECT_THAT(After(""), ElementsAre("1 a", "1 b", "2 a", "1000 /job:b"));
  EXPECT_THAT(After(source_.CursorAfter(1, "a")),
              ElementsAre("1 b", "2 a", "1000 /job:b"));
  EXPECT_THAT(After(source_.CursorAfter(1, std::nullopt)),
              ElementsAre("2 a", "1000 /job:b"));
  EXPECT_THAT(After(source_.CursorAfter(1000, "/job:b")), IsEmpty());
}

TEST_F(FilePairSourceTest, WhatCannotBeAStepIsListedOnlyIfItClaimsToBeOne) {
  PutFile(storage_, "index/000000000/readme.json", "{}");
  PutFile(storage_, "index/000000000/readme.txt", "");
  EXPECT_THAT(After(""), ElementsAre("-1 "));
}

TEST_F(FilePairSourceTest, TellsOfAStepAndReadsItsContent) {
  Publish(7, "/job:b", "0123456789");
  const StepItem item = source_.List({}).at(0);
  EXPECT_EQ(source_.Look(item.name), item);
  const auto record = source_.ReadIndex(item);
  ASSERT_TRUE(record);
  EXPECT_THAT(record->index.tensors, SizeIs(1));
  EXPECT_EQ(record->place, "");
  const StepContent content = {7, "/job:b", record->place};
  EXPECT_EQ(Text(source_.Read(content, 3, 4)), "3456");
  EXPECT_EQ(Text(source_.Read(content, 8, 4)), "89");
  EXPECT_EQ(source_.ListContents().at(0).name, source_.NameOf(content));
  EXPECT_EQ(source_.ListContents().at(0).worker, "/job:b");
  EXPECT_EQ(Text(source_.Read({8, "/job:b"}, 0, 4)), "nothing");
}

TEST_F(FilePairSourceTest, ContentMayLieWhereTheIndexSays) {
  Publish(7, "a", "elsewhere", "events/other");
  const auto record = source_.ReadIndex(source_.List({}).at(0));
  EXPECT_EQ(Text(source_.Read({7, "a", record->place}, 0, 99)), "elsewhere");
  EXPECT_EQ(source_.ListContents().at(0).worker, std::nullopt);
}

TEST_F(FilePairSourceTest, ADamagedIndexIsNamed) {
  PutFile(storage_, run::IndexFileKey(3, "a"), "{");
  const StepItem item = source_.List({}).at(0);
  EXPECT_THROW(source_.ReadIndex(item), FormatError);
  storage_.Remove(item.name);
  EXPECT_EQ(source_.ReadIndex(item), std::nullopt);
  EXPECT_EQ(source_.Look(item.name), std::nullopt);
}

TEST_F(FilePairSourceTest, NeighboursAreReadAtOnce) {
  std::string content(300'000, '.');
  content.replace(10, 3, "abc");
  content.replace(13, 3, "def");
  content.replace(200'000, 3, "ghi");
  Publish(1, "a", content);
  Publish(2, "a", "other");
  const std::vector<ContentRange> ranges = {
      {{1, "a"}, 10, 3},      {{1, "a"}, 13, 3}, {{1, "a"}, 10, 3},
      {{1, "a"}, 200'000, 3}, {{2, "a"}, 0, 99}, {{3, "a"}, 0, 3},
      {{1, "a"}, 299'999, 9}};
  const uint64_t before = storage_.plan().count(Operation::kRead);
  std::vector<std::string> texts;
  for (const auto& blob : source_.ReadMany(ranges)) texts.push_back(Text(blob));
  EXPECT_THAT(texts,
              ElementsAre("abc", "def", "abc", "ghi", "other", "nothing", "."));
  EXPECT_EQ(storage_.plan().count(Operation::kRead) - before, 5u);
}

TEST_F(FilePairSourceTest, KnowsWhenTheNewestCame) {
  EXPECT_EQ(NewestStep(source_), 0);
  Publish(1, "a", "x");
  EXPECT_GT(NewestStep(source_), 0);
}

}  // namespace
}  // namespace smdebug::steps
