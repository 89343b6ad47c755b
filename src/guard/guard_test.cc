#include "smdebug/guard.h"

#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <future>
#include <limits>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "smdebug/error.h"
#include "tests/testing/fault_storage.h"
#include "tests/testing/hook.h"
#include "tests/testing/log_capture.h"
#include "tests/testing/sanitizer.h"
#include "tests/testing/temp_dir.h"

namespace smdebug {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::SaveEverything;
using testing::SaveFloats;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

class GuardTest : public ::testing::Test {
 protected:
  std::unique_ptr<Hook> Open(const Worker& worker = {}) {
    HookConfig config = SaveEverything(run());
    config.include_workers = IncludeWorkers::kAll;
    return std::make_unique<Hook>(config, worker);
  }

  static std::vector<RuleEvaluation> Rules(
      std::initializer_list<std::string> specs) {
    std::vector<RuleEvaluation> rules;
    for (const std::string& spec : specs) {
      rules.push_back(ToEvaluation(ParseRuleSpec(spec)));
    }
    return rules;
  }

  std::string run() const { return (dir_.path() / "run").string(); }

  testing::TempDir dir_;
};

TEST_F(GuardTest, AStepIsJudgedWhileTheJobRuns) {
  auto hook = Open();
  std::promise<RuleReport> told;
  RuleGuard guard(*hook, Rules({"ExplodingTensor"}), [&](const RuleFire& fire) {
    told.set_value({.name = fire.evaluation.name,
                    .findings = {fire.findings.begin(), fire.findings.end()}});
  });
  hook->BeginStep();
  SaveFloats(*hook, "weight", {1, 2});
  hook->BeginStep();
  SaveFloats(*hook, "weight", {1, kNan});
  EXPECT_EQ(guard.fired_rules(), 0);
  hook->EndStep();
  const RuleReport report = told.get_future().get();
  EXPECT_EQ(report.name, "ExplodingTensor");
  ASSERT_EQ(report.findings.size(), 1u);
  EXPECT_EQ(report.findings[0].step, 1);
  EXPECT_EQ(report.findings[0].tensor, "weight");
  EXPECT_EQ(guard.fired_rules(), 1);
  hook->Close();
  EXPECT_EQ(guard.reports()[0].status, RuleStatus::kIssuesFound);
  EXPECT_THAT(guard.reports()[0].fired_steps, ElementsAre(1));
  EXPECT_TRUE(std::filesystem::exists(run() + "/rules/ExplodingTensor.json"));
}

TEST_F(GuardTest, AHealthyJobEndsWithoutIssues) {
  auto hook = Open();
  RuleGuard guard(*hook, Rules({"ExplodingTensor", "ExplodingTensor"}));
  for (int step = 0; step < 5; ++step) {
    hook->BeginStep();
    SaveFloats(*hook, "weight", {1, 2});
  }
  hook->Close();
  EXPECT_EQ(guard.fired_rules(), 0);
  EXPECT_FALSE(guard.first_fired());
  const auto reports = guard.reports();
  ASSERT_EQ(reports.size(), 2u);
  EXPECT_EQ(reports[1].name, "ExplodingTensor-2");
  for (const RuleReport& report : reports) {
    EXPECT_EQ(report.status, RuleStatus::kNoIssuesFound);
    EXPECT_EQ(report.steps_judged, 5);
    EXPECT_TRUE(report.ended);
  }
}

TEST_F(GuardTest, AJobThatStopsWhenARuleFiresHearsOfItOnce) {
  const testing::LogCapture log;
  auto hook = Open();
  RuleGuard guard(*hook, Rules({"ExplodingTensor"}));
  guard.ThrowIfFired();
  for (int step = 0; step < 2; ++step) {
    hook->BeginStep();
    SaveFloats(*hook, "weight", {kNan});
  }
  hook->EndStep();
  while (guard.reports()[0].steps_judged < 2) std::this_thread::yield();
  try {
    guard.ThrowIfFired();
    FAIL() << "it has fired";
  } catch (const RuleFired& fired) {
    EXPECT_EQ(fired.rule(), "ExplodingTensor");
    EXPECT_EQ(fired.step(), 0);
  }
  guard.ThrowIfFired();
  hook->Close();
  ASSERT_TRUE(guard.first_fired());
  EXPECT_EQ(guard.first_fired()->rule(), "ExplodingTensor");
  EXPECT_EQ(guard.first_fired()->step(), 0);
  EXPECT_THAT(
      log.lines(),
      ElementsAre(HasSubstr("ExplodingTensor fired at step 0: weight")));
}

TEST_F(GuardTest, ARuleThatCannotJudgeTheJobIsTold) {
  const testing::LogCapture log;
  auto hook = Open();
  RuleGuard guard(*hook,
                  Rules({"VanishingGradient", "ExplodingTensor",
                         "ExplodingTensor:tensor_regex=weight,wieght"}),
                  {}, RuleGuard::WhenFired::kStop);
  for (int step = 0; step < 2; ++step) {
    hook->BeginStep();
    SaveFloats(*hook, "weight", {1, 2});
  }
  hook->Close();
  EXPECT_EQ(guard.reports()[0].status, RuleStatus::kError);
  EXPECT_EQ(guard.reports()[1].status, RuleStatus::kNoIssuesFound);
  EXPECT_THAT(log.lines(),
              ElementsAre(AllOf(HasSubstr("VanishingGradient could not judge"),
                                HasSubstr("needs collection gradients")),
                          AllOf(HasSubstr("ExplodingTensor-2 could not judge"),
                                HasSubstr("match 'wieght'"))));
}

TEST_F(GuardTest, WhatRulesNeedIsSavedAtTheIntervalThatTheyState) {
  const testing::LogCapture log;
  HookConfig config;
  config.out_dir = run();
  config.reduction_config =
      ReductionConfig{.reductions = {{ReductionOp::kMax}}};
  Hook hook(config);
  const RuleGuard guard(
      hook, Rules({"WeightUpdateRatio", "VanishingGradient",
                   "VanishingGradient:threshold=0.5", "ExplodingTensor"}));
  EXPECT_THAT(log.lines(),
              ElementsAre("Saved for rules, too: weights every 500 steps "
                          "(WeightUpdateRatio), gradients every 500 steps "
                          "(VanishingGradient, VanishingGradient-2)"));
  for (int step = 0; step <= 500; ++step) {
    hook.BeginStep();
    EXPECT_EQ(hook.StepIsDue(), step % 500 == 0);
    SaveFloats(hook, "weight", {1, 2});
    SaveFloats(hook, "gradient/weight", {0.1f});
  }
  hook.Close();
  const auto reports = guard.reports();
  EXPECT_EQ(reports[0].status, RuleStatus::kIssuesFound);  // Unchanged.
  EXPECT_EQ(reports[1].status, RuleStatus::kNoIssuesFound);
  EXPECT_THAT(reports[2].fired_steps, ElementsAre(0, 500));
  EXPECT_EQ(reports[1].steps_judged, 2);
}

TEST_F(GuardTest, WhatIsSavedOrConfiguredStaysAsItIs) {
  const testing::LogCapture log;
  HookConfig config;
  config.out_dir = run();
  config.include_collections = {"weights"};
  config.save_config = SaveConfig::Every({.save_interval = 3});
  EditCollection(config, "gradients").save_config =
      SaveConfig::Every({.save_interval = 2});
  Hook hook(config);
  const RuleGuard guard(hook, Rules({"WeightUpdateRatio", "VanishingGradient",
                                     "LossNotDecreasing"}));
  EXPECT_THAT(log.lines(), ElementsAre("Saved for rules, too: gradients every "
                                       "2 steps (VanishingGradient)"));
  EXPECT_EQ(hook.config().collections, config.collections);
  EXPECT_THAT(hook.config().include_collections,
              ElementsAre("weights", "gradients"));
}

TEST_F(GuardTest, AHookThatSavesEverythingIsLeftAlone) {
  const testing::LogCapture log;
  auto hook = Open();
  const HookConfig before = hook->config();
  const RuleGuard guard(*hook, Rules({"VanishingGradient", "DeadRelu"}));
  EXPECT_EQ(hook->config(), before);
  EXPECT_THAT(log.lines(), IsEmpty());
}

TEST_F(GuardTest, NothingStopsAJobWhoseHookIsClosed) {
  auto hook = Open();
  RuleGuard guard(*hook, Rules({"ExplodingTensor"}));
  hook->BeginStep();
  SaveFloats(*hook, "weight", {kNan});
  hook->Close();
  EXPECT_EQ(guard.fired_rules(), 1);
  guard.ThrowIfFired();
}

TEST_F(GuardTest, AForkedChildKnowsOfNothing) {
  auto hook = Open();
  RuleGuard guard(*hook, Rules({"ExplodingTensor"}));
  hook->BeginStep();
  SaveFloats(*hook, "weight", {kNan});
  hook->EndStep();
  while (guard.fired_rules() == 0) std::this_thread::yield();
  const pid_t child = fork();
  if (child == 0) {
    try {
      guard.ThrowIfFired();
      const bool knows = guard.fired_rules() > 0 || !guard.reports().empty();
      _exit(knows ? 1 : 0);
    } catch (...) {
      _exit(2);
    }
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_THROW(guard.ThrowIfFired(), RuleFired);
}

// The last step is written, and judged, only by Close().
TEST_F(GuardTest, AJobThatARuleWasToStopHasFailedHoweverLateItFires) {
  using enum RuleGuard::WhenFired;
  for (const auto when_fired : {kStop, kGoOn}) {
    const auto storage = OpenMemoryStorage();
    Hook hook(SaveEverything(), {}, {}, storage, nullptr);
    const RuleGuard guard(hook, Rules({"ExplodingTensor"}), {}, when_fired);
    hook.BeginStep();
    SaveFloats(hook, "weight", {1});
    hook.BeginStep();
    SaveFloats(hook, "weight", {kNan});
    hook.Close();
    const RunInfo info = LookAtRun(*storage);
    EXPECT_EQ(info.state,
              when_fired == kStop ? RunState::kFailed : RunState::kFinished);
    EXPECT_EQ(info.reason, when_fired == kStop
                               ? "rule ExplodingTensor fired at step 1"
                               : "");
  }
}

TEST_F(GuardTest, AJobThatARuleWasToStopKeepsAnEndingOfItsOwn) {
  const auto storage = OpenMemoryStorage();
  Hook hook(SaveEverything(), {}, {}, storage, nullptr);
  const RuleGuard guard(hook, Rules({"ExplodingTensor"}), {},
                        RuleGuard::WhenFired::kStop);
  hook.BeginStep();
  SaveFloats(hook, "weight", {kNan});
  hook.Close(Ending::kInterrupted, "SIGTERM");
  EXPECT_EQ(LookAtRun(*storage).state, RunState::kInterrupted);
  EXPECT_EQ(LookAtRun(*storage).reason, "SIGTERM");
}

TEST_F(GuardTest, AWorkerThatComesAgainIsToldAgain) {
  if (testing::kUnderThreadSanitizer) GTEST_SKIP() << "a child with threads";
  auto other = Open(Worker::OfRank(1, 2));
  const auto judge_one_step = [](Hook* hook) {
    const RuleGuard guard(*hook, Rules({"ExplodingTensor"}));
    hook->BeginStep();
    SaveFloats(*hook, "weight", {kNan});
    hook->EndStep();
    hook->Flush();
    return guard.fired_rules();
  };
  const pid_t child = fork();
  if (child == 0) {
    try {
      // Without closing, as one that is killed.
      Hook* const killed = Open(Worker::OfRank(0, 2)).release();
      _exit(static_cast<int>(judge_one_step(killed)));
    } catch (...) {
      _exit(9);
    }
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 1);
  const auto again = Open(Worker::OfRank(0, 2));
  EXPECT_EQ(judge_one_step(again.get()), 1);
  EXPECT_TRUE(std::filesystem::exists(run() + "/previous/1"));
}

TEST_F(GuardTest, OnlyWhatThisProcessSavedIsJudged) {
  auto first = Open(Worker::OfRank(0, 2));
  auto second = Open(Worker::OfRank(1, 2));
  RuleGuard guard(*second, Rules({"ExplodingTensor"}));
  first->BeginStep();
  SaveFloats(*first, "weight", {kNan});
  first->EndStep();
  second->BeginStep();
  SaveFloats(*second, "weight", {1});
  second->Close();
  first->Close();
  EXPECT_EQ(guard.fired_rules(), 0);
  EXPECT_EQ(guard.reports()[0].steps_judged, 1);
}

TEST_F(GuardTest, BadRulesAreRefusedAtOnce) {
  auto hook = Open();
  EXPECT_THROW(RuleGuard(*hook, Rules({"AllZero"})), InsufficientInformation);
  EXPECT_THROW(RuleGuard(*hook, Rules({"ExplodingTensor:only_nan=maybe"})),
               ConfigError);
  EXPECT_THROW(
      RuleGuard(*hook, Rules({R"(ExplodingTensor{"action_json": "{}"})"})),
      ConfigError);
  hook->BeginStep();
  EXPECT_THROW(RuleGuard(*hook, Rules({"ExplodingTensor"})), Error);
}

TEST_F(GuardTest, AFolderThatGoesAwayDoesNotHarmTheJob) {
  auto hook = Open();
  RuleGuard guard(*hook, Rules({"ExplodingTensor"}));
  hook->BeginStep();
  SaveFloats(*hook, "weight", {1});
  hook->EndStep();
  while (guard.reports()[0].steps_judged == 0) std::this_thread::yield();
  std::filesystem::rename(run(), run() + "_gone");
  hook->BeginStep();
  SaveFloats(*hook, "weight", {kNan});
  hook->Close();
  EXPECT_EQ(hook->stats().steps_saved, 2);
  EXPECT_EQ(hook->stats().lost, 0);
  EXPECT_EQ(guard.reports()[0].status, RuleStatus::kIssuesFound);
  EXPECT_THAT(guard.reports()[0].fired_steps, ElementsAre(1));
}

TEST_F(GuardTest, AStoreThatCannotBeReadEndsTheRulesAndNotTheJob) {
  const auto faulty =
      std::make_shared<testing::FaultStorage>(OpenMemoryStorage());
  Hook hook(SaveEverything(), {}, {}, faulty, nullptr);
  RuleGuard guard(hook, Rules({"ExplodingTensor"}));
  hook.BeginStep();
  SaveFloats(hook, "weight", {1});
  hook.EndStep();
  while (guard.reports()[0].steps_judged == 0) std::this_thread::yield();
  faulty->plan().FailAll(testing::Operation::kList, EIO);
  for (int step = 1; step < 4; ++step) {
    hook.BeginStep();
    SaveFloats(hook, "weight", {kNan});
  }
  hook.Close();
  EXPECT_GT(faulty->plan().failures(), 0u);
  EXPECT_EQ(hook.stats().steps_saved, 4);
  EXPECT_EQ(hook.stats().lost, 0);
  EXPECT_EQ(guard.fired_rules(), 0);
  EXPECT_EQ(guard.reports()[0].status, RuleStatus::kError);
  EXPECT_THAT(guard.reports()[0].details, HasSubstr("list"));
}

TEST_F(GuardTest, ALongJobIsJudgedToItsEnd) {
  Hook hook(SaveEverything(), {}, {}, OpenMemoryStorage(), nullptr);
  RuleGuard guard(hook, Rules({"LossNotDecreasing:num_steps=5"}));
  for (int step = 0; step < 2100; ++step) {
    hook.BeginStep();
    SaveFloats(hook, "loss",
               {step < 2050 ? 1.0f / static_cast<float>(step + 1) : 1.0f});
  }
  hook.Close();
  const RuleReport report = guard.reports()[0];
  EXPECT_EQ(report.steps_judged, 2100);
  EXPECT_EQ(report.fired_steps.front(), 2050);
}

// The rule begins late and asks for the loss 2,400 steps ago, which would make
// it fire if it were still known.
TEST_F(GuardTest, StepsOfLongAgoAreForgotten) {
  Hook hook(SaveEverything(), {}, {}, OpenMemoryStorage(), nullptr);
  RuleGuard guard(hook,
                  Rules({"LossNotDecreasing:num_steps=2400:start_step=2500"}));
  for (int step = 0; step < 2600; ++step) {
    hook.BeginStep();
    SaveFloats(hook, "loss", {1});
  }
  hook.Close();
  const RuleReport report = guard.reports()[0];
  EXPECT_EQ(report.steps_judged, 100);
  EXPECT_EQ(report.status, RuleStatus::kNoIssuesFound);
}

}  // namespace
}  // namespace smdebug
