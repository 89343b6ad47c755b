#include <algorithm>
#include <cerrno>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "smdebug/error.h"
#include "smdebug/hook.h"
#include "src/run/ledger.h"
#include "tests/testing/fault_storage.h"
#include "tests/testing/hook.h"
#include "tests/testing/log_capture.h"
#include "tests/testing/run.h"

namespace smdebug {
namespace {

using ::testing::_;
using ::testing::ElementsAre;
using testing::FaultStorage;
using testing::GetFile;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::Keys;
using testing::LogCapture;
using testing::Operation;
using ::testing::Pair;
using testing::ReadStep;
using testing::SaveEverything;
using testing::SaveFloats;
using ::testing::SizeIs;
using testing::Steps;
using ::testing::UnorderedElementsAre;

class HookFaultTest : public ::testing::Test {
 protected:
  std::unique_ptr<Hook> Open(RuntimeOptions runtime = {}) {
    return std::make_unique<Hook>(SaveEverything(), Worker{}, runtime, shared_,
                                  nullptr);
  }

  static void SaveStep(Hook& hook, float value) {
    hook.BeginStep();
    SaveFloats(hook, "x", std::vector<float>(1000, value));
  }

  run::Ledger LastLedger() {
    return run::ParseLedger(*GetFile(faulty_.inner(), "ledger/worker_0.json"),
                            "ledger");
  }

