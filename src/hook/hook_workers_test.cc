// Hooks that are several workers of their job.
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "smdebug/error.h"
#include "smdebug/hook.h"
#include "smdebug/run.h"
#include "src/run/keys.h"
#include "src/run/survey.h"
#include "tests/testing/hook.h"
#include "tests/testing/run.h"

namespace smdebug {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Key;
using testing::Keys;
using testing::ReadStep;
using testing::SaveEverything;
using testing::SaveFloats;
using ::testing::SizeIs;
using testing::Steps;
using ::testing::UnorderedElementsAre;

// As TensorFlow names them, and as file names have them.
const std::vector<std::string> kDevices = {
    "/job:worker/replica:0/task:0/device:GPU:0",
    "/job:worker/replica:0/task:0/device:GPU:1"};
const std::string kFirst = "_job-worker_replica-0_task-0_device-GPU-0";
const std::string kSecond = "_job-worker_replica-0_task-0_device-GPU-1";

HookConfig OfAll(std::string_view out_dir = "unused") {
  HookConfig config = SaveEverything(out_dir);
  config.include_workers = IncludeWorkers::kAll;
  return config;
}

class HookWorkersTest : public ::testing::Test {
 protected:
  std::unique_ptr<Hook> Open(const HookConfig& config,
                             RuntimeOptions runtime = {}) {
    return Hook::OfWorkers(config, Worker::OfDevices(kDevices), runtime,
                           storage_);
  }

  // What `worker` has of the vector `name` at step `step`.
  std::vector<float> At(int64_t step, const std::string& worker,
                        const std::string& name) {
    const auto records = ReadStep(*storage_, step, worker);
    const auto found = records.find(name);
    return found == records.end() ? std::vector<float>()
                                  : found->second.As<float>();
  }

