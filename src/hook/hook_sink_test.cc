#include <cerrno>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "smdebug/error.h"
#include "smdebug/hook.h"
#include "src/base/mutex.h"
#include "src/run/ledger.h"
#include "src/steps/open_sink.h"
#include "tests/testing/fault_storage.h"
#include "tests/testing/files.h"
#include "tests/testing/hook.h"
#include "tests/testing/ten_step_objects.h"

// A hook over a sink that reports late, several steps at once, and from a
// thread of its own.
namespace smdebug {
namespace {

using smdebug::testing::FaultStorage;
using smdebug::testing::GetFile;
using smdebug::testing::Keys;
using smdebug::testing::Operation;
using smdebug::testing::SaveEverything;
using smdebug::testing::SaveFloats;
using smdebug::testing::TenStepSink;
using std::chrono::milliseconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class Onlooker final : public StepObserver {
 public:
  void OnStep(int64_t step) override {
    const base::MutexLock lock(mu_);
    steps_.push_back(step);
  }
  void OnEnd(const HookStats& /*stats*/) override {
    const base::MutexLock lock(mu_);
    steps_.push_back(-1);
  }
  std::vector<int64_t> steps() const {
    const base::MutexLock lock(mu_);
    return steps_;
  }

 private:
  mutable base::Mutex mu_;
  std::vector<int64_t> steps_ SMDEBUG_GUARDED_BY(mu_);
};

class HookSinkTest : public ::testing::Test {
 protected:
  std::unique_ptr<Hook> Open(RuntimeOptions runtime = {},
                             const Worker& worker = {}) {
    HookConfig config = SaveEverything();
    config.include_workers = IncludeWorkers::kAll;
    return std::make_unique<Hook>(config, worker, runtime, shared_, nullptr);
  }

  static void SaveStep(Hook& hook, float value) {
    hook.BeginStep();
    SaveFloats(hook, "x", std::vector<float>(1000, value));
    hook.SaveScalar("loss", value);
  }

  static void Await(Hook& hook, int64_t steps) {
    while (hook.stats().steps_saved < steps) std::this_thread::yield();
  }

  run::Ledger LastLedger(const std::string& worker = "worker_0") {
    return run::ParseLedger(
        *GetFile(faulty_.inner(), "ledger/" + worker + ".json"), "ledger");
  }

