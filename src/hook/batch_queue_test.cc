#include "src/hook/batch_queue.h"

#include <atomic>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace smdebug::hook {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;

constexpr std::chrono::seconds kLong{60};

Batch OfStep(int64_t step, uint64_t bytes = 0) {
  Batch batch;
  batch.stamp.step = step;
  batch.bytes = bytes;
  batch.last_of_step = true;
  return batch;
}

// The steps of all batches, until the queue ends.
std::vector<int64_t> TakeAll(BatchQueue& queue) {
  std::vector<int64_t> steps;
  while (!queue.HasEnded()) {
    const std::optional<Batch> batch = queue.Take(kLong);
    if (batch) steps.push_back(batch->stamp.step);
  }
  return steps;
}

TEST(BatchQueueTest, GivesWhatWasAddedInOrder) {
  BatchQueue queue;
  for (int64_t step = 0; step < 3; ++step) queue.Add(OfStep(step));
  queue.End();
  EXPECT_FALSE(queue.HasEnded());
  EXPECT_THAT(TakeAll(queue), ElementsAre(0, 1, 2));
  EXPECT_TRUE(queue.HasEnded());
}

TEST(BatchQueueTest, NothingComesWithinTheTime) {
  BatchQueue queue;
  EXPECT_FALSE(queue.Take(std::chrono::seconds(0)));
  EXPECT_FALSE(queue.HasEnded());
}

TEST(BatchQueueTest, NoBatchIsMissedByATakerAtWork) {
  BatchQueue queue;
  std::vector<int64_t> taken;
  std::thread taker([&] { taken = TakeAll(queue); });
  std::vector<int64_t> steps;
  for (int64_t step = 0; step < 200; ++step) {
    steps.push_back(step);
    queue.Add(OfStep(step, /*bytes=*/step % 50 == 0 ? 1 << 20 : 8));
    if (step % 60 == 0) queue.Wake();
  }
  queue.End();
  taker.join();
  EXPECT_THAT(taken, ElementsAreArray(steps));
}

TEST(BatchQueueTest, AWokenTakerLooksAround) {
  BatchQueue queue;
  std::thread waker([&] { queue.Wake(); });
  EXPECT_FALSE(queue.Take(kLong));
  waker.join();
  EXPECT_FALSE(queue.HasEnded());
}

// Each is added when the one before was taken, so during the nap after it. What
// wakes the taker is that the batch is large, a hurry, or the end of the nap.
TEST(BatchQueueTest, NoBatchIsMissedByANappingTaker) {
  BatchQueue queue;
  std::atomic<int64_t> taken = 0;
  std::thread taker([&] {
    while (queue.Take(kLong)) ++taken;
  });
  constexpr int64_t kSteps = 15;
  for (int64_t step = 0; step < kSteps; ++step) {
    queue.Add(OfStep(step, /*bytes=*/step % 3 == 0 ? 1 << 20 : 8));
    if (step % 3 == 1) queue.Wake();
    while (taken <= step) std::this_thread::yield();
  }
  queue.End();
  taker.join();
  EXPECT_EQ(taken, kSteps);
}

// A take that gave nothing has the nap behind it.
TEST(BatchQueueTest, NoBatchIsMissedByATakerThatWaitsToBeWoken) {
  BatchQueue queue;
  std::vector<int64_t> taken;
  std::atomic<int64_t> rests = 0;
  std::thread taker([&] {
    while (!queue.HasEnded()) {
      std::optional<Batch> batch = queue.Take(std::chrono::seconds(0));
      if (!batch) {
        ++rests;
        batch = queue.Take(kLong);
      }
      if (batch) taken.push_back(batch->stamp.step);
    }
  });
  for (int64_t step = 0; step < 5; ++step) {
    while (rests <= step) std::this_thread::yield();
    queue.Add(OfStep(step));
  }
  while (rests <= 5) std::this_thread::yield();
  queue.End();
  taker.join();
  EXPECT_THAT(taken, ElementsAre(0, 1, 2, 3, 4));
}

TEST(BatchQueueTest, TheEndIsHeardDuringANap) {
  BatchQueue queue;
  queue.Add(OfStep(1));
  std::thread taker([&] { EXPECT_THAT(TakeAll(queue), ElementsAre(1)); });
  queue.End();
  taker.join();
}

TEST(BatchQueueTest, ARequestThatNothingCameAfterIsReplaced) {
  BatchQueue queue;
  queue.AddFlush({.step = 0}, 1);
  queue.Add(OfStep(1));
  for (uint64_t flush = 2; flush < 100; ++flush) {
    queue.AddFlush({.step = 1}, flush);
  }
  queue.Add(OfStep(2));
  queue.End();
  std::vector<uint64_t> flushes;
  while (const auto batch = queue.Take(kLong)) flushes.push_back(batch->flush);
  EXPECT_THAT(flushes, ElementsAre(1, 0, 99, 0));
}

TEST(BatchQueueTest, CountsAndForgetsWhatWaits) {
  BatchQueue queue;
  Batch batch = OfStep(0);
  batch.tensors.resize(3);
  batch.scalars.resize(2);
  queue.Add(std::move(batch));
  queue.Add(OfStep(1));
  EXPECT_EQ(queue.CountWaiting(), 5);
  queue.Clear();
  EXPECT_EQ(queue.CountWaiting(), 0);
}

TEST(BatchQueueTest, GivesUsedMemoryBack) {
  BatchQueue queue;
  std::vector<CapturedTensor> used(7);
  const CapturedTensor* memory = used.data();
  queue.Recycle(std::move(used));
  const std::vector<CapturedTensor> spare = queue.Add(OfStep(0));
  EXPECT_TRUE(spare.empty());
  EXPECT_EQ(spare.data(), memory);
}

}  // namespace
}  // namespace smdebug::hook