  std::shared_ptr<Storage> storage_ = OpenMemoryStorage();
};

void SaveOf(Hook& hook, size_t worker, std::string_view name, float value) {
  const int64_t shape[] = {1};
  hook.Save(name, ViewOf<float>({&value, 1}, shape), {.worker = worker});
}

TEST_F(HookWorkersTest, EachHasItsOwnFilesOfTheSameStep) {
  auto hook = Open(OfAll());
  EXPECT_EQ(hook->workers(), kDevices);
  for (int step = 0; step < 2; ++step) {
    hook->BeginStep();
    SaveOf(*hook, 0, "weight", 1.0F + static_cast<float>(step));
    SaveOf(*hook, 1, "weight", 11.0F + static_cast<float>(step));
    SaveFloats(*hook, "loss", {5});  // On no device: each has it.
  }
  EXPECT_EQ(hook->step(), 1);
  hook->Close();
  EXPECT_THAT(At(1, kFirst, "weight"), ElementsAre(2));
  EXPECT_THAT(At(1, kSecond, "weight"), ElementsAre(12));
  EXPECT_THAT(At(0, kFirst, "loss"), ElementsAre(5));
  EXPECT_THAT(At(0, kSecond, "loss"), ElementsAre(5));
  EXPECT_THAT(Steps(*storage_, kFirst), ElementsAre(0, 1));
  EXPECT_THAT(Steps(*storage_, kSecond), ElementsAre(0, 1));
  EXPECT_THAT(Keys(*storage_, "collections/"),
              ElementsAre(run::CollectionsFileKey(kFirst),
                          run::CollectionsFileKey(kSecond)));
  EXPECT_THAT(
      Keys(*storage_, "events/000000000000/"),
      ElementsAre("events/000000000000/000000000000_" + kFirst + ".tfevents",
                  "events/000000000000/000000000000_" + kSecond + ".tfevents"));
  EXPECT_EQ(hook->stats().steps_saved, 4);
  EXPECT_EQ(hook->stats().values_saved, 8);
}

TEST_F(HookWorkersTest, OneRunOneClaimAndOneMarkerAtTheEndOfTheLast) {
  auto hook = Open(OfAll());
  hook->BeginStep();
  SaveFloats(*hook, "loss", {5});
  ASSERT_TRUE(hook->Flush());
  const run::Survey open = run::LookAt(*storage_);
  EXPECT_EQ(open.claim->run, hook->run_id());
  EXPECT_EQ(open.claim->num_workers, 2);
  EXPECT_EQ(open.info.state, RunState::kRunning);
  EXPECT_THAT(open.ledgers, SizeIs(2));
  EXPECT_FALSE(HasRunEnded(*storage_));
  hook->Close();
  const run::Survey closed = run::LookAt(*storage_);
  EXPECT_EQ(closed.info.state, RunState::kFinished);
  EXPECT_EQ(closed.marker->run, hook->run_id());
  EXPECT_EQ(closed.claim, std::nullopt);
  for (const run::Ledger& ledger : closed.ledgers) {
    EXPECT_TRUE(ledger.closed);
    EXPECT_EQ(ledger.run, hook->run_id());
  }
}

TEST_F(HookWorkersTest, AFailedJobIsOneForAll) {
  auto hook = Open(OfAll());
  hook->BeginStep();
  hook->Close(Ending::kFailed, "it broke");
  EXPECT_EQ(LookAtRun(*storage_).state, RunState::kFailed);
  EXPECT_THAT(LookAtRun(*storage_).reason, HasSubstr("it broke"));
}

TEST_F(HookWorkersTest, OnlyTheChiefWritesWhereOneIsAskedFor) {
  auto hook = Open(SaveEverything());
  hook->BeginStep();
  EXPECT_TRUE(hook->IsDue("weight"));
  SaveOf(*hook, 0, "weight", 1);
  SaveOf(*hook, 1, "weight", 2);
  hook->Close();
  EXPECT_THAT(At(0, kFirst, "weight"), ElementsAre(1));
  EXPECT_THAT(Steps(*storage_, kSecond), IsEmpty());
  EXPECT_EQ(LookAtRun(*storage_).state, RunState::kFinished);
}

TEST_F(HookWorkersTest, StepsModesAndSchedulesAreThoseOfAll) {
  HookConfig config = OfAll();
  config.save_config = SaveConfig::Every({.save_interval = 2});
  auto hook = Open(config);
  std::vector<bool> idle;
  std::vector<bool> due;
  std::vector<uint64_t> keys;
  hook->SetMode(Mode::kTrain);
  for (int step = 0; step < 4; ++step) {
    idle.push_back(hook->BeginIdleStep());
    if (!idle.back()) hook->BeginStep();
    due.push_back(hook->StepIsDue());
    keys.push_back(hook->due_key());
    EXPECT_EQ(hook->IsIdle(), idle.back());
    EXPECT_EQ(hook->AnyIsDue("x_"), due.back());
    TensorName name("x");
    EXPECT_EQ(hook->Offer(name), due.back());
    SaveFloats(*hook, "x", {1});
  }
  EXPECT_THAT(idle, ElementsAre(false, true, false, true));
  EXPECT_THAT(due, ElementsAre(true, false, true, false));
  EXPECT_EQ(keys[0], keys[2]);
  EXPECT_EQ(keys[1], 0U);
  EXPECT_EQ(hook->mode_step(Mode::kTrain), 3);
  hook->Close();
  for (const std::string& worker : {kFirst, kSecond}) {
    EXPECT_THAT(Steps(*storage_, worker), ElementsAre(0, 2));
    EXPECT_EQ(testing::ReadIndex(*storage_, 2, worker)->mode, Mode::kTrain);
  }
}

TEST_F(HookWorkersTest, EveryWayToSaveReachesAllOfThem) {
  auto hook = Open(OfAll());
  testing::SaveFloatsForNextStep(*hook, "waited", {1}, {"mine"});
  hook->BeginStep();
  const float value = 2;
  const int64_t shape[] = {1};
  const TensorView view = ViewOf<float>({&value, 1}, shape);
  TensorName name("named");
  hook->Save(name, view);
  const std::string_view both[] = {"a", "b"};
  hook->SaveAs(both, view);
  testing::SaveFloatsTo(*hook, "joined", {3}, {"mine"});
  hook->SaveScalar("lr", 0.5);
  hook->Close();
  for (const std::string& worker : {kFirst, kSecond}) {
    EXPECT_THAT(
        ReadStep(*storage_, 0, worker),
        UnorderedElementsAre(Key("waited"), Key("named"), Key("a"), Key("b"),
                             Key("joined"), Key("scalar/lr")));
  }
}

TEST_F(HookWorkersTest, AScalarMayBeOfOne) {
  auto hook = Open(OfAll());
  hook->BeginStep();
  hook->SaveScalar("loss", 1, {.worker = 0});
  hook->SaveScalar("loss", 2, {.worker = 1});
  hook->SaveScalar("loss", 3, {.worker = 2});
  hook->Close();
  EXPECT_THAT(ReadStep(*storage_, 0, kFirst).at("scalar/loss").As<double>(),
              ElementsAre(1));
  EXPECT_THAT(ReadStep(*storage_, 0, kSecond).at("scalar/loss").As<double>(),
              ElementsAre(2));
  EXPECT_EQ(hook->stats().skipped, 1);
}

TEST_F(HookWorkersTest, ConfigurationsAreThoseOfAll) {
  auto hook = Open(OfAll());
  HookConfig none = OfAll();
  none.save_all = false;
  hook->Configure(none);
  hook->SetCollection({.name = "weights",
                       .include_regex = {"^w$"},
                       .save_config = SaveConfig::Every({.save_interval = 1})});
  none.include_collections = {"weights"};
  hook->Configure(none);
  hook->SetCollection({.name = "weights", .include_regex = {"^w$"}});
  hook->BeginStep();
  SaveFloats(*hook, "w", {1});
  SaveFloats(*hook, "other", {1});
  hook->Close();
  for (const std::string& worker : {kFirst, kSecond}) {
    EXPECT_THAT(ReadStep(*storage_, 0, worker), ElementsAre(Key("w")));
  }
}

TEST_F(HookWorkersTest, ATensorThatComesLateIsCountedForEach) {
  auto hook = Open(OfAll());
  hook->BeginStep();
  hook->EndStep();
  SaveFloats(*hook, "x", {1});
  SaveOf(*hook, 1, "x", 1);
  EXPECT_EQ(hook->stats().dropped, 3);
}

TEST_F(HookWorkersTest, AWorkerThatItDoesNotHaveIsLeftOut) {
  auto hook = Open(OfAll());
  hook->BeginStep();
  SaveOf(*hook, 2, "x", 1);
  EXPECT_EQ(hook->stats().skipped, 1);
  hook->Close();
  EXPECT_THAT(run::LookAt(*storage_).ledgers.front().messages,
              ElementsAre(::testing::Pair(::testing::_, HasSubstr("0 to 1"))));
  RuntimeOptions strict;
  strict.strict = true;
  storage_ = OpenMemoryStorage();
  auto other = Open(OfAll(), strict);
  other->BeginStep();
  EXPECT_THROW(SaveOf(*other, 2, "x", 1), ConfigError);
}

// How many of many scalars that wait for their steps find no room.
int64_t CountDropped(Hook& hook) {
  hook.BeginStep();
  for (int i = 0; i < 1000; ++i) hook.SaveScalar("s", i, {.step = i + 1});
  return hook.stats().dropped;
}

TEST_F(HookWorkersTest, TheyShareTheBuffer) {
  Hook alone(OfAll(), {}, {.buffer_bytes = 16 << 10}, OpenMemoryStorage(),
             nullptr);
  const int64_t dropped = CountDropped(alone);
  EXPECT_GT(dropped, 0);
  EXPECT_EQ(CountDropped(*Open(OfAll(), {.buffer_bytes = 32 << 10})),
            2 * dropped);
}

class StepsOfFirst final : public StepObserver {
 public:
  void OnStep(int64_t step) override { steps.push_back(step); }
  void OnEnd(const HookStats& /*stats*/) override {}