  const std::shared_ptr<FaultStorage> shared_ =
      std::make_shared<FaultStorage>(OpenMemoryStorage());
  FaultStorage& faulty_ = *shared_;
  const steps::SinkMakerForTesting maker_{
      [](std::shared_ptr<Storage> storage, Durability) {
        return std::make_shared<TenStepSink>(std::move(storage));
      }};
};

TEST_F(HookSinkTest, AStepCountsWhenItIsReported) {
  auto hook = Open();
  const auto onlooker = std::make_shared<Onlooker>();
  hook->Observe(onlooker);
  for (int i = 0; i < 9; ++i) SaveStep(*hook, float(i));
  hook->EndStep();
  EXPECT_EQ(hook->stats().steps_saved, 0);
  EXPECT_THAT(onlooker->steps(), IsEmpty());
  SaveStep(*hook, 9);
  hook->EndStep();
  Await(*hook, 10);
  EXPECT_EQ(hook->stats().values_saved, 10);
  EXPECT_EQ(hook->stats().scalars_saved, 10);
  hook->Close();
  EXPECT_THAT(onlooker->steps(), ElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, -1));
  EXPECT_THAT(Keys(faulty_.inner(), "index/"),
              ElementsAre("index/000000000000_worker_0.pack"));
  EXPECT_THAT(Keys(faulty_.inner(), "events/"), IsEmpty());
}

TEST_F(HookSinkTest, ClosingWaitsForTheLastReport) {
  auto hook = Open();
  const auto onlooker = std::make_shared<Onlooker>();
  hook->Observe(onlooker);
  for (int i = 0; i < 13; ++i) SaveStep(*hook, float(i));
  hook->Close();
  EXPECT_EQ(hook->stats().steps_saved, 13);
  EXPECT_EQ(LastLedger().stats.steps_saved, 13);
  EXPECT_EQ(LastLedger().stats.scalars_saved, 13);
  EXPECT_THAT(onlooker->steps(), SizeIs(14));
  EXPECT_EQ(onlooker->steps().back(), -1);
  EXPECT_THAT(Keys(faulty_.inner(), "index/"),
              ElementsAre("index/000000000000_worker_0.pack",
                          "index/000000000010_worker_0.pack"));
}

TEST_F(HookSinkTest, StepsAreLostTogetherAndTheirScalarsAreNot) {
  auto hook = Open();
  const auto onlooker = std::make_shared<Onlooker>();
  hook->Observe(onlooker);
  SaveStep(*hook, 0);
  hook->EndStep();
  // The claim, the ledger and the collections come first.
  while (Keys(faulty_.inner(), "collections/").empty()) {
    std::this_thread::yield();
  }
  faulty_.plan().FailAll(Operation::kCreate, ENOSPC);
  for (int i = 1; i < 10; ++i) SaveStep(*hook, float(i));
  hook->EndStep();
  while (hook->stats().lost < 10) std::this_thread::yield();
  faulty_.plan().Clear();
  SaveStep(*hook, 10);
  hook->Close();
  // One for the object, and perhaps some for the ledger.
  EXPECT_GE(hook->stats().errors, 1);
  EXPECT_LT(hook->stats().errors, 10);
  EXPECT_EQ(hook->stats().lost, 10);
  EXPECT_EQ(hook->stats().steps_saved, 1);
  EXPECT_EQ(hook->stats().scalars_saved, 11);
  EXPECT_THAT(onlooker->steps(), ElementsAre(10, -1));
  EXPECT_EQ(LastLedger().stats.lost, 10);
}

TEST_F(HookSinkTest, WhoWaitsForRoomHurriesTheSink) {
  // Three steps fill the buffer, long before there are ten.
  auto hook = Open({.buffer_bytes = 16 << 10});
  for (int i = 0; i < 25; ++i) SaveStep(*hook, float(i));
  hook->Close();
  EXPECT_EQ(hook->stats().steps_saved, 25);
  EXPECT_EQ(hook->stats().dropped, 0);
  EXPECT_GT(hook->stats().stalls, 0);
}

TEST_F(HookSinkTest, AStrictHookThrowsWhatWasReported) {
  auto hook = Open({.strict = true});
  SaveStep(*hook, 0);
  hook->EndStep();
  while (Keys(faulty_.inner(), "collections/").empty()) {
    std::this_thread::yield();
  }
  faulty_.plan().FailAll(Operation::kCreate, ENOSPC);
  EXPECT_THROW(hook->Close(), IoError);
}

TEST_F(HookSinkTest, ASinkThatDoesNotReportDoesNotHoldUpClosing) {
  // What the thread of the hook needs stays alive with it.
  const auto stuck = std::make_shared<FaultStorage>(OpenMemoryStorage());
  auto hook = std::make_unique<Hook>(
      SaveEverything(), Worker{},
      RuntimeOptions{.stuck_after = milliseconds(20)}, stuck, nullptr);
  SaveStep(*hook, 0);
  hook->EndStep();
  while (Keys(stuck->inner(), "collections/").empty()) {
    std::this_thread::yield();
  }
  stuck->plan().Block(Operation::kPublish);
  hook->Close();
  EXPECT_EQ(hook->stats().steps_saved, 0);
  EXPECT_EQ(hook->stats().dropped, 2);  // The tensor and the scalar.
}

TEST_F(HookSinkTest, WorkersShareASinkAndEachHearsOfItsOwn) {
  auto sink = std::make_shared<TenStepSink>(shared_);
  const steps::SinkMakerForTesting shared_maker(
      [&](const std::shared_ptr<Storage>&, Durability) { return sink; });
  auto one = Open({}, Worker::OfRank(0, 2));
  auto two = Open({}, Worker::OfRank(1, 2));
  for (int i = 0; i < 12; ++i) {
    SaveStep(*one, float(i));
    if (i % 2 == 0) SaveStep(*two, float(i));
  }
  one->Close();
  two->Close();
  EXPECT_EQ(LastLedger("worker_0").stats.steps_saved, 12);
  EXPECT_EQ(LastLedger("worker_1").stats.steps_saved, 6);
}

}  // namespace
}  // namespace smdebug
