#include "tests/testing/object_store.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/testing/files.h"

// What only this store does; the rest is in tests/conformance.
namespace smdebug::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(ObjectStoreTest, NothingGrowsUnderItsName) {
  ObjectStore store;
  const auto log =
      store.Create("log", {.visibility = Visibility::kWhileWriting});
  AppendText(*log, "one");
  log->Flush();
  EXPECT_THAT(Keys(store), IsEmpty());
  log->Publish();
  EXPECT_THAT(Keys(store), ElementsAre("log"));
  EXPECT_EQ(store.count(Request::kPut), 1u);
}

TEST(ObjectStoreTest, ListsAThousandAtOnce) {
  ObjectStore store;
  for (int i = 0; i < 2001; ++i) store.CreateExclusive(std::to_string(i), {});
  EXPECT_EQ(store.List("").size(), 2001u);
  EXPECT_EQ(store.count(Request::kList), 3u);
  EXPECT_EQ(store.List("", "", 1000).size(), 1000u);
  EXPECT_EQ(store.count(Request::kList), 4u);
}

TEST(ObjectStoreTest, AMoveIsACopyAndARemoval) {
  ObjectStore store;
  PutFile(store, "a", "x");
  store.Move("a", "b");
  EXPECT_THAT(Keys(store), ElementsAre("b"));
  EXPECT_EQ(store.count(Request::kCopy), 1u);
  EXPECT_EQ(store.count(Request::kDelete), 1u);
}

TEST(ObjectStoreTest, CountsEachRangeOfMany) {
  ObjectStore store;
  PutFile(store, "a", "xyz");
  const std::vector<ReadRange> ranges = {{"a", 0, 1}, {"a", 2, 1}, {"b"}};
  EXPECT_EQ(store.ReadMany(ranges).size(), 3u);
  EXPECT_EQ(store.count(Request::kGet), 3u);
}

TEST(ObjectStoreTest, CannotBeWatched) {
  EXPECT_EQ(ObjectStore().Watch({}), nullptr);
}

}  // namespace
}  // namespace smdebug::testing