  std::vector<int64_t> steps;  // Of the writer's thread until the hook closes.
};

TEST_F(HookWorkersTest, ObserversHearOfTheFirst) {
  const auto seen = std::make_shared<StepsOfFirst>();
  auto hook = Open(OfAll());
  hook->Observe(seen);
  hook->BeginStep();
  SaveFloats(*hook, "x", {1});
  hook->Close();
  EXPECT_THAT(seen->steps, ElementsAre(0));
}

TEST_F(HookWorkersTest, TensorboardHasTheFirst) {
  const auto board = OpenMemoryStorage();
  HookConfig config = OfAll();
  config.export_tensorboard = true;
  auto hook =
      Hook::OfWorkers(config, Worker::OfDevices(kDevices), {}, storage_, board);
  hook->BeginStep();
  SaveFloats(*hook, "x", {1, 2});
  hook->Close();
  EXPECT_THAT(Keys(*board), SizeIs(1));
  EXPECT_EQ(hook->stats().errors, 0);
}

TEST_F(HookWorkersTest, PartOfALargerJobWaitsForTheRest) {
  std::vector<Worker> mine = {{.name = "a", .count = 3, .is_chief = false},
                              {.name = "b", .count = 3, .is_chief = false}};
  auto hook = Hook::OfWorkers(OfAll(), mine, {}, storage_);
  Hook other(OfAll(), {.name = "c", .count = 3}, {}, storage_, nullptr);
  hook->BeginStep();
  hook->Close();
  EXPECT_FALSE(HasRunEnded(*storage_));
  EXPECT_EQ(other.run_id(), hook->run_id());
  other.Close();
  EXPECT_TRUE(HasRunEnded(*storage_));
}

TEST_F(HookWorkersTest, IfOneIsRefusedAllOfThemLeaveTheFolder) {
  Hook busy(OfAll(), {.name = kDevices[1], .count = 2}, {}, storage_, nullptr);
  EXPECT_THROW(Open(OfAll()), RunBusyError);
  // The run of the one that was faster goes on.
  EXPECT_EQ(run::LookAt(*storage_).claim->run, busy.run_id());
  busy.BeginStep();
  SaveFloats(busy, "x", {1});
  busy.Close();
  EXPECT_THAT(At(0, kSecond, "x"), ElementsAre(1));
  EXPECT_EQ(LookAtRun(*storage_).state, RunState::kInterrupted);
}

TEST_F(HookWorkersTest, WorkersThatMakeNoJobAreRefused) {
  const auto refusal = [&](const std::vector<Worker>& workers) {
    try {
      Hook::OfWorkers(OfAll(), workers, {}, storage_);
      return std::string("none");
    } catch (const ConfigError& error) {
      return std::string(error.what());
    }
  };
  EXPECT_THAT(refusal({}), HasSubstr("at least one worker"));
  EXPECT_THAT(refusal({{.name = "a", .count = 2},
                       {.name = "a", .count = 2, .is_chief = false}}),
              HasSubstr("no other worker"));
  // The same in file names.
  EXPECT_THAT(refusal({{.name = "/a:b", .count = 2},
                       {.name = "/a-b", .count = 2, .is_chief = false}}),
              HasSubstr("no other worker"));
  EXPECT_THAT(refusal({{.name = "a", .count = 1},
                       {.name = "b", .count = 1, .is_chief = false}}),
              HasSubstr("at least the 2"));
  EXPECT_THAT(refusal({{.name = "a", .count = 2, .is_chief = false},
                       {.name = "b", .count = 2}}),
              HasSubstr("the first of the workers"));
  EXPECT_THAT(Keys(*storage_), IsEmpty());
}

TEST(WorkerNameTest, ThoseOfDevicesAreWrittenAsSmdebug10WritesThem) {
  const auto storage = OpenMemoryStorage();
  Hook hook(SaveEverything(), {.name = kDevices[0]}, {}, storage, nullptr);
  EXPECT_EQ(hook.worker(), kDevices[0]);
  hook.BeginStep();
  SaveFloats(hook, "x", {1});
  hook.Close();
  EXPECT_THAT(Steps(*storage, kFirst), ElementsAre(0));
  EXPECT_EQ(run::LookAt(*storage).ledgers.front().worker, kFirst);
}

TEST(WorkerNameTest, WhatIsNoDeviceHasNoSlash) {
  for (const std::string name : {"", "a/b", "../x", "/a\nb"}) {
    EXPECT_THROW(Hook(SaveEverything(), {.name = name}, {}, OpenMemoryStorage(),
                      nullptr),
                 ConfigError)
        << name;
  }
}

}  // namespace
}  // namespace smdebug
