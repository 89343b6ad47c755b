// Several threads on one trial: who needs nothing new waits for nobody.

#include <atomic>
#include <cerrno>
#include <chrono>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "smdebug/error.h"
#include "smdebug/trial.h"
#include "src/run/keys.h"
#include "tests/testing/fault_storage.h"
#include "tests/testing/trial_run.h"

namespace smdebug::trial {
namespace {

using testing::FaultStorage;
using testing::Operation;
using testing::TestRun;
using testing::TestTrial;

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class SnapshotTest : public ::testing::Test {
 protected:
  void SetUp() override {
    run_.Declare({"worker_0"});
    for (int64_t step = 0; step < 3; ++step) run_.Save(step);
    trial_ = std::make_unique<Trial>(faulty_, TestTrial::Options());
    ASSERT_THAT(trial_->Steps(), ElementsAre(0, 1, 2));
  }

  const std::shared_ptr<FaultStorage> faulty_ =
      std::make_shared<FaultStorage>(OpenMemoryStorage());
  TestRun run_{&faulty_->inner()};
  std::unique_ptr<Trial> trial_;
};

TEST_F(SnapshotTest, ASlowListingDoesNotHoldUpQueriesOfKnownSteps) {
  faulty_->plan().Block(Operation::kList);
  run_.Save(3);
  auto slow =
      std::async(std::launch::async, [this] { return trial_->Steps(); });
  faulty_->plan().WaitUntilBlocked(Operation::kList);
  const Tensor x = trial_->tensor("x");
  EXPECT_EQ(x.At(1).Get(0), 1);
  EXPECT_EQ(x.ReductionValue(2, {ReductionOp::kMax}), 2);
  EXPECT_THAT(x.Workers(2), ElementsAre("worker_0"));
  EXPECT_TRUE(x.SavedAt(2).value);
  EXPECT_EQ(trial_->HasPassedStep(2), StepState::kAvailable);
  const int64_t known[] = {0, 1, 2};
  EXPECT_TRUE(trial_->WaitForSteps(known));
  EXPECT_EQ(trial_->ModeOf(2), Mode::kGlobal);
  EXPECT_EQ(trial_->last_complete_step(), 2);
  EXPECT_EQ(trial_->num_workers(), 1);
  EXPECT_THAT(trial_->damage(), IsEmpty());
  EXPECT_FALSE(trial_->loaded_all_steps());
  {
    const RefreshScope still(trial_.get(), false);
    EXPECT_THAT(trial_->Steps(), ElementsAre(0, 1, 2));
    EXPECT_THAT(trial_->TensorNames({.step = 1}), ElementsAre("x"));
    EXPECT_THAT(x.Steps(), ElementsAre(0, 1, 2));
  }
  faulty_->plan().Unblock(Operation::kList);
  EXPECT_THAT(slow.get(), ElementsAre(0, 1, 2, 3));
}

TEST_F(SnapshotTest, ASlowReadHoldsUpNobodyWhoDoesNotNeedIt) {
  faulty_->plan().Block(Operation::kRead);
  auto slow = std::async(std::launch::async,
                         [this] { return trial_->tensor("x").At(1).Get(0); });
  faulty_->plan().WaitUntilBlocked(Operation::kRead);
  EXPECT_THAT(trial_->Steps(), ElementsAre(0, 1, 2));
  EXPECT_THAT(trial_->TensorNames(), ElementsAre("x"));
  EXPECT_EQ(trial_->HasPassedStep(7), StepState::kNotYetAvailable);
  faulty_->plan().Unblock(Operation::kRead);
  EXPECT_EQ(slow.get(), 1);
}

TEST_F(SnapshotTest, AQuerySeesWhatWasPublishedBeforeItWhileAnotherLooks) {
  faulty_->plan().Block(Operation::kRead);
  run_.Save(3);
  auto first =
      std::async(std::launch::async, [this] { return trial_->Steps(); });
  faulty_->plan().WaitUntilBlocked(Operation::kRead);
  // The first has listed already.
  run_.Save(4);
  auto second =
      std::async(std::launch::async, [this] { return trial_->Steps(); });
  faulty_->plan().Unblock(Operation::kRead);
  EXPECT_EQ(first.get().at(3), 3);
  EXPECT_THAT(second.get(), ElementsAre(0, 1, 2, 3, 4));
}

TEST_F(SnapshotTest, WhatAFailedLookHasReadIsKept) {
  for (int64_t step = 3; step < 6; ++step) run_.Save(step);
  faulty_->plan().FailNth(Operation::kRead, 3, EIO);
  EXPECT_THROW(trial_->Steps(), IoError);
  {
    const RefreshScope still(trial_.get(), false);
    EXPECT_THAT(trial_->Steps(), ElementsAre(0, 1, 2, 3, 4));
  }
  EXPECT_THAT(trial_->Steps(), ElementsAre(0, 1, 2, 3, 4, 5));
}

TEST_F(SnapshotTest, AMendedIndexIsNotLostWhenItsReadingFails) {
  const std::string key = run::IndexFileKey(3, "worker_0");
  run_.Save(3);
  const std::string whole = testing::GetFile(faulty_->inner(), key).value();
  testing::PutFile(faulty_->inner(), key, "{");
  run_.Save(4);
  EXPECT_THAT(trial_->Steps(), ElementsAre(0, 1, 2, 4));
  testing::PutFile(faulty_->inner(), key, whole);
  faulty_->plan().FailNth(Operation::kRead, 1, EIO);
  EXPECT_THROW(trial_->Steps(), IoError);
  EXPECT_THAT(trial_->Steps(), ElementsAre(0, 1, 2, 3, 4));
}

TEST_F(SnapshotTest, StragglersAreAwaitedByThoseOnlyWhoAskForNews) {
  std::promise<void> waits;
  std::promise<void> go_on;
  std::atomic<bool> told = false;
  TrialOptions options = TestTrial::Options();
  options.end_delay = std::chrono::hours(1);
  options.while_waiting = [&] {
    if (told.exchange(true)) throw IoError("wait", "run", EINTR);
    waits.set_value();
    go_on.get_future().wait();
  };
  Trial trial(faulty_, options);
  ASSERT_THAT(trial.Steps(), ElementsAre(0, 1, 2));
  run_.Mark();
  auto asks = std::async(std::launch::async, [&] { trial.Steps(); });
  waits.get_future().wait();
  EXPECT_EQ(trial.tensor("x").At(1).Get(0), 1);
  EXPECT_EQ(trial.HasPassedStep(2), StepState::kAvailable);
  go_on.set_value();
  EXPECT_THROW(asks.get(), IoError);
}

// Readers hold on to what they found while it is forgotten behind them.
TEST(RecentStepsTest, ForgettingIsSafeWithSeveralThreads) {
  TestTrial made;
  made.run.Declare({"worker_0"});
  made.run.Save(0);
  TrialOptions options = TestTrial::Options();
  options.recent_steps = 2;
  Trial& trial = made.Open(options);
  constexpr int64_t kSteps = 200;
  std::atomic<int64_t> read = 0;
  std::vector<std::jthread> readers;
  for (int i = 0; i < 3; ++i) {
    readers.emplace_back([&] {
      while (trial.last_complete_step() < kSteps - 1) {
        for (const int64_t step : trial.tensor("x").Steps()) {
          try {
            EXPECT_EQ(trial.tensor("x").At(step).Get(0),
                      static_cast<double>(step));
            ++read;
          } catch (const StepUnavailable&) {
            // Forgotten since.
          }
        }
      }
    });
  }
  for (int64_t step = 1; step < kSteps; ++step) made.run.Save(step);
  readers.clear();
  EXPECT_GT(read, 0);
  EXPECT_LE(trial.Steps().size(), 4u);
}

}  // namespace
}  // namespace smdebug::trial