  const std::shared_ptr<FaultStorage> shared_ =
      std::make_shared<FaultStorage>(OpenMemoryStorage());
  FaultStorage& faulty_ = *shared_;
};

TEST_F(HookFaultTest, AFailedStepIsCountedAndTheRestGoesOn) {
  // Each operation of the first steps in turn; the first step needs event,
  // collections and index.
  for (const Operation operation :
       {Operation::kCreate, Operation::kAppend, Operation::kPublish}) {
    for (uint64_t nth = 1; nth <= 12; ++nth) {
      const auto shared = std::make_shared<FaultStorage>(OpenMemoryStorage());
      FaultStorage& faulty = *shared;
      Hook hook(SaveEverything(), {}, {}, shared, nullptr);
      const uint64_t before = faulty.plan().count(operation);
      faulty.plan().FailNth(operation, nth, EIO);
      for (int i = 0; i < 4; ++i) SaveStep(hook, float(i));
      hook.Close();
      ASSERT_EQ(faulty.plan().failures(),
                faulty.plan().count(operation) - before >= nth ? 1u : 0u);
      const HookStats stats = hook.stats();
      EXPECT_EQ(stats.errors, int64_t(faulty.plan().failures()));
      EXPECT_EQ(stats.steps_saved + stats.lost, 4);
      EXPECT_EQ(Steps(faulty.inner()).size(), size_t(stats.steps_saved));
      for (const int64_t step : Steps(faulty.inner())) {
        EXPECT_EQ(ReadStep(faulty.inner(), step).at("x").As<float>(),
                  std::vector<float>(1000, float(step)));
      }
    }
  }
}

TEST_F(HookFaultTest, AMarkerThatCannotBeWrittenIsCountedInTheLedger) {
  LogCapture log;
  auto hook = Open();
  SaveStep(*hook, 0);
  faulty_.plan().FailAll(Operation::kCreateExclusive, EACCES);
  hook->Close();
  EXPECT_EQ(hook->stats().errors, 1);
  const run::Ledger ledger = LastLedger();
  EXPECT_TRUE(ledger.closed);
  EXPECT_EQ(ledger.ending, "finished");
  EXPECT_EQ(ledger.stats.errors, 1);
  EXPECT_THAT(ledger.messages, ElementsAre(Pair("close", _)));
  EXPECT_THAT(log.lines(), ElementsAre(HasSubstr("(counted; said once)")));
}

TEST_F(HookFaultTest, AFullDiskLosesOnlyWhatDoesNotFit) {
  LogCapture log;
  auto hook = Open();
  SaveStep(*hook, 0);
  hook->BeginStep();
  faulty_.plan().FillDiskAfter(0);
  for (int i = 1; i < 50; ++i) SaveStep(*hook, float(i));
  hook->Close();
  const HookStats stats = hook->stats();
  EXPECT_GT(stats.errors, 0);
  EXPECT_GE(stats.lost, 48);
  EXPECT_EQ(stats.steps_saved + stats.lost, 50);
  EXPECT_THAT(Keys(faulty_.inner(), "events/"), SizeIs(stats.steps_saved));
  // Logged once per kind, not once per step.
  int64_t said = 0;
  for (const std::string& line : log.lines()) {
    if (line.find("No space left") != std::string::npos) ++said;
  }
  EXPECT_GE(said, 1);
  EXPECT_LE(said, 4);
  // The run tells of it, though the disk is full to the end.
  EXPECT_TRUE(LastLedger().closed);
  EXPECT_EQ(LastLedger().stats.lost, stats.lost);
  EXPECT_THAT(Keys(faulty_.inner(), "training"), SizeIs(1));
}

TEST_F(HookFaultTest, AFullDiskIsRefused) {
  faulty_.plan().FillDiskAfter(1000);
  EXPECT_THROW(Open(), IoError);
  EXPECT_THAT(Keys(faulty_.inner(), ""), IsEmpty());
}

TEST_F(HookFaultTest, AfterAFullDiskHasRoomAgainStepsAreSavedAgain) {
  auto hook = Open();
  faulty_.plan().FillDiskAfter(0);
  for (int i = 0; i < 3; ++i) SaveStep(*hook, float(i));
  hook->BeginStep();
  while (hook->stats().lost < 3) std::this_thread::yield();
  faulty_.plan().Clear();
  SaveStep(*hook, 4);
  hook->Close();
  EXPECT_THAT(Steps(faulty_.inner()), ElementsAre(4));
  EXPECT_EQ(LastLedger().stats.lost, 3);
  EXPECT_THAT(LastLedger().messages.at("write"), HasSubstr("No space left"));
}

TEST_F(HookFaultTest, ScalarsOfAFailedStepAreWrittenLater) {
  auto hook = Open();
  SaveStep(*hook, 0);
  hook->EndStep();
  while (hook->stats().steps_saved < 1) std::this_thread::yield();
  faulty_.plan().FailNth(Operation::kPublish, 1, EIO);
  SaveStep(*hook, 1);
  hook->SaveScalar("loss", 0.25);
  SaveStep(*hook, 2);
  hook->Close();
  EXPECT_THAT(Steps(faulty_.inner()), ElementsAre(0, 2));
  EXPECT_THAT(ReadStep(faulty_.inner(), 2).at("scalar/loss").As<double>(),
              ElementsAre(0.25));
  EXPECT_EQ(hook->stats().lost, 1);
}

TEST_F(HookFaultTest, AFullBufferHoldsTheCallerAndIsCounted) {
  auto hook = Open({.buffer_bytes = 16 << 10});
  faulty_.plan().Block(Operation::kAppend);
  hook->BeginStep();
  std::jthread release([&] {
    faulty_.plan().WaitUntilBlocked(Operation::kAppend);
    while (hook->stats().stalls == 0 && hook->stats().errors == 0) {
      faulty_.plan().Unblock(Operation::kAppend);
      std::this_thread::yield();
    }
  });
  for (int i = 0; i < 100; ++i) {
    SaveFloats(*hook, "x" + std::to_string(i), std::vector<float>(1000, 1));
  }
  hook->Close();
  EXPECT_GT(hook->stats().stalls, 0);
  EXPECT_GT(hook->stats().stalled_seconds, 0);
  EXPECT_EQ(hook->stats().dropped, 0);
  EXPECT_THAT(ReadStep(faulty_.inner(), 0), SizeIs(100));
}

TEST_F(HookFaultTest, ADroppingHookNeverWaits) {
  auto hook = Open({.buffer_bytes = 16 << 10, .on_full = OnFull::kDrop});
  faulty_.plan().Block(Operation::kAppend);
  hook->BeginStep();
  for (int i = 0; i < 100; ++i) {
    SaveFloats(*hook, "x" + std::to_string(i), std::vector<float>(1000, 1));
  }
  EXPECT_EQ(hook->stats().dropped, 96);
  EXPECT_EQ(hook->stats().stalls, 0);
  faulty_.plan().Unblock(Operation::kAppend);
  hook->Close();
  EXPECT_THAT(ReadStep(faulty_.inner(), 0), SizeIs(4));
  EXPECT_EQ(LastLedger().stats.dropped, 96);
}

TEST_F(HookFaultTest, AStuckFileSystemNeitherHangsTrainingNorClosing) {
  // The writer's thread stays behind with the store, and keeps it alive.
  const auto stuck = std::make_shared<FaultStorage>(OpenMemoryStorage());
  auto hook = std::make_unique<Hook>(
      SaveEverything(), Worker{},
      RuntimeOptions{.buffer_bytes = 16 << 10,
                     .stuck_after = std::chrono::milliseconds(20)},
      stuck, nullptr);
  stuck->plan().Block(Operation::kCreate);
  for (int i = 0; i < 20; ++i) SaveStep(*hook, 1);
  const HookStats stats = hook->stats();
  EXPECT_GE(stats.dropped, 16);
  EXPECT_EQ(stats.stalls, 1);
  hook.reset();
  EXPECT_THAT(Keys(stuck->inner(), "index/"), IsEmpty());
}

TEST_F(HookFaultTest, AStrictHookReportsAtTheNextCall) {
  auto hook = Open({.strict = true});
  faulty_.plan().FailAll(Operation::kAppend, EACCES);
  hook->BeginStep();
  SaveFloats(*hook, "x", {1});
  const auto reported = [&] {
    for (int i = 0; i < 1'000'000; ++i) {
      try {
        hook->BeginStep();
      } catch (const IoError& error) {
        return error.code();
      }
    }
    return 0;
  };
  EXPECT_EQ(reported(), EACCES);
}

TEST_F(HookFaultTest, TensorboardFilesArePublishedAtTheEnd) {
  const auto board = std::make_shared<FaultStorage>(OpenMemoryStorage());
  HookConfig config = SaveEverything();
  config.export_tensorboard = true;
  Hook hook(config, {}, {}, shared_, board);
  for (const Mode mode : {Mode::kTrain, Mode::kEval}) {
    hook.SetMode(mode);
    SaveStep(hook, 1);
    hook.SaveScalar("loss", 1);
  }
  EXPECT_EQ(board->plan().count(Operation::kPublish), 0u);
  hook.Close();
  EXPECT_EQ(board->plan().count(Operation::kCreate), 2u);
  EXPECT_EQ(board->plan().count(Operation::kPublish), 2u);
}

TEST_F(HookFaultTest, TensorboardIsSwitchedOffWhenItFails) {
  const auto board = std::make_shared<FaultStorage>(OpenMemoryStorage());
  board->plan().FailAll(Operation::kAppend, ENOSPC);
  HookConfig config = SaveEverything();
  config.export_tensorboard = true;
  Hook hook(config, {}, {}, shared_, board);
  for (int i = 0; i < 5; ++i) SaveStep(hook, float(i));
  hook.Close();
  EXPECT_EQ(hook.stats().errors, 1);
  EXPECT_EQ(hook.stats().steps_saved, 5);
}

TEST_F(HookFaultTest, WhatAShimFailsInIsCountedAndToldOnce) {
  const LogCapture log;
  auto hook = Open();
  hook->BeginStep();
  const auto fail = [] { throw std::runtime_error("no such device"); };
  EXPECT_TRUE(hook->Try("fine", [] {}));
  EXPECT_FALSE(hook->Try("broken", fail));
  EXPECT_FALSE(hook->Try("broken", fail));
  EXPECT_FALSE(hook->LeaveOut("other", "it is elsewhere"));
  hook->Close();
  EXPECT_EQ(hook->stats().skipped, 3);
  EXPECT_EQ(hook->stats().errors, 0);
  EXPECT_THAT(LastLedger().messages,
              UnorderedElementsAre(Pair(_, HasSubstr("no such device")),
                                   Pair(_, HasSubstr("it is elsewhere"))));
  EXPECT_EQ(std::ranges::count_if(log.lines(),
                                  [](const std::string& line) {
                                    return line.find("'broken'") !=
                                           std::string::npos;
                                  }),
            1);
}

TEST_F(HookFaultTest, EachReasonWhyANameIsLeftOutIsToldOfOnceUpToAFew) {
  const LogCapture log;
  auto hook = Open();
  hook->BeginStep();
  hook->SaveScalar("acc", 1, {.step = -1});
  hook->SaveScalar("acc", 1, {.step = -1});
  hook->LeaveOut("scalar/acc", "it is no number");
  hook->LeaveOut("scalar/acc", "it is no number");
  EXPECT_THAT(log.lines(), ElementsAre(HasSubstr("step: '-1'"),
                                       HasSubstr("it is no number")));
  for (int i = 0; i < 100; ++i) {
    hook->LeaveOut("scalar/acc", std::to_string(i) + " is no number");
  }
  EXPECT_THAT(log.lines(), SizeIs(8));
  hook->LeaveOut("scalar/loss", "it is no number");
  EXPECT_THAT(log.lines(), SizeIs(9));
  hook->Close();
  EXPECT_EQ(hook->stats().skipped, 105);
  EXPECT_THAT(LastLedger().messages, SizeIs(9));
}

TEST_F(HookFaultTest, AStrictHookThrowsWhatAShimFailsIn) {
  auto hook = Open({.strict = true});
  EXPECT_THROW(hook->Try("x", [] { throw std::out_of_range("far"); }),
               std::out_of_range);
  EXPECT_TRUE(hook->LeaveOut("x", "it is elsewhere"));
  EXPECT_EQ(hook->stats().skipped, 0);
}

TEST_F(HookFaultTest, NamesWithoutEndDoNotFillTheLedger) {
  const LogCapture log;
  auto hook = Open();
  for (int i = 0; i < 3000; ++i) {
    hook->LeaveOut("x" + std::to_string(i), "is gone");
  }
  hook->Close();
  EXPECT_EQ(hook->stats().skipped, 3000);
  EXPECT_THAT(LastLedger().messages, SizeIs(1000));
  EXPECT_THAT(log.lines(), SizeIs(1000));
}

}  // namespace
}  // namespace smdebug
