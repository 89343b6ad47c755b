#include <chrono>
#include <limits>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "smdebug/hook.h"
#include "src/run/survey.h"
#include "tests/testing/hook.h"
#include "tests/testing/run.h"

// Steps of which nothing is saved, and tensors that wait for the next step.
namespace smdebug {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Key;
using testing::ReadIndex;
using testing::ReadStep;
using testing::SaveEverything;
using testing::SaveFloats;
using testing::SaveFloatsForNextStep;
using testing::Steps;

using HookWaitingTest = testing::HookFixture;

struct StepList final : StepObserver {
  void OnStep(int64_t step) override { steps.push_back(step); }
  void OnEnd(const HookStats& /*stats*/) override {}

  std::vector<int64_t> steps;
};

HookConfig SaveEvery(int64_t interval) {
  HookConfig config = SaveEverything();
  config.save_config = SaveConfig::Every({.save_interval = interval});
  return config;
}

TEST_F(HookWaitingTest, IdleStepsAreBegunAndOthersAreNot) {
  auto hook = Open(SaveEvery(3));
  EXPECT_FALSE(hook->BeginIdleStep());
  EXPECT_EQ(hook->step(), -1);
  hook->BeginStep();
  SaveFloats(*hook, "w", {1});
  EXPECT_TRUE(hook->BeginIdleStep());
  EXPECT_FALSE(hook->StepIsDue());
  EXPECT_TRUE(hook->BeginIdleStep());
  EXPECT_FALSE(hook->BeginIdleStep());
  EXPECT_EQ(hook->step(), 2);
  hook->BeginStep();
  SaveFloats(*hook, "w", {2});
  hook->Close();
  EXPECT_THAT(Steps(*storage_), ElementsAre(0, 3));
}

TEST_F(HookWaitingTest, AnIdleStepIsJudgedByTheMode) {
  auto hook = Open(SaveEvery(2));
  hook->SetMode(Mode::kTrain);
  hook->BeginStep();
  EXPECT_TRUE(hook->BeginIdleStep());
  hook->SetMode(Mode::kEval);
  EXPECT_FALSE(hook->BeginIdleStep());  // The first of that mode.
  hook->BeginStep();
  EXPECT_TRUE(hook->BeginIdleStep());
  EXPECT_EQ(hook->mode_step(Mode::kEval), 1);
}

TEST_F(HookWaitingTest, AfterTheEndThereIsNoWork) {
  auto hook = Open(SaveEverything());
  hook->Close();
  EXPECT_TRUE(hook->BeginIdleStep());
}

TEST_F(HookWaitingTest, AHookThatWritesNothingHasOnlyIdleSteps) {
  HookConfig config = SaveEverything();
  config.dry_run = true;
  auto hook = Open(config);
  EXPECT_TRUE(hook->BeginIdleStep());
  SaveFloatsForNextStep(*hook, "t", {1}, {"mine"});
  EXPECT_TRUE(hook->BeginIdleStep());
  EXPECT_EQ(hook->step(), 1);
}

TEST_F(HookWaitingTest, ATensorWaitsAsItWas) {
  auto hook = Open(SaveEverything());
  std::vector<float> values = {1, 2};
  const int64_t shape[] = {2};
  const std::string_view collections[] = {"mine"};
  hook->BeginStep();
  hook->SaveTensorForNextStep("t", ViewOf<float>(values, shape), collections);
  values = {8, 9};
  hook->BeginStep();
  hook->Close();
  EXPECT_THAT(Steps(*storage_), ElementsAre(1));
  EXPECT_THAT(ReadStep(*storage_, 1).at("t").As<float>(), ElementsAre(1, 2));
  EXPECT_THAT(hook->GetCollection("mine")->tensor_names, ElementsAre("t"));
}

TEST_F(HookWaitingTest, TheScheduleOfTheNextStepCounts) {
  auto hook = Open(SaveEvery(2));
  for (const float step : {0.0f, 1.0f, 2.0f, 3.0f}) {
    hook->BeginStep();
    SaveFloatsForNextStep(*hook, "t", {step}, {"mine"});
  }
  hook->BeginStep();
  hook->Close();
  EXPECT_THAT(Steps(*storage_), ElementsAre(2, 4));
  EXPECT_THAT(ReadStep(*storage_, 2).at("t").As<float>(), ElementsAre(1));
}

// To another machine it would be gone.
TEST_F(HookWaitingTest, AHookWithNothingToWriteShowsThatItLives) {
  auto hook =
      Open(SaveEvery(1000), {.heartbeat = std::chrono::milliseconds(1)});
  const auto ledger = [&] { return run::LookAt(*storage_).ledgers.front(); };
  const double entered = ledger().updated;
  while (ledger().updated == entered) std::this_thread::yield();
  // What must come before the first step is still welcome.
  hook->SetCollection({.name = "mine", .include_regex = {"^m"}});
  const auto observer = std::make_shared<StepList>();
  hook->Observe(observer);
  hook->BeginStep(999);
  while (ledger().last_step != 999) std::this_thread::yield();
  hook->BeginStep();
  SaveFloats(*hook, "m", {1});
  hook->Close();
  EXPECT_THAT(observer->steps, ElementsAre(1000));
}

TEST_F(HookWaitingTest, AnIdleStepTakesWhatWaitedForIt) {
  HookConfig config;
  config.out_dir = "unused";
  config.include_collections = {"weights"};
  config.save_config = SaveConfig::Every({.save_interval = 2});
  Collection mine;
  mine.name = "mine";
  mine.include_regex = {"nothing"};
  mine.save_config = SaveConfig::Every({.save_interval = 1});
  config.collections = {mine};
  auto hook = Open(config);
  hook->BeginStep();
  SaveFloatsForNextStep(*hook, "t", {5}, {"mine"});
  EXPECT_TRUE(hook->BeginIdleStep());
  hook->Close();
  EXPECT_THAT(ReadStep(*storage_, 1).at("t").As<float>(), ElementsAre(5));
}

TEST_F(HookWaitingTest, ReductionsOfWhatWaited) {
  HookConfig config = SaveEverything();
  ReductionConfig reductions;
  reductions.reductions = {{ReductionOp::kMax}};
  config.reduction_config = reductions;
  auto hook = Open(config);
  hook->BeginStep();
  SaveFloatsForNextStep(
      *hook, "t", {1, 7, std::numeric_limits<float>::quiet_NaN(), 3}, {"mine"});
  hook->BeginStep();
  hook->Close();
  EXPECT_THAT(ReadStep(*storage_, 1),
              ElementsAre(Key("smdebug/reductions/max/t")));
  const auto index = ReadIndex(*storage_, 1);
  ASSERT_EQ(index->counts.size(), 1u);
  EXPECT_EQ(index->counts[0].values.nan, 1);
}

TEST_F(HookWaitingTest, WithoutANextStepTheLastTakesIt) {
  auto hook = Open(SaveEverything());
  hook->BeginStep();
  SaveFloats(*hook, "w", {0});
  SaveFloatsForNextStep(*hook, "late", {6}, {"mine"});
  hook->Close();
  EXPECT_THAT(ReadStep(*storage_, 0).at("late").As<float>(), ElementsAre(6));
  EXPECT_EQ(hook->stats().skipped, 0);
}

TEST_F(HookWaitingTest, TheLastStepDoesNotTakeANameTwice) {
  auto hook = Open(SaveEverything());
  hook->BeginStep();
  SaveFloatsForNextStep(*hook, "t", {1}, {"mine"});
  hook->BeginStep();
  SaveFloatsForNextStep(*hook, "t", {2}, {"mine"});
  hook->Close();
  EXPECT_THAT(ReadStep(*storage_, 1).at("t").As<float>(), ElementsAre(1));
  EXPECT_EQ(hook->stats().skipped, 1);
}

TEST_F(HookWaitingTest, WhatWaitsForAStepThatNeverComesIsCounted) {
  auto hook = Open(SaveEverything());
  SaveFloatsForNextStep(*hook, "t", {1}, {"mine"});
  hook->Close();
  EXPECT_THAT(Steps(*storage_), IsEmpty());
  EXPECT_EQ(hook->stats().skipped, 1);
}

TEST_F(HookWaitingTest, WhatIsSavedAfterTheEndIsCounted) {
  HookConfig config = SaveEverything();
  config.save_all = false;
  config.include_collections = {"weights"};
  auto hook = Open(config);
  hook->BeginStep();
  hook->Close();
  SaveFloatsForNextStep(*hook, "t", {1}, {"mine"});
  EXPECT_EQ(hook->stats().dropped, 1);
  SaveFloats(*hook, "a.weight", {1});
  EXPECT_EQ(hook->stats().dropped, 2);
  TensorName name("a.weight");
  const std::vector<float> values = {1};
  const int64_t shape[] = {1};
  hook->EndStep();
  hook->SetMode(Mode::kEval);
  hook->Save(name, ViewOf<float>(values, shape));
  EXPECT_EQ(hook->stats().dropped, 3);
  const std::string_view names[] = {"a.weight", "b.weight"};
  hook->SaveAs(names, ViewOf<float>(values, shape));
  EXPECT_EQ(hook->stats().dropped, 5);
  // Nobody asked for this one.
  SaveFloats(*hook, "other", {1});
  EXPECT_EQ(hook->stats().dropped, 5);
}

TEST_F(HookWaitingTest, WhatWaitsIsBounded) {
  RuntimeOptions runtime;
  runtime.buffer_bytes = 64 << 10;
  auto hook = Open(SaveEverything(), runtime);
  hook->BeginStep();
  const std::vector<float> values(1024);  // 4 KiB.
  for (int i = 0; i < 20; ++i) {
    SaveFloatsForNextStep(*hook, "t" + std::to_string(i), values, {"mine"});
  }
  EXPECT_EQ(hook->stats().dropped, 12);  // Half of the buffer holds 8.
  EXPECT_EQ(hook->stats().skipped, 0);
  hook->BeginStep();
  SaveFloatsForNextStep(*hook, "again", values, {"mine"});
  hook->BeginStep();
  hook->Close();
  EXPECT_THAT(run::LookAt(*storage_).ledgers.front().messages,
              ElementsAre(Key("waiting")));
  EXPECT_EQ(ReadStep(*storage_, 1).size(), 8u);
  EXPECT_THAT(ReadStep(*storage_, 2), ElementsAre(Key("again")));
}

}  // namespace
}  // namespace smdebug
