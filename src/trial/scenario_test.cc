// What a trial says about steps, scenario by scenario: workers that skip
// steps, die, or finish; with and without the end marker.

#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "smdebug/error.h"
#include "smdebug/trial.h"
#include "src/run/keys.h"
#include "tests/testing/trial_run.h"

namespace smdebug::trial {
namespace {

using testing::TestTrial;

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;

constexpr StepState kA = StepState::kAvailable;
constexpr StepState kU = StepState::kUnavailable;
constexpr StepState kN = StepState::kNotYetAvailable;

struct Query {
  int64_t step;
  StepState with_end;
  StepState without_end;
  Mode mode = Mode::kGlobal;
};

// Who wrote which steps, and what a reader must say.
struct Scenario {
  const char* name;
  std::vector<std::string> workers;
  // Per step: the workers that wrote it, by first letter.
  std::vector<std::pair<int64_t, std::string>> steps;
  std::optional<bool> end;  // Unset: both ways are tried.
  std::vector<int64_t> listed;
  int64_t last_complete;
  int64_t token_step;
  std::vector<Query> queries;
};

const std::vector<std::string> kOne = {"a"};
const std::vector<std::string> kThree = {"a", "b", "c"};

std::vector<Scenario> Scenarios() {
  return {
      {"OneWorkerAll",
       kOne,
       {{0, "a"}, {1, "a"}, {2, "a"}, {3, "a"}, {4, "a"}, {5, "a"}, {6, "a"}},
       std::nullopt,
       {0, 1, 2, 3, 4, 5, 6},
       6,
       6,
       {{3, kA, kA}, {8, kU, kN}}},
      {"OneWorkerSkipsFour",
       kOne,
       {{0, "a"}, {1, "a"}, {2, "a"}, {3, "a"}, {5, "a"}, {6, "a"}},
       std::nullopt,
       {0, 1, 2, 3, 5, 6},
       6,
       6,
       {{4, kU, kU}, {8, kU, kN}}},
      {"ThreeWorkersAll",
       kThree,
       {{0, "abc"},
        {1, "abc"},
        {2, "abc"},
        {3, "abc"},
        {4, "abc"},
        {5, "abc"},
        {6, "abc"}},
       std::nullopt,
       {0, 1, 2, 3, 4, 5, 6},
       6,
       6,
       {{8, kU, kN}}},
      {"OneOfThreeStopsAndTheJobEnds",
       kThree,
       {{0, "abc"},
        {1, "abc"},
        {2, "abc"},
        {3, "ac"},
        {4, "ac"},
        {5, "ac"},
        {6, "ac"}},
       true,
       {0, 1, 2, 3, 4, 5, 6},
       6,
       2,
       {{3, kA, kA}, {4, kA, kA}, {6, kA, kA}, {8, kU, kU}}},
      {"OneOfThreeStopsAndTheJobGoesOn",
       kThree,
       {{0, "abc"},
        {1, "abc"},
        {2, "abc"},
        {3, "ac"},
        {4, "ac"},
        {5, "ac"},
        {6, "ac"}},
       false,
       {0, 1, 2},
       2,
       2,
       {{2, kA, kA}, {4, kN, kN}, {6, kN, kN}, {8, kN, kN}}},
      {"OneOfThreeSkipsAndComesBack",
       kThree,
       {{0, "abc"},
        {1, "abc"},
        {2, "abc"},
        {3, "ac"},
        {4, "ac"},
        {5, "ac"},
        {6, "abc"}},
       false,
       {0, 1, 2, 3, 4, 5, 6},
       6,
       6,
       {{4, kA, kA}, {6, kA, kA}, {8, kN, kN}}},
      {"StepThreeIsAbsentAndLaterOnesComplete",
       kThree,
       {{0, "abc"}, {1, "abc"}, {2, "abc"}, {4, "ac"}, {5, "ac"}, {6, "abc"}},
       false,
       {0, 1, 2, 4, 5, 6},
       6,
       6,
       {{3, kU, kU}, {4, kA, kA}, {8, kN, kN}}},
      {"StepThreeIsAbsentAndLaterOnesIncomplete",
       kThree,
       {{0, "abc"}, {1, "abc"}, {2, "abc"}, {4, "ac"}, {5, "ac"}, {6, "ac"}},
       false,
       {0, 1, 2},
       2,
       2,
       {{3, kN, kN}, {4, kN, kN}, {6, kN, kN}, {8, kN, kN}}},
      {"StepThreeIsAbsentAndTheJobEnds",
       kThree,
       {{0, "abc"}, {1, "abc"}, {2, "abc"}, {4, "ac"}, {5, "ac"}, {6, "ac"}},
       true,
       {0, 1, 2, 4, 5, 6},
       6,
       2,
       {{3, kU, kU}, {4, kA, kA}, {6, kA, kA}, {8, kU, kU}}},
  };
}

class ScenarioTest : public ::testing::TestWithParam<Scenario> {
 protected:
  void Check(bool end) {
    const Scenario& scenario = GetParam();
    TestTrial made;
    made.run.Declare(scenario.workers);
    for (const auto& [step, writers] : scenario.steps) {
      for (const char writer : writers) made.run.Save(step, {writer});
    }
    if (end) made.run.End();
    Trial& trial = made.Open();
    EXPECT_FALSE(trial.loaded_all_steps());

    EXPECT_THAT(trial.Steps(), ElementsAreArray(scenario.listed));
    std::vector<int64_t> written;
    for (const auto& [step, writers] : scenario.steps) written.push_back(step);
    EXPECT_EQ(trial.Steps(Mode::kGlobal, true), written);
    EXPECT_EQ(trial.loaded_all_steps(), end);
    EXPECT_EQ(trial.last_complete_step(), scenario.last_complete);
    EXPECT_EQ(trial.last_index_token(),
              run::IndexFileKey(scenario.token_step, scenario.workers.back()));
    for (const Query& query : scenario.queries) {
      EXPECT_EQ(trial.HasPassedStep(query.step, query.mode),
                end ? query.with_end : query.without_end)
          << query.step;
    }
    EXPECT_EQ(trial.tensor("x").Steps(), scenario.listed);
  }
};

TEST_P(ScenarioTest, SaysWhichStepsHavePassed) {
  const std::optional<bool> end = GetParam().end;
  if (end.value_or(true)) Check(true);
  if (!end.value_or(false)) Check(false);
}

INSTANTIATE_TEST_SUITE_P(All, ScenarioTest, ::testing::ValuesIn(Scenarios()),
                         [](const auto& test) { return test.param.name; });

TEST(ModeScenarioTest, ModesCountTheirOwnSteps) {
  for (const bool end : {true, false}) {
    TestTrial made;
    made.run.Declare({"a"});
    for (const int64_t step : {0, 10, 20, 30}) {
      made.run.Save(step, "a", Mode::kTrain, step);
      made.run.Save(40 + step, "a", Mode::kEval, step);
    }
    if (end) made.run.End();
    Trial& trial = made.Open();
    EXPECT_THAT(trial.Steps(), ElementsAre(0, 10, 20, 30, 40, 50, 60, 70));
    EXPECT_EQ(trial.last_complete_step(), 70);
    EXPECT_EQ(trial.last_index_token(), run::IndexFileKey(70, "a"));
    EXPECT_EQ(trial.HasPassedStep(23, Mode::kTrain), kU);
    EXPECT_EQ(trial.HasPassedStep(40, Mode::kTrain), end ? kU : kN);
    EXPECT_EQ(trial.HasPassedStep(23, Mode::kEval), kU);
    EXPECT_EQ(trial.HasPassedStep(80), end ? kU : kN);
    EXPECT_EQ(trial.HasPassedStep(30, Mode::kEval), kA);
    EXPECT_EQ(trial.HasPassedStep(0, Mode::kPredict), end ? kU : kN);
    EXPECT_THAT(trial.Steps(Mode::kEval), ElementsAre(0, 10, 20, 30));
  }
}

TEST(WaitScenarioTest, WaitingEndsWhenAStepCanNeverCome) {
  TestTrial made;
  made.run.Declare({"a"});
  for (const int64_t step : {0, 1, 2, 3, 5, 6}) made.run.Save(step, "a");
  Trial& trial = made.Open();
  EXPECT_TRUE(trial.WaitForSteps(std::vector<int64_t>{0, 3, 6}));
  EXPECT_THROW(trial.WaitForSteps(std::vector<int64_t>{3, 4, 5}),
               StepUnavailable);
  EXPECT_FALSE(trial.WaitForSteps(std::vector<int64_t>{7}, Mode::kGlobal,
                                  std::chrono::milliseconds(5)));
  made.run.End();
  try {
    trial.WaitForSteps(std::vector<int64_t>{7});
    FAIL();
  } catch (const NoMoreData& error) {
    EXPECT_EQ(error.step(), 7);
    EXPECT_EQ(error.mode(), Mode::kGlobal);
    EXPECT_EQ(error.last_step(), 6);
  }
  EXPECT_THROW(trial.WaitForSteps(std::vector<int64_t>{4}), StepUnavailable);
}

// Twenty steps by one of three workers, with a window of ten.
TEST(WindowScenarioTest, HalfAWindowIsGivenUpPerRefresh) {
  TestTrial made;
  made.run.Declare({"worker_0", "worker_1", "worker_2"});
  for (int64_t step = 0; step < 20; ++step) made.run.Save(step);
  TrialOptions options = TestTrial::Options();
  options.incomplete_window = 10;
  Trial& trial = made.Open(options);
  EXPECT_EQ(trial.last_complete_step(), 4);
  EXPECT_EQ(trial.last_index_token(),
            "index/000000000/000000000004_worker_2.json");
  trial.Refresh();
  EXPECT_EQ(trial.last_complete_step(), 9);
  trial.Refresh();
  EXPECT_EQ(trial.last_complete_step(), 9);
  EXPECT_EQ(trial.last_index_token(),
            "index/000000000/000000000009_worker_2.json");
  EXPECT_EQ(trial.HasPassedStep(9), kA);
  EXPECT_EQ(trial.HasPassedStep(10), kN);
}

TEST(WindowScenarioTest, TheWindowCountsStepsThatAreSavedNotTheirNumbers) {
  TestTrial made;
  made.run.Declare({"worker_0", "worker_1"});
  for (int64_t step = 0; step < 10; ++step) made.run.Save(500 * step);
  TrialOptions options = TestTrial::Options();
  options.incomplete_window = 10;
  Trial& trial = made.Open(options);
  EXPECT_EQ(trial.last_complete_step(), -1);
  made.run.Save(5000);
  trial.Refresh();
  EXPECT_EQ(trial.last_complete_step(), 2000);
}

TEST(WindowScenarioTest, WhatALateWorkerWroteIsFoundAtTheEnd) {
  TestTrial made;
  made.run.Declare({"worker_0", "worker_1"});
  for (int64_t step = 0; step < 9; ++step) made.run.Save(step);
  TrialOptions options = TestTrial::Options();
  options.incomplete_window = 4;
  Trial& trial = made.Open(options);
  trial.Refresh();
  ASSERT_GE(trial.last_complete_step(), 3);
  made.run.Save(0, "worker_1");
  made.run.End();
  trial.Refresh();
  EXPECT_TRUE(trial.loaded_all_steps());
  EXPECT_THAT(trial.tensor("x").Workers(0),
              ElementsAre("worker_0", "worker_1"));
}

}  // namespace
}  // namespace smdebug::trial
