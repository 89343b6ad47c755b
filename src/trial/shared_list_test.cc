#include "src/trial/shared_list.h"

#include <random>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace smdebug::trial {
namespace {

using ::testing::ElementsAre;

struct Item {
  int64_t key = 0;
  int64_t number = 0;

  friend bool operator==(const Item&, const Item&) = default;
};
using Sorted = SharedSorted<Item, &Item::key>;

std::vector<Item> ItemsOf(const Sorted& list) {
  return {list.begin(), list.end()};
}

TEST(SharedChunkTest, AppendingSharesTheMemoryAndTheOldCopyStays) {
  SharedChunk<int> list;
  for (int i = 0; i < 5; ++i) list.Push(1, i);
  const SharedChunk<int> before = list;
  list.Push(2, 5);
  EXPECT_EQ(list.begin(), before.begin());
  EXPECT_EQ(before.size(), 5u);
  EXPECT_EQ(list.back(), 5);
}

TEST(SharedChunkTest, WhatOthersSeeIsCopiedBeforeItIsChanged) {
  SharedChunk<int> list;
  for (int i = 0; i < 3; ++i) list.Push(1, i);
  const SharedChunk<int> before = list;
  list.Change(2, 1) = 7;
  const int* copy = list.begin();
  list.Change(2, 0) = 8;
  EXPECT_EQ(list.begin(), copy);  // Once is enough.
  EXPECT_THAT(std::vector(list.begin(), list.end()), ElementsAre(8, 7, 2));
  EXPECT_THAT(std::vector(before.begin(), before.end()), ElementsAre(0, 1, 2));
}

TEST(SharedChunkTest, ADraftThatIsNotKeptLeavesNoTrace) {
  SharedChunk<int> kept;
  kept.Push(1, 0);
  {
    SharedChunk<int> draft = kept;
    draft.Push(2, 1);
  }
  SharedChunk<int> next = kept;
  next.Push(2, 9);
  EXPECT_THAT(std::vector(next.begin(), next.end()), ElementsAre(0, 9));
}

TEST(SharedVectorTest, KeepsNumbersWhenTheFirstAreDropped) {
  SharedVector<std::string, 4> list;
  for (int i = 0; i < 18; ++i) list.Push(1, std::to_string(i));
  const auto before = list;
  list.DropBefore(2, 9);
  list.Change(2, 13) = "changed";
  list.Push(2, "18");
  EXPECT_EQ(list.size(), 19u);
  EXPECT_EQ(list[9], "9");
  EXPECT_EQ(list[13], "changed");
  EXPECT_EQ(list[18], "18");
  EXPECT_EQ(before[0], "0");
  EXPECT_EQ(before[13], "13");
  EXPECT_EQ(before.size(), 18u);
}

// Against a vector, in many orders, with copies kept on the way.
TEST(SharedSortedTest, IsAListInOrderWhateverTheOrderOfInsertion) {
  std::mt19937 random(7);
  for (const int64_t spread : {1, 3, 40, 5000}) {
    Sorted list;
    std::vector<Item> model;
    std::vector<std::pair<Sorted, std::vector<Item>>> kept;
    for (int64_t i = 0; i < 2500; ++i) {
      const Epoch epoch = static_cast<Epoch>(1 + i / 7);
      const int64_t late = static_cast<int64_t>(random()) % spread;
      const Item item = {std::max<int64_t>(0, i / 2 - late), i};
      list.Insert(epoch, item);
      model.insert(std::ranges::upper_bound(model, item.key, {}, &Item::key),
                   item);
      // Copies are taken between epochs.
      if (i % 350 == 349) kept.emplace_back(list, model);
    }
    ASSERT_EQ(ItemsOf(list), model);
    ASSERT_EQ(list.size(), model.size());
    for (const auto& [copy, then] : kept) ASSERT_EQ(ItemsOf(copy), then);
    std::pair<uint32_t, uint32_t> near;
    for (int64_t key = -1; key < 1251; ++key) {
      const auto first = std::ranges::lower_bound(model, key, {}, &Item::key);
      const std::vector<Item> items(
          first, std::ranges::upper_bound(model, key, {}, &Item::key));
      const auto found = list.At(key);
      ASSERT_EQ(std::vector<Item>(found.begin(), found.end()), items) << key;
      const auto again = list.At(key, near);
      ASSERT_EQ(std::vector<Item>(again.begin(), again.end()), items) << key;
      const auto from = list.LowerBound(key);
      ASSERT_EQ(std::distance(list.begin(), from), first - model.begin());
    }
  }
}

TEST(SharedSortedTest, ChangesAndFiltersLeaveOlderCopiesAlone) {
  Sorted list;
  for (int64_t i = 0; i < 1000; ++i) list.Insert(1, {i, 0});
  const Sorted before = list;
  list.Change(2, 3).number = 1;
  list.Change(2, 999).number = 1;
  list.Filter(2, [](const Item& item) { return item.number == 1; });
  EXPECT_THAT(ItemsOf(list), ElementsAre(Item{3, 1}, Item{999, 1}));
  EXPECT_EQ(before.size(), 1000u);
  EXPECT_EQ(before.Find(3)->number, 0);
}

}  // namespace
}  // namespace smdebug::trial
