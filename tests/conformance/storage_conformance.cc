#include "tests/conformance/storage_conformance.h"

#include <cerrno>
#include <numeric>
#include <stdexcept>
#include <vector>

#include <gmock/gmock.h>

#include "smdebug/error.h"
#include "src/base/clock.h"
#include "tests/testing/files.h"

// Reading, listing, removal and moves. The promises about files being written
// are in storage_conformance_writing.cc, those about writing under a condition
// in storage_conformance_conditions.cc.
namespace smdebug::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Optional;

std::vector<std::byte> Pattern(size_t size) {
  std::vector<std::byte> bytes(size);
  for (size_t i = 0; i < size; ++i) bytes[i] = std::byte(i * 31 + i / 251);
  return bytes;
}

TEST_P(StorageConformanceTest, StartsEmpty) {
  EXPECT_THAT(Keys(*storage_), IsEmpty());
  EXPECT_EQ(storage_->Read("a"), std::nullopt);
  EXPECT_EQ(storage_->Stat("a/b").has_value(), false);
  EXPECT_FALSE(storage_->root().empty());
}

TEST_P(StorageConformanceTest, StatTellsSizeAndExistence) {
  PutFile(*storage_, "a/five", "12345");
  const auto info = storage_->Stat("a/five");
  ASSERT_TRUE(info.has_value());
  EXPECT_EQ(info->key, "a/five");
  EXPECT_EQ(info->size, 5u);
  EXPECT_FALSE(storage_->Stat("a/six").has_value());
}

TEST_P(StorageConformanceTest, StatAndListTellWhenAFileWasWritten) {
  // Stores may round to seconds, and a kernel's clock ticks behind ours.
  constexpr double kRounding = 2;
  const double before = base::WallSeconds() - kRounding;
  PutFile(*storage_, "a/published", "x");
  ASSERT_TRUE(storage_->CreateExclusive("exclusive", {}));
  PutFile(*storage_, "origin", "x");
  const double written = storage_->Stat("origin")->modified;
  storage_->Move("origin", "moved");
  const double after = base::WallSeconds() + kRounding;

  const std::vector<FileInfo> files = storage_->List("");
  ASSERT_THAT(Keys(*storage_),
              ElementsAre("a/published", "exclusive", "moved"));
  for (const FileInfo& file : files) {
    EXPECT_GE(file.modified, before) << file.key;
    EXPECT_LE(file.modified, after) << file.key;
    EXPECT_EQ(storage_->Stat(file.key)->modified, file.modified) << file.key;
  }
  if (GetParam().renames) {
    EXPECT_EQ(files.back().modified, written);
  }
}

TEST_P(StorageConformanceTest, AFolderIsNoFile) {
  PutFile(*storage_, "a/b/c", "x");
  EXPECT_FALSE(storage_->Read("a/b").has_value());
  EXPECT_FALSE(storage_->Stat("a").has_value());
  storage_->Remove("a/b");
  EXPECT_THROW(storage_->Move("a/b", "d"), IoError);
  EXPECT_THAT(Keys(*storage_), ElementsAre("a/b/c"));
}

TEST_P(StorageConformanceTest, NothingIsBelowAFile) {
  PutFile(*storage_, "a", "x");
  EXPECT_FALSE(storage_->Read("a/b").has_value());
  EXPECT_FALSE(storage_->Stat("a/b").has_value());
  EXPECT_THAT(Keys(*storage_, "a/"), IsEmpty());
  storage_->Remove("a/b");
  EXPECT_THAT(Keys(*storage_), ElementsAre("a"));
}

