#include <cerrno>
#include <chrono>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "smdebug/hook.h"
#include "tests/testing/fault_storage.h"
#include "tests/testing/hook.h"
#include "tests/testing/run.h"

// Waiting for what was saved to be there.
namespace smdebug {
namespace {

using std::chrono::milliseconds;
using ::testing::ElementsAre;
using testing::FaultStorage;
using testing::Operation;
using testing::ReadIndex;
using testing::SaveEverything;
using testing::SaveFloats;
using testing::Steps;

class HookFlushTest : public ::testing::Test {
 protected:
  std::unique_ptr<Hook> Open(HookConfig config = SaveEverything(),
                             RuntimeOptions runtime = {}) {
    return std::make_unique<Hook>(std::move(config), Worker{}, runtime, shared_,
                                  nullptr);
  }

  static void SaveStep(Hook& hook) {
    hook.BeginStep();
    SaveFloats(hook, "x", {1});
  }

  const std::shared_ptr<FaultStorage> shared_ =
      std::make_shared<FaultStorage>(OpenMemoryStorage());
  FaultStorage& faulty_ = *shared_;
};

TEST_F(HookFlushTest, WhatHasEndedIsThere) {
  auto hook = Open();
  for (int64_t i = 0; i < 100; ++i) {
    SaveStep(*hook);
    hook->EndStep();
    ASSERT_TRUE(hook->Flush());
    ASSERT_EQ(hook->stats().steps_saved, i + 1);
    ASSERT_EQ(Steps(faulty_.inner()).back(), i);
  }
}

TEST_F(HookFlushTest, AStepThatIsOpenIsNotEnded) {
  auto hook = Open();
  SaveStep(*hook);
  SaveStep(*hook);
  EXPECT_TRUE(hook->Flush());
  EXPECT_THAT(Steps(faulty_.inner()), ElementsAre(0));
  SaveFloats(*hook, "y", {1});
  hook->Close();
  EXPECT_EQ(ReadIndex(faulty_.inner(), 1)->tensors.size(), 2);
}

TEST_F(HookFlushTest, ScalarsOfStepsWithoutFilesGetOne) {
  HookConfig config = SaveEverything();
  config.save_config = SaveConfig::Every({.save_interval = 100});
  auto hook = Open(config);
  for (int i = 0; i < 5; ++i) {
    SaveStep(*hook);
    hook->SaveScalar("loss", i);
  }
  EXPECT_TRUE(hook->Flush());  // Step 4 is open.
  EXPECT_THAT(Steps(faulty_.inner()), ElementsAre(0, 3));
  EXPECT_EQ(hook->stats().scalars_saved, 4);
  hook->EndStep();
  EXPECT_TRUE(hook->Flush());
  EXPECT_THAT(Steps(faulty_.inner()), ElementsAre(0, 3, 4));
  EXPECT_TRUE(hook->Flush());
  hook->Close();
  EXPECT_THAT(Steps(faulty_.inner()), ElementsAre(0, 3, 4));
  EXPECT_EQ(hook->stats().scalars_saved, 5);
}

TEST_F(HookFlushTest, AScalarThatCameTooLateForItsStepWaitsForTheNext) {
  auto hook = Open();
  SaveStep(*hook);
  hook->EndStep();
  EXPECT_TRUE(hook->Flush());
  hook->SaveScalar("late", 1);
  EXPECT_FALSE(hook->Flush());
  EXPECT_EQ(hook->stats().scalars_saved, 0);
  SaveStep(*hook);
  hook->EndStep();
  EXPECT_TRUE(hook->Flush());
  EXPECT_EQ(hook->stats().scalars_saved, 1);
}

TEST_F(HookFlushTest, BeforeTheFirstStepThereIsNothingButWhatWaitsForIt) {
  auto hook = Open();
  EXPECT_TRUE(hook->Flush());
  hook->SaveScalar("early", 1);
  EXPECT_FALSE(hook->Flush());
}

TEST_F(HookFlushTest, AHookThatWritesNothingHasNothingToWaitFor) {
  HookConfig config = SaveEverything();
  config.dry_run = true;
  auto hook = Open(config);
  SaveStep(*hook);
  EXPECT_TRUE(hook->Flush());
}

TEST_F(HookFlushTest, AfterTheEndItSaysWhetherAllIsThere) {
  auto hook = Open();
  SaveStep(*hook);
  hook->Close();
  EXPECT_TRUE(hook->Flush());
}

TEST_F(HookFlushTest, TimeRunsOut) {
  auto hook = Open();
  faulty_.plan().Block(Operation::kCreate);
  SaveStep(*hook);
  hook->EndStep();
  EXPECT_FALSE(hook->Flush(milliseconds(0)));
  EXPECT_FALSE(hook->Flush(milliseconds(5)));
  faulty_.plan().Unblock(Operation::kCreate);
  EXPECT_TRUE(hook->Flush());
}

TEST_F(HookFlushTest, AStuckWriterIsNotWaitedFor) {
  // Its thread stays behind with the store, and keeps it alive. It stays
  // blocked: it must not run while the program ends.
  auto hook = Open(SaveEverything(), {.stuck_after = milliseconds(20)});
  faulty_.plan().Block(Operation::kCreate);
  SaveStep(*hook);
  hook->EndStep();
  EXPECT_FALSE(hook->Flush());
}

TEST_F(HookFlushTest, WhatIsLostIsNotThere) {
  auto hook = Open();
  SaveStep(*hook);
  hook->EndStep();
  EXPECT_TRUE(hook->Flush());
  faulty_.plan().FailAll(Operation::kCreate, ENOSPC);
  SaveStep(*hook);
  hook->EndStep();
  EXPECT_FALSE(hook->Flush());
  EXPECT_EQ(hook->stats().lost, 1);
}

TEST_F(HookFlushTest, AScalarOfAStepThatIsOverIsSeenWithTheOpenOne) {
  auto hook = Open();
  SaveStep(*hook);
  SaveStep(*hook);
  hook->SaveScalar("late", 1, {.step = 0});
  EXPECT_FALSE(hook->Flush());  // Step 0 is written, step 1 is open.
  hook->EndStep();
  EXPECT_TRUE(hook->Flush());
  EXPECT_EQ(hook->stats().scalars_saved, 1);
}

TEST_F(HookFlushTest, AHookThatWasClosedWhileStuckIsNotWaitedFor) {
  auto hook = Open(SaveEverything(), {.stuck_after = milliseconds(20)});
  faulty_.plan().Block(Operation::kCreate);
  SaveStep(*hook);
  hook->Close();
  EXPECT_FALSE(hook->Flush());
}

TEST_F(HookFlushTest, AnyTimeoutWillDo) {
  auto hook = Open();
  SaveStep(*hook);
  hook->EndStep();
  EXPECT_TRUE(hook->Flush(milliseconds::max()));
  SaveStep(*hook);
  hook->EndStep();
  // Comes back; the writer may have been faster.
  static_cast<void>(hook->Flush(milliseconds::min()));
}

TEST_F(HookFlushTest, EachOfSeveralThreadsWaitsForWhatItHasSaved) {
  constexpr int kSteps = 200;
  auto hook = Open(SaveEverything(), {.scalar_limit = 1 << 20});
  constexpr int kThreads = 3;
  std::vector<std::jthread> threads;
  threads.reserve(kThreads);
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kSteps; ++i) {
        if (t == 0) {
          hook->BeginStep();
          hook->SaveScalar("loss", i);
          hook->EndStep();
          EXPECT_TRUE(hook->Flush());
          EXPECT_EQ(hook->stats().scalars_saved, i + 1);
        } else {
          hook->Flush();
        }
      }
    });
  }
}

// Flushes the hook that it hears of.
class Flusher final : public StepObserver {
 public:
  void OnStep(int64_t /*step*/) override { flushed_ = hook_->Flush(); }
  void OnEnd(const HookStats& /*stats*/) override {}

  Hook* hook_ = nullptr;
  bool flushed_ = true;
};

TEST_F(HookFlushTest, AnObserverDoesNotWaitForItself) {
  auto hook = Open();
  const auto flusher = std::make_shared<Flusher>();
  flusher->hook_ = hook.get();
  hook->Observe(flusher);
  SaveStep(*hook);
  hook->EndStep();
  EXPECT_TRUE(hook->Flush());
  EXPECT_FALSE(flusher->flushed_);
}

}  // namespace
}  // namespace smdebug
