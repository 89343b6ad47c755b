#include "src/hook/batch_queue.h"

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

// Whatever the taker is at: working, napping, or waiting to be woken.
TEST(BatchQueueTest, NoBatchIsMissedByANappingTaker) {
  BatchQueue queue;
  std::vector<int64_t> taken;
  std::thread taker([&] { taken = TakeAll(queue); });
  std::vector<int64_t> steps;
  for (int64_t step = 0; step < 200; ++step) {
    steps.push_back(step);
    queue.Add(OfStep(step, /*bytes=*/step % 50 == 0 ? 1 << 20 : 8));
    if (step % 40 == 0) std::this_thread::sleep_for(BatchQueue::kNap * 3 / 2);
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

TEST(BatchQueueTest, TheEndIsHeardDuringANap) {
  BatchQueue queue;
  queue.Add(OfStep(1));
  std::thread taker([&] { EXPECT_THAT(TakeAll(queue), ElementsAre(1)); });
  queue.End();
  taker.join();
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