TEST_P(StorageConformanceTest, ReadsAnyRangeCutAtTheEnd) {
  // Larger than any page and any threshold between ways of reading.
  const std::vector<std::byte> content = Pattern(1'500'001);
  const Bytes whole(content);
  const auto file = storage_->Create("big");
  file->Append({&whole, 1});
  file->Publish();

  const uint64_t size = content.size();
  const std::vector<uint64_t> offsets = {
      0, 1, 4095, 4096, 777'777, size - 1, size, size + 1, 1 << 30, UINT64_MAX};
  const std::vector<uint64_t> lengths = {0,       1,    4097,      300'000,
                                         900'000, size, UINT64_MAX};
  for (const uint64_t offset : offsets) {
    for (const uint64_t length : lengths) {
      const auto blob = storage_->Read("big", offset, length);
      ASSERT_TRUE(blob.has_value());
      const Bytes rest = whole.subspan(std::min(offset, size));
      const Bytes expected = rest.first(std::min(length, rest.size()));
      ASSERT_TRUE(blob->text() == base::AsText(expected))
          << "offset " << offset << " length " << length << " got "
          << blob->bytes.size();
    }
  }
}

TEST_P(StorageConformanceTest, ABlobOutlivesReplacementAndRemoval) {
  for (const size_t size : {size_t{100}, size_t{1} << 20}) {
    PutFile(*storage_, "key", std::string(size, 'a'));
    const auto blob = storage_->Read("key");
    PutFile(*storage_, "key", std::string(size, 'b'));
    storage_->Remove("key");
    ASSERT_TRUE(blob.has_value());
    EXPECT_EQ(blob->text(), std::string(size, 'a'));
  }
}

TEST_P(StorageConformanceTest, ListsInKeyOrderWithSizes) {
  // '-' and '.' sort before '/', digits after it.
  for (const char* key : {"b", "a/1", "a0", "a-z", "a.b/c", "a/1.json", "B"}) {
    PutFile(*storage_, key, key);
  }
  std::vector<FileInfo> files = storage_->List("");
  EXPECT_THAT(Keys(*storage_),
              ElementsAre("B", "a-z", "a.b/c", "a/1", "a/1.json", "a0", "b"));
  for (const FileInfo& file : files) EXPECT_EQ(file.size, file.key.size());
}

TEST_P(StorageConformanceTest, ListsByPrefixWithinAndAcrossNames) {
  for (const char* key : {"events/01/a", "events/02/a", "events2/a", "event",
                          "index/01/a", "index/01/b"}) {
    PutFile(*storage_, key, "x");
  }
  EXPECT_THAT(Keys(*storage_, "events/"),
              ElementsAre("events/01/a", "events/02/a"));
  EXPECT_THAT(Keys(*storage_, "events"),
              ElementsAre("events/01/a", "events/02/a", "events2/a"));
  EXPECT_THAT(Keys(*storage_, "index/01/b"), ElementsAre("index/01/b"));
  EXPECT_THAT(Keys(*storage_, "index/0"),
              ElementsAre("index/01/a", "index/01/b"));
  EXPECT_THAT(Keys(*storage_, "index/01/a/"), IsEmpty());
  for (const char* nothing :
       {"x", "x/y", "/", "../", "./", "events//", "a\n"}) {
    EXPECT_THAT(Keys(*storage_, nothing), IsEmpty()) << nothing;
  }
}

TEST_P(StorageConformanceTest, ListsAfterAnyPlace) {
  const std::vector<std::string> all = {"a-b",   "a/1/x", "a/1/y",
                                        "a/2/x", "a0",    "c/d/e"};
  for (const std::string& key : all) PutFile(*storage_, key, "x");
  const std::vector<std::string> places = {
      "",    "A",    "a",     "a-",     "a-b",   "a-c",  "a/",
      "a/1", "a/1/", "a/1/x", "a/1/xx", "a/1/z", "a/11", "a/2/x",
      "a/3", "a0",   "b",     "c/d/d",  "c/d/e", "d"};
  for (const std::string& prefix : {std::string(), std::string("a/")}) {
    for (const std::string& place : places) {
      std::vector<std::string> expected;
      for (const std::string& key : all) {
        if (key.starts_with(prefix) && key > place) expected.push_back(key);
      }
      EXPECT_EQ(Keys(*storage_, prefix, place), expected)
          << "prefix '" << prefix << "' after '" << place << "'";
    }
  }
}

TEST_P(StorageConformanceTest, ListsAsManyAsAskedFor) {
  std::vector<std::string> all = {"a",      "a-b/c", "a.b", "aa/1/x",
                                  "aa/1/y", "aa/2",  "aa0", "b/c/d"};
  for (const std::string& key : all) PutFile(*storage_, key, key);
  for (size_t limit = 0; limit <= all.size() + 1; ++limit) {
    const std::vector<FileInfo> files = storage_->List("", "", limit);
    ASSERT_EQ(files.size(), std::min(limit, all.size()));
    for (size_t i = 0; i < files.size(); ++i) {
      EXPECT_EQ(files[i].key, all[i]) << "limit " << limit;
      EXPECT_EQ(files[i].size, all[i].size());
    }
  }
  const std::vector<FileInfo> within = storage_->List("aa/", "aa/1/x", 1);
  ASSERT_EQ(within.size(), 1u);
  EXPECT_EQ(within.front().key, "aa/1/y");
}

TEST_P(StorageConformanceTest, ListsPageByPage) {
  std::vector<std::string> all;
  for (int i = 0; i < 2500; ++i) {
    all.push_back("folder" + std::to_string(i % 7) + "/" + std::to_string(i));
    storage_->CreateExclusive(all.back(), {});
  }
  std::ranges::sort(all);
  EXPECT_EQ(Keys(*storage_), all);
  std::vector<std::string> paged;
  while (true) {
    const std::vector<FileInfo> page =
        storage_->List("", paged.empty() ? "" : paged.back(), 300);
    if (page.empty()) break;
    for (const FileInfo& file : page) paged.push_back(file.key);
  }
  EXPECT_EQ(paged, all);
}

TEST_P(StorageConformanceTest, ReadsManyRangesInTheirOrder) {
  PutFile(*storage_, "a/one", "0123456789");
  PutFile(*storage_, "two", std::string(500'000, 'x') + "end");
  const std::vector<ReadRange> ranges = {
      {"two", 500'000, 10}, {"missing"}, {"a/one"},      {"a/one", 3, 4},
      {"a/one", 20, 1},     {"a"},       {"a/one", 0, 0}};
  const std::vector<std::optional<Blob>> blobs = storage_->ReadMany(ranges);
  ASSERT_EQ(blobs.size(), ranges.size());
  std::vector<std::optional<std::string>> texts;
  for (const auto& blob : blobs) {
    texts.push_back(blob ? std::optional(std::string(blob->text()))
                         : std::nullopt);
  }
  EXPECT_THAT(
      texts, ElementsAre(Optional(std::string("end")), std::nullopt,
                         Optional(std::string("0123456789")),
                         Optional(std::string("3456")), Optional(std::string()),
                         std::nullopt, Optional(std::string())));
  EXPECT_THAT(storage_->ReadMany({}), IsEmpty());
  const std::vector<ReadRange> bad = {{"a/one"}, {"../a"}};
  EXPECT_THROW(storage_->ReadMany(bad), std::invalid_argument);
}

TEST_P(StorageConformanceTest, TakesKeysOfAnyCharacter) {
  const std::vector<std::string> keys = {" lead and trail ",
                                         "a b/c d",
                                         "caf\xC3\xA9/\xE6\xB7\xB1",
                                         "new\nline",
                                         "quote\"'",
                                         "-dash/--x",
                                         "...",
                                         "a/.hidden",
                                         "tmp/a.tmp.json",
                                         "a.tmp/b",
                                         "\xFF\xFE",
                                         "%2e%2e/x",
                                         "back\\slash:0"};
  for (const std::string& key : keys) PutFile(*storage_, key, key);
  for (const std::string& key : keys) {
    EXPECT_THAT(GetFile(*storage_, key), Optional(key));
  }
  std::vector<std::string> sorted = keys;
  std::ranges::sort(sorted);
  EXPECT_EQ(Keys(*storage_), sorted);
}

TEST_P(StorageConformanceTest, RefusesKeysThatCouldLeaveTheRoot) {
  PutFile(*storage_, "a", "x");
  using namespace std::string_view_literals;
  for (const std::string_view key :
       {""sv, "/"sv, "/a"sv, "a/"sv, "a//b"sv, "."sv, ".."sv, "../a"sv,
        "a/../b"sv, "a/.."sv, "./a"sv, "a/./b"sv, "a\0b"sv, "a.tmp"sv,
        "b/.tmp"sv}) {
    EXPECT_THROW(storage_->Create(key), std::invalid_argument) << key;
    EXPECT_THROW(storage_->CreateExclusive(key, {}), std::invalid_argument);
    EXPECT_THROW(storage_->ReadVersioned(key), std::invalid_argument) << key;
    EXPECT_THROW(storage_->ReplaceIfUnchanged(key, "", {}),
                 std::invalid_argument);
    EXPECT_THROW(storage_->Read(key), std::invalid_argument) << key;
    EXPECT_THROW(storage_->Stat(key), std::invalid_argument) << key;
    EXPECT_THROW(storage_->Remove(key), std::invalid_argument) << key;
    EXPECT_THROW(storage_->Move(key, "b"), std::invalid_argument) << key;
    EXPECT_THROW(storage_->Move("a", key), std::invalid_argument) << key;
  }
  EXPECT_THAT(Keys(*storage_), ElementsAre("a"));
}

TEST_P(StorageConformanceTest, RemoveIsIdempotent) {
  PutFile(*storage_, "a/b", "x");
  storage_->Remove("a/b");
  storage_->Remove("a/b");
  storage_->Remove("never/there");
  EXPECT_THAT(Keys(*storage_), IsEmpty());
  PutFile(*storage_, "a/b", "again");
  EXPECT_THAT(GetFile(*storage_, "a/b"), Optional(std::string("again")));
}

TEST_P(StorageConformanceTest, MovesIntoNewFoldersAndOverOldFiles) {
  PutFile(*storage_, "a", "first");
  storage_->Move("a", "previous/1/a");
  EXPECT_THAT(Keys(*storage_), ElementsAre("previous/1/a"));
  PutFile(*storage_, "a", "second");
  storage_->Move("a", "previous/1/a");
  EXPECT_THAT(Keys(*storage_), ElementsAre("previous/1/a"));
  EXPECT_THAT(GetFile(*storage_, "previous/1/a"),
              Optional(std::string("second")));
  storage_->Move("previous/1/a", "previous/1/a");
  EXPECT_THAT(GetFile(*storage_, "previous/1/a"),
              Optional(std::string("second")));
}

TEST_P(StorageConformanceTest, MovingWhatIsMissingThrowsAndKeepsTheTarget) {
  PutFile(*storage_, "target", "kept");
  try {
    storage_->Move("missing", "target");
    FAIL() << "moved";
  } catch (const IoError& error) {
    EXPECT_EQ(error.code(), ENOENT);
    EXPECT_NE(error.path().find("missing"), std::string::npos);
  }
  EXPECT_THAT(GetFile(*storage_, "target"), Optional(std::string("kept")));
}

}  // namespace
}  // namespace smdebug::testing
