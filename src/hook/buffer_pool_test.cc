#include "src/hook/buffer_pool.h"

#include <atomic>
#include <future>
#include <memory>
#include <optional>
#include <thread>
#include <utility>

#include <gtest/gtest.h>

namespace smdebug::hook {
namespace {

using std::chrono::milliseconds;

constexpr size_t kMebibyte = size_t{1} << 20;

class BufferPoolTest : public testing::Test {
 protected:
  // Waits for a buffer, as a hook that blocks does.
  std::optional<Buffer> Await(size_t size, milliseconds patience) {
    while (true) {
      const uint64_t seen = pool_.returns();
      if (auto buffer = pool_.TryTake(size)) return buffer;
      if (!pool_.WaitForReturn(seen, patience, progress_)) return std::nullopt;
    }
  }

  BufferPool pool_{4 * kMebibyte};
  std::atomic<uint64_t> progress_{0};
};

TEST_F(BufferPoolTest, GivesTheSizeAskedFor) {
  for (const size_t size : {size_t{1}, size_t{256}, size_t{257}, size_t{4096},
                            size_t{5000}, 3 * kMebibyte}) {
    const auto buffer = pool_.TryTake(size);
    ASSERT_TRUE(buffer) << size;
    EXPECT_EQ(buffer->bytes().size(), size);
  }
}

TEST_F(BufferPoolTest, ReusesMemoryThatCameBack) {
  auto first = pool_.TryTake(kMebibyte);
  const std::byte* data = first->bytes().data();
  first.reset();
  EXPECT_EQ(pool_.TryTake(kMebibyte)->bytes().data(), data);
}

TEST_F(BufferPoolTest, StopsAtTheBudget) {
  auto three = pool_.TryTake(3 * kMebibyte);
  EXPECT_FALSE(pool_.TryTake(2 * kMebibyte));
  EXPECT_TRUE(pool_.TryTake(kMebibyte));
  three.reset();
  EXPECT_TRUE(pool_.TryTake(2 * kMebibyte));
}

TEST_F(BufferPoolTest, IdleMemoryOfOtherSizesMakesRoom) {
  for (size_t i = 1; i <= 8; ++i) pool_.TryTake(i * kMebibyte / 2);
  EXPECT_EQ(pool_.in_use(), 0u);
  EXPECT_TRUE(pool_.TryTake(4 * kMebibyte));
}

TEST_F(BufferPoolTest, ABufferBeyondTheBudgetGoesOutAlone) {
  auto small = pool_.TryTake(1);
  EXPECT_FALSE(pool_.TryTake(8 * kMebibyte));
  small.reset();
  auto big = pool_.TryTake(8 * kMebibyte);
  EXPECT_TRUE(big);
  EXPECT_FALSE(pool_.TryTake(1));
}

TEST_F(BufferPoolTest, BuffersAndReservationsShareTheBudget) {
  Reservation reserved;
  ASSERT_TRUE(
      pool_.TryReserve(BufferPool::kFreeBytes + 3 * kMebibyte, reserved));
  EXPECT_FALSE(pool_.TryTake(2 * kMebibyte));
  auto buffer = pool_.TryTake(kMebibyte);
  EXPECT_TRUE(buffer);
  EXPECT_FALSE(pool_.TryReserve(1, reserved));
  buffer.reset();
  EXPECT_TRUE(pool_.TryReserve(1, reserved));
  reserved = Reservation();
  EXPECT_EQ(pool_.reserved(), 0u);
  EXPECT_TRUE(pool_.TryTake(4 * kMebibyte));
}

TEST_F(BufferPoolTest, AFullPoolStillHasRoomForALittle) {
  const auto buffer = pool_.TryTake(8 * kMebibyte);  // More than the budget.
  Reservation reserved;
  EXPECT_TRUE(pool_.TryReserve(BufferPool::kFreeBytes, reserved));
  EXPECT_FALSE(pool_.TryReserve(1, reserved));
}

TEST_F(BufferPoolTest, AReservationCanBeSplitAndMerged) {
  Reservation whole;
  ASSERT_TRUE(pool_.TryReserve(100, whole));
  {
    Reservation part = whole.Split(30);
    EXPECT_EQ(part.bytes(), 30u);
    EXPECT_EQ(whole.bytes(), 70u);
    EXPECT_EQ(pool_.reserved(), 100u);
    whole.Merge(part.Split(10));
  }
  EXPECT_EQ(whole.bytes(), 80u);
  EXPECT_EQ(pool_.reserved(), 80u);
}

TEST_F(BufferPoolTest, AWaiterGetsTheRoomThatComesBack) {
  auto held = pool_.TryTake(4 * kMebibyte);
  auto waiter = std::async(std::launch::async, [&] {
    return Await(kMebibyte, milliseconds(60'000)).has_value();
  });
  held.reset();
  EXPECT_TRUE(waiter.get());
}

TEST_F(BufferPoolTest, AWaiterGivesUpWhenNothingMoves) {
  const auto held = pool_.TryTake(4 * kMebibyte);
  EXPECT_FALSE(Await(kMebibyte, milliseconds(1)));
}

TEST_F(BufferPoolTest, ManyThreadsNeverExceedTheBudget) {
  std::atomic<bool> exceeded = false;
  std::vector<std::jthread> threads;
  for (size_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (size_t i = 0; i < 200; ++i) {
        const size_t size = 1 + (i * 7919 + t * 104729) % (2 * kMebibyte);
        const auto buffer = Await(size, milliseconds(60'000));
        if (!buffer || pool_.in_use() > 4 * kMebibyte) exceeded = true;
      }
    });
  }
  threads.clear();
  EXPECT_FALSE(exceeded);
  EXPECT_EQ(pool_.in_use(), 0u);
}

TEST_F(BufferPoolTest, RoomForMemoryOfOthersCountsAsBuffersDo) {
  constexpr uint64_t kMiB = uint64_t{1} << 20;
  const auto pool = std::make_shared<BufferPool>(8 * kMiB);
  ASSERT_TRUE(pool->TryLend(5 * kMiB));
  auto lent = std::make_unique<Room>(pool, 5 * kMiB);
  EXPECT_EQ(pool->in_use(), 5 * kMiB);
  EXPECT_FALSE(pool->TryLend(4 * kMiB));
  EXPECT_FALSE(pool->TryTake(4 * kMiB));
  const uint64_t seen = pool->returns();
  lent.reset();
  EXPECT_NE(pool->returns(), seen);
  // More than the budget is lent alone, and leaves room to say so.
  ASSERT_TRUE(pool->TryLend(20 * kMiB));
  lent = std::make_unique<Room>(pool, 20 * kMiB);
  EXPECT_FALSE(pool->TryLend(1));
  Reservation entry;
  EXPECT_TRUE(pool->TryReserve(kMiB / 2, entry));
}

}  // namespace
}  // namespace smdebug::hook
