#include "src/hook/buffer_pool.h"

#include <atomic>
#include <future>
#include <thread>
#include <utility>

#include <gtest/gtest.h>

namespace smdebug::hook {
namespace {

using std::chrono::milliseconds;

constexpr size_t kMiB = size_t{1} << 20;

class BufferPoolTest : public testing::Test {
 protected:
  BufferPool pool_{4 * kMiB};
  std::atomic<uint64_t> progress_{0};
};

TEST_F(BufferPoolTest, GivesTheSizeAskedFor) {
  for (const size_t size : {size_t{1}, size_t{256}, size_t{257}, size_t{4096},
                            size_t{5000}, 3 * kMiB}) {
    const auto buffer = pool_.TryTake(size);
    ASSERT_TRUE(buffer) << size;
    EXPECT_EQ(buffer->bytes().size(), size);
  }
}

TEST_F(BufferPoolTest, ReusesMemoryThatCameBack) {
  auto first = pool_.TryTake(kMiB);
  const std::byte* data = first->bytes().data();
  first.reset();
  EXPECT_EQ(pool_.TryTake(kMiB)->bytes().data(), data);
}

TEST_F(BufferPoolTest, StopsAtTheBudget) {
  auto three = pool_.TryTake(3 * kMiB);
  EXPECT_FALSE(pool_.TryTake(2 * kMiB));
  EXPECT_TRUE(pool_.TryTake(kMiB));
  three.reset();
  EXPECT_TRUE(pool_.TryTake(2 * kMiB));
}

TEST_F(BufferPoolTest, IdleMemoryOfOtherSizesMakesRoom) {
  for (size_t i = 1; i <= 8; ++i) pool_.TryTake(i * kMiB / 2);
  EXPECT_EQ(pool_.in_use(), 0u);
  EXPECT_TRUE(pool_.TryTake(4 * kMiB));
}

TEST_F(BufferPoolTest, ABufferBeyondTheBudgetGoesOutAlone) {
  auto small = pool_.TryTake(1);
  EXPECT_FALSE(pool_.TryTake(8 * kMiB));
  small.reset();
  auto big = pool_.TryTake(8 * kMiB);
  EXPECT_TRUE(big);
  EXPECT_FALSE(pool_.TryTake(1));
}

TEST_F(BufferPoolTest, AWaiterGetsTheRoomThatComesBack) {
  auto held = pool_.TryTake(4 * kMiB);
  auto waiter = std::async(std::launch::async, [&] {
    return pool_.Take(kMiB, milliseconds(60'000), progress_).has_value();
  });
  held.reset();
  EXPECT_TRUE(waiter.get());
}

TEST_F(BufferPoolTest, AWaiterGivesUpWhenNothingMoves) {
  const auto held = pool_.TryTake(4 * kMiB);
  EXPECT_FALSE(pool_.Take(kMiB, milliseconds(1), progress_));
}

TEST_F(BufferPoolTest, ManyThreadsNeverExceedTheBudget) {
  std::atomic<bool> exceeded = false;
  std::vector<std::jthread> threads;
  for (size_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (size_t i = 0; i < 200; ++i) {
        const size_t size = 1 + (i * 7919 + t * 104729) % (2 * kMiB);
        const auto buffer = pool_.Take(size, milliseconds(60'000), progress_);
        if (!buffer || pool_.in_use() > 4 * kMiB) exceeded = true;
      }
    });
  }
  threads.clear();
  EXPECT_FALSE(exceeded);
  EXPECT_EQ(pool_.in_use(), 0u);
}

}  // namespace
}  // namespace smdebug::hook
