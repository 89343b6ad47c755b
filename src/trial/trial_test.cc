#include "smdebug/trial.h"

#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "smdebug/error.h"
#include "src/run/keys.h"
#include "src/run/ledger.h"
#include "tests/testing/trial_run.h"

namespace smdebug::trial {
namespace {

using testing::TestRun;
using testing::TestTrial;

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// A run with two modes and three tensors, by one worker.
class TrialTest : public ::testing::Test {
 protected:
  void SetUp() override {
    Collection weights;
    weights.name = "weights";
    weights.include_regex = {"weight$"};
    Collection picked;
    picked.name = "picked";
    picked.tensor_names = {"fc.bias", "never.saved"};
    made_.run.Declare({"worker_0"}, 1,
                      {{"weights", weights}, {"picked", picked}});
    for (int64_t step = 0; step < 4; ++step) {
      const Mode mode = step < 3 ? Mode::kTrain : Mode::kEval;
      auto saved = made_.run.At(step, "worker_0", mode, step % 3);
      saved.Tensor("fc.weight", {1, 2}).Tensor("fc.bias", {3});
      if (step == 2) saved.Tensor("conv.weight", {4});
      saved.Publish();
    }
  }

  TestTrial made_;
};

TEST_F(TrialTest, NamesAreFilteredByStepModeRegexAndCollection) {
  Trial& trial = made_.Open();
  EXPECT_THAT(trial.TensorNames(),
              ElementsAre("conv.weight", "fc.bias", "fc.weight"));
  EXPECT_THAT(trial.TensorNames({.step = 0}),
              ElementsAre("fc.bias", "fc.weight"));
  EXPECT_THAT(trial.TensorNames({.mode = Mode::kEval}),
              ElementsAre("fc.bias", "fc.weight"));
  EXPECT_THAT(trial.TensorNames({.step = 2, .mode = Mode::kTrain}),
              ElementsAre("conv.weight", "fc.bias", "fc.weight"));
  EXPECT_THAT(trial.TensorNames({.regexes = {"^conv", "bias"}}),
              ElementsAre("conv.weight", "fc.bias"));
  EXPECT_THAT(trial.TensorNames({.collection = "weights"}),
              ElementsAre("conv.weight", "fc.weight"));
  EXPECT_THAT(trial.TensorNames({.collection = "picked"}),
              ElementsAre("fc.bias"));
  EXPECT_THAT(trial.TensorNames({.step = 0, .collection = "weights"}),
              ElementsAre("fc.weight"));
}

TEST_F(TrialTest, WhatIsUnknownFiltersEverythingOut) {
  Trial& trial = made_.Open();
  EXPECT_THAT(trial.TensorNames({.mode = Mode::kPredict}), IsEmpty());
  EXPECT_THAT(trial.TensorNames({.step = 99}), IsEmpty());
  EXPECT_THAT(trial.TensorNames({.step = 9, .mode = Mode::kEval}), IsEmpty());
  EXPECT_THAT(trial.TensorNames({.collection = "nope"}), IsEmpty());
  EXPECT_THAT(trial.TensorNames({.regexes = {"nope"}}), IsEmpty());
}

TEST_F(TrialTest, ABadFilterIsRefused) {
  Trial& trial = made_.Open();
  EXPECT_THROW(trial.TensorNames({.regexes = {"("}}), ConfigError);
  EXPECT_THROW(trial.TensorNames({.regexes = {"a"}, .collection = "weights"}),
               ConfigError);
}

TEST_F(TrialTest, TranslatesBetweenGlobalAndModeSteps) {
  Trial& trial = made_.Open();
  EXPECT_THAT(trial.Modes(), ElementsAre(Mode::kTrain, Mode::kEval));
  EXPECT_EQ(trial.ModeOf(3), Mode::kEval);
  EXPECT_EQ(trial.ModeStep(3), 0);
  EXPECT_EQ(trial.ModeOf(17), std::nullopt);
  EXPECT_EQ(trial.ModeStep(17), std::nullopt);
  EXPECT_EQ(trial.GlobalStep(Mode::kEval, 0), 3);
  EXPECT_EQ(trial.GlobalStep(Mode::kEval, 1), std::nullopt);
  EXPECT_EQ(trial.GlobalStep(Mode::kGlobal, 17), 17);
  EXPECT_THAT(trial.Steps(Mode::kTrain), ElementsAre(0, 1, 2));
  EXPECT_THAT(trial.Steps(Mode::kPredict), IsEmpty());
}

TEST_F(TrialTest, StepsWithoutAModeAreGlobal) {
  made_.run.Save(4);
  Trial& trial = made_.Open();
  EXPECT_EQ(trial.ModeOf(4), Mode::kGlobal);
  EXPECT_EQ(trial.ModeStep(4), 4);
  EXPECT_THAT(trial.Steps(), ElementsAre(0, 1, 2, 3, 4));
}

TEST_F(TrialTest, KnowsTheCollectionsOfTheRun) {
  Trial& trial = made_.Open();
  EXPECT_EQ(trial.Collections().size(), 2u);
  EXPECT_THAT(trial.FindCollection("weights")->include_regex,
              ElementsAre("weight$"));
  EXPECT_EQ(trial.FindCollection("nope"), std::nullopt);
  EXPECT_THAT(trial.Workers(), ElementsAre("worker_0"));
  EXPECT_EQ(trial.num_workers(), 1);
}

TEST_F(TrialTest, CollectionsThatGainNamesAreReadAgain) {
  Trial& trial = made_.Open();
  Collection custom;
  custom.name = "custom";
  custom.tensor_names = {"fc.bias"};
  made_.run.Declare({"worker_0"}, 1, {{"custom", custom}});
  EXPECT_THAT(trial.TensorNames({.collection = "custom"}),
              ElementsAre("fc.bias"));
  EXPECT_EQ(trial.FindCollection("weights"), std::nullopt);
}

TEST_F(TrialTest, SeesNewStepsUntilTheJobEnds) {
  Trial& trial = made_.Open();
  EXPECT_EQ(trial.Steps().back(), 3);
  made_.run.Save(10);
  EXPECT_EQ(trial.Steps().back(), 10);
  EXPECT_FALSE(trial.loaded_all_steps());
  made_.run.Save(11);
  made_.run.End();
  EXPECT_EQ(trial.Steps().back(), 11);
  EXPECT_TRUE(trial.loaded_all_steps());
  made_.run.Save(12);
  EXPECT_EQ(trial.Steps().back(), 11);
}

TEST_F(TrialTest, RefreshingCanBeTurnedOffAndComesBackAsItWas) {
  Trial& trial = made_.Open();
  made_.run.Save(10);
  {
    const RefreshScope off(&trial, false);
    EXPECT_EQ(trial.Steps().back(), 3);
    {
      const RefreshScope on(&trial, true);
      EXPECT_EQ(trial.Steps().back(), 10);
    }
    EXPECT_FALSE(trial.refreshing());
  }
  EXPECT_TRUE(trial.refreshing());
}

TEST_F(TrialTest, ARangeOfStepsReadsNoOthers) {
  TrialOptions options = TestTrial::Options();
  options.begin_step = 1;
  options.end_step = 3;
  testing::PutFile(*made_.storage, run::IndexFileKey(0, "worker_0"), "junk");
  Trial& trial = made_.Open(options);
  EXPECT_THAT(trial.Steps(), ElementsAre(1, 2));
  EXPECT_THAT(trial.damage(), IsEmpty());
}

TEST_F(TrialTest, ARangeThatHoldsNothingIsRefused) {
  for (const auto& [begin, end] :
       std::vector<std::pair<int64_t, int64_t>>{{3, 3}, {4, 3}, {-1, 3}}) {
    TestTrial made;
    TrialOptions options = TestTrial::Options();
    options.begin_step = begin;
    options.end_step = end;
    EXPECT_THROW(made.Open(options), ConfigError) << begin;
  }
}

TEST(TrialOpenTest, WaitsForTheCollectionsOfEveryWorker) {
  TestTrial made;
  made.run.Declare({"worker_0"}, 2);
  TestRun run = made.run;
  std::thread late([run]() mutable { run.Declare({"worker_1"}, 2); });
  Trial& trial = made.Open();
  late.join();
  EXPECT_THAT(trial.Workers(), ElementsAre("worker_0", "worker_1"));
}

TEST(TrialOpenTest, CollectionsThatNeverCameEndTheWait) {
  TestTrial made;
  made.run.Declare({"worker_0"}, 2);
  made.run.End();
  EXPECT_THROW(made.Open(), MissingCollectionFiles);
}

TEST(TrialOpenTest, OfAJobThatHasEndedWhatIsThereOpens) {
  TestTrial made;
  made.run.Declare({"worker_0"}, 2);
  made.run.Save(3);
  testing::PutFile(*made.storage, run::LedgerKey("worker_0"),
                   ToJson(run::Ledger{.worker = "worker_0",
                                      .num_workers = 2,
                                      .run = "some",
                                      .closed = true,
                                      .ending = "finished"}));
  Trial& trial = made.Open();
  EXPECT_EQ(trial.run_info().state, RunState::kKilled);
  EXPECT_THAT(trial.Workers(), ElementsAre("worker_0"));
  EXPECT_THAT(trial.Steps(), ElementsAre(3));
}

TEST(TrialOpenTest, WithoutWaitingOpensWhatIsThere) {
  TrialOptions options = TestTrial::Options();
  options.wait_for_run = false;
  TestTrial made;
  made.run.Save(3);
  Trial& trial = made.Open(options);
  EXPECT_THAT(trial.Steps(), ElementsAre(3));
  EXPECT_THAT(trial.Collections(), IsEmpty());

  TestTrial empty;
  testing::PutFile(*empty.storage, "notes.txt", "not a run");
  try {
    empty.Open(options);
    FAIL();
  } catch (const FormatError& error) {
    EXPECT_THAT(error.what(), HasSubstr("holds no run"));
  }
}

TEST(TrialOpenTest, TheNameIsTheLastPartOfThePath) {
  TestTrial made;
  made.run.Declare({"worker_0"});
  TrialOptions options = TestTrial::Options();
  options.name = "mine";
  EXPECT_EQ(made.Open(options).name(), "mine");
}

TEST(TrialDeviceTest, DeviceNamesOfWorkersAreDecoded) {
  const std::string device = "/job:worker/replica:0/task:1/device:GPU:0";
  TestTrial made;
  made.run.Declare({device});
  made.run.Save(0, device);
  Trial& trial = made.Open();
  EXPECT_THAT(trial.Workers(), ElementsAre(device));
  EXPECT_THAT(trial.tensor("x").Workers(0), ElementsAre(device));
  EXPECT_EQ(trial.tensor("x").At(0, Mode::kGlobal, device).Get(0), 0);
  EXPECT_EQ(trial.last_index_token(),
            "index/000000000/"
            "000000000000__job-worker_replica-0_task-1_device-GPU-0.json");
}

TEST(TrialEndTest, ClosedLedgersMakeTheEndDelayNeedless) {
  TestTrial made;
  made.run.Declare({"worker_0"});
  made.run.Save(0);
  run::Ledger ledger;
  ledger.worker = "worker_0";
  ledger.closed = true;
  testing::PutFile(*made.storage, run::LedgerKey("worker_0"), ToJson(ledger));
  made.run.End();
  TrialOptions options = TestTrial::Options();
  options.end_delay = std::chrono::hours(1);
  Trial& trial = made.Open(options);
  EXPECT_THAT(trial.Steps(), ElementsAre(0));
  EXPECT_TRUE(trial.loaded_all_steps());
}

TEST(TrialInputsTest, InputsLabelsAndPredictionsComeInTheOrderOfTheirNumber) {
  TestTrial made;
  Collection inputs;
  inputs.name = "inputs";
  inputs.include_regex = {"^input"};
  made.run.Declare({"worker_0"}, 1, {{"inputs", inputs}});
  made.run.At(0)
      .Tensor("input_10", {10})
      .Tensor("input_2", {2})
      .Tensor("labels_0", {7})
      .Tensor("predictions", {8})
      .Publish();
  Trial& trial = made.Open();
  const std::vector<Value> values = trial.Inputs(0);
  ASSERT_EQ(values.size(), 2u);
  EXPECT_EQ(values[0].Get(0), 2);
  EXPECT_EQ(values[1].Get(0), 10);
  ASSERT_EQ(trial.Labels(0).size(), 1u);
  EXPECT_EQ(trial.Labels(0)[0].Get(0), 7);
  ASSERT_EQ(trial.Predictions(0).size(), 1u);
  EXPECT_EQ(trial.Predictions(0)[0].Get(0), 8);
}

TEST(TrialThreadsTest, ManyThreadsWaitAndRead) {
  TestTrial made;
  made.run.Declare({"worker_0"});
  Trial& trial = made.Open();
  constexpr int64_t kSteps = 50;
  std::vector<std::jthread> readers;
  readers.reserve(4);
  for (int i = 0; i < 4; ++i) {
    readers.emplace_back([&trial] {
      for (int64_t step = 0; step < kSteps; ++step) {
        trial.WaitForSteps({&step, 1});
        EXPECT_EQ(trial.tensor("x").At(step).Get(0), static_cast<double>(step));
      }
    });
  }
  for (int64_t step = 0; step < kSteps; ++step) made.run.Save(step);
}

}  // namespace
}  // namespace smdebug::trial
