#include "smdebug/invoker.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "smdebug/error.h"
#include "src/rules/engine/deferred_rule.h"
#include "src/rules/engine/interrupted.h"
#include "tests/testing/trial_run.h"

namespace smdebug::rules {
namespace {

using ::testing::ElementsAre;
using testing::GetFile;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::PutFile;
using testing::TestTrial;

// Gradients of one worker or more that are tiny at steps from 3 on.
class InvokerTest : public ::testing::Test {
 protected:
  void Declare(const std::vector<std::string>& workers) {
    Collection gradients;
    gradients.name = "gradients";
    gradients.include_regex = {"^gradient/"};
    made_.run.Declare(workers, static_cast<int64_t>(workers.size()),
                      {{"gradients", gradients}});
  }
  void Save(int64_t step, const std::string& worker = "worker_0") {
    const float size = step < 3 ? 1.0F : 1e-9F;
    made_.run.At(step, worker)
        .Tensor("gradient/a", {size, -size})
        .Tensor("gradient/b", {1})
        .Publish();
  }
  void SaveRun(int64_t steps) {
    Declare({"worker_0"});
    for (int64_t step = 0; step < steps; ++step) Save(step);
    made_.run.End();
  }

  Trial* Open() {
    if (!made_.trial) made_.Open().Steps();
    return made_.trial.get();
  }
  RuleReport Judge(const std::string& spec, InvokeOptions options = {}) {
    Invoker invoker(Open(), std::move(options));
    invoker.Add(ToEvaluation(ParseRuleSpec(spec)));
    EXPECT_TRUE(invoker.Run());
    return invoker.reports().front();
  }

  TestTrial made_;
};

TEST_F(InvokerTest, FindsStepsTensorsAndWorkers) {
  SaveRun(5);
  const RuleReport report = Judge("VanishingGradient");
  EXPECT_EQ(report.status, RuleStatus::kIssuesFound);
  EXPECT_THAT(report.fired_steps, ElementsAre(3, 4));
  EXPECT_EQ(report.findings_total, 2);
  EXPECT_EQ(report.findings[0].tensor, "gradient/a");
  EXPECT_EQ(report.findings[0].worker, "worker_0");
  EXPECT_EQ(report.findings[0].step, 3);
  EXPECT_EQ(report.steps_judged, 5);
  EXPECT_TRUE(report.ended);
}

TEST_F(InvokerTest, StepsOutsideTheRangeAreNotJudged) {
  SaveRun(8);
  RuleReport report =
      Judge("VanishingGradient", {.start_step = 4, .end_step = 6});
  EXPECT_THAT(report.fired_steps, ElementsAre(4, 5));
  report = Judge("VanishingGradient:end_step=3", {.start_step = 1});
  EXPECT_EQ(report.status, RuleStatus::kNoIssuesFound);
  EXPECT_EQ(report.steps_judged, 2);
}

TEST_F(InvokerTest, EachRuleHasItsOwnStepsInOnePass) {
  SaveRun(8);
  Invoker invoker(Open(), {});
  invoker.Add(ToEvaluation(ParseRuleSpec("VanishingGradient:end_step=3")));
  RuleEvaluation second = ToEvaluation(ParseRuleSpec("ExplodingTensor"));
  invoker.Add(second);
  invoker.Run();
  EXPECT_EQ(invoker.reports()[0].last_step, 2);
  EXPECT_EQ(invoker.reports()[1].last_step, 7);
  EXPECT_EQ(invoker.reports()[1].status, RuleStatus::kNoIssuesFound);
}

TEST_F(InvokerTest, StepsThatWereNotSavedArePassedOver) {
  Declare({"worker_0"});
  for (const int64_t step : {0, 10, 500}) Save(step);
  made_.run.End();
  EXPECT_THAT(Judge("VanishingGradient").fired_steps, ElementsAre(10, 500));
}

TEST_F(InvokerTest, WantOfACollectionIsSaid) {
  made_.run.Declare({"worker_0"});
  made_.run.Save(0);
  made_.run.End();
  const RuleReport report = Judge("VanishingGradient");
  EXPECT_EQ(report.status, RuleStatus::kError);
  EXPECT_EQ(report.details,
            "needs collection gradients, which this run does not save");
}

TEST_F(InvokerTest, WantOfValuesIsSaid) {
  made_.run.Declare({"worker_0"});
  for (int64_t step = 0; step < 3; ++step) {
    made_.run.At(step).Number("smdebug/reductions/min/x", 0).Publish();
  }
  made_.run.End();
  const RuleReport report = Judge("UnchangedTensor:tensor_regex=x");
  EXPECT_EQ(report.status, RuleStatus::kError);
  EXPECT_THAT(report.details, HasSubstr("'x'"));
}

TEST_F(InvokerTest, ARunWithoutStepsCannotBeJudged) {
  SaveRun(0);
  EXPECT_EQ(Judge("VanishingGradient").status, RuleStatus::kError);
  EXPECT_EQ(Judge("StalledTrainingRule").status, RuleStatus::kNoIssuesFound);
}

TEST_F(InvokerTest, ADamagedValueCostsItsStepAndTheVerdictOfWhoFindsNothing) {
  Declare({"worker_0"});
  for (int64_t step = 0; step < 5; ++step) Save(step);
  made_.run.End();
  const std::string key = run::EventFileKey(1, "worker_0");
  std::string content = GetFile(*made_.storage, key).value();
  content.resize(content.size() / 3);
  PutFile(*made_.storage, key, content);
  Invoker invoker(Open(), {});
  invoker.Add(ToEvaluation(ParseRuleSpec("VanishingGradient")));
  invoker.Add(ToEvaluation(ParseRuleSpec("ExplodingTensor")));
  invoker.Run();
  const std::vector<RuleReport> reports = invoker.reports();
  EXPECT_EQ(reports[0].status, RuleStatus::kIssuesFound);
  EXPECT_THAT(reports[0].fired_steps, ElementsAre(3, 4));
  EXPECT_EQ(reports[0].unreadable_steps, 1);
  EXPECT_EQ(reports[1].status, RuleStatus::kError);
  EXPECT_THAT(reports[1].details, HasSubstr("1 of 5 steps"));
  EXPECT_THAT(reports[1].details, HasSubstr(key));
}

TEST_F(InvokerTest, ADamagedIndexIsNoSilence) {
  Declare({"worker_0"});
  for (int64_t step = 0; step < 3; ++step) Save(step);
  PutFile(*made_.storage, run::IndexFileKey(1, "worker_0"), "{");
  made_.run.End();
  const RuleReport report = Judge("VanishingGradient");
  EXPECT_EQ(report.status, RuleStatus::kError);
  EXPECT_THAT(report.details, HasSubstr("index/"));
}

TEST_F(InvokerTest, BadRulesAreRefusedAtOnce) {
  SaveRun(1);
  Invoker invoker(Open(), {});
  EXPECT_THROW(
      invoker.Add(ToEvaluation(ParseRuleSpec("VanishingGradient:threshold=x"))),
      ConfigError);
  EXPECT_THROW(invoker.Add(ToEvaluation(ParseRuleSpec("AllZero"))),
               InsufficientInformation);
}

TEST_F(InvokerTest, EachWorkerIsJudgedApart) {
  Declare({"worker_0", "worker_1"});
  for (int64_t step = 0; step < 2; ++step) {
    made_.run.At(step, "worker_0").Tensor("gradient/a", {1}).Publish();
    made_.run.At(step, "worker_1").Tensor("gradient/a", {0}).Publish();
  }
  made_.run.End();
  EXPECT_EQ(Judge("VanishingGradient").status, RuleStatus::kNoIssuesFound);
  EXPECT_EQ(Judge("VanishingGradient", {.worker = "worker_1"}).findings_total,
            2);
  const RuleReport report = Judge("VanishingGradient", {.all_workers = true});
  EXPECT_EQ(report.findings_total, 2);
  EXPECT_EQ(report.findings[1].worker, "worker_1");
  EXPECT_THAT(report.fired_steps, ElementsAre(0, 1));
  EXPECT_EQ(report.steps_judged, 2);
}

TEST_F(InvokerTest, TellsEachFireOnceAndASecondCallOnlyWhatIsNew) {
  Declare({"worker_0"});
  for (int64_t step = 0; step < 5; ++step) Save(step);
  std::vector<std::pair<int64_t, bool>> told;
  InvokeOptions options;
  options.reports = made_.storage;
  options.on_fire = [&](const RuleFire& fire) {
    told.emplace_back(fire.findings.front().step, fire.is_first);
    return true;
  };
  made_.Open().Steps();
  const auto judge = [&] {
    Invoker invoker(made_.trial.get(), options);
    invoker.Add(ToEvaluation(ParseRuleSpec("VanishingGradient")));
    invoker.JudgeNewSteps();
    invoker.Finish(!made_.trial->loaded_all_steps());
    return invoker.reports().front();
  };
  judge();
  EXPECT_THAT(told, ElementsAre(std::pair(3, true), std::pair(4, false)));
  told.clear();
  Save(5);
  made_.run.End();
  made_.trial->Refresh();
  const RuleReport report = judge();
  EXPECT_THAT(told, ElementsAre(std::pair(5, false)));
  EXPECT_THAT(report.fired_steps, ElementsAre(3, 4, 5));
  told.clear();
  judge();
  EXPECT_THAT(told, IsEmpty());
}

TEST_F(InvokerTest, WhatCouldNotBeToldIsToldByTheNextCall) {
  SaveRun(5);
  std::vector<int64_t> told;
  int64_t reachable_from = 0;
  InvokeOptions options;
  options.reports = made_.storage;
  options.on_fire = [&](const RuleFire& fire) {
    told.push_back(fire.findings.front().step);
    return told.back() >= reachable_from;
  };
  const auto judge = [&] {
    told.clear();
    Judge("VanishingGradient", options);
    return told;
  };
  reachable_from = 5;
  EXPECT_THAT(judge(), ElementsAre(3, 4));
  EXPECT_THAT(judge(), ElementsAre(3, 4));
  // Who was told later knows that the rule fired.
  reachable_from = 4;
  EXPECT_THAT(judge(), ElementsAre(3, 4));
  EXPECT_THAT(judge(), IsEmpty());
}

TEST_F(InvokerTest, TheReportTellsOfAFindingBeforeAnybodyIsTold) {
  SaveRun(5);
  std::vector<std::string> seen;
  InvokeOptions options;
  options.reports = made_.storage;
  options.on_fire = [&](const RuleFire& fire) {
    const auto json = nlohmann::json::parse(
        GetFile(*made_.storage, "rules/VanishingGradient.json").value());
    seen.push_back(json["status"]);
    // Only then is it known that somebody was.
    EXPECT_LT(json["told"][0]["last_step"], fire.findings.front().step);
    return true;
  };
  Judge("VanishingGradient", options);
  EXPECT_THAT(seen, ElementsAre("IssuesFound", "IssuesFound"));
}

TEST_F(InvokerTest, ReportsDoNotMakeARunThatIsGoneAnew) {
  SaveRun(5);
  InvokeOptions options;
  options.reports = made_.storage;
  options.on_fire = [&](const RuleFire&) {
    for (const FileInfo& file : made_.storage->List("")) {
      made_.storage->Remove(file.key);
    }
    return true;
  };
  Judge("VanishingGradient", options);
  EXPECT_THAT(made_.storage->List(""), IsEmpty());
}

// A dry run beside the one that acts, both judging step by step: what either
// has told stays known.
TEST_F(InvokerTest, TwoThatJudgeAtOnceForgetNothingThatEitherTold) {
  SaveRun(5);
  Trial* trial = Open();
  std::vector<std::string> told;
  const auto judge = [&](const std::string& to) {
    InvokeOptions options;
    options.reports = made_.storage;
    options.told_to = to;
    options.on_fire = [&told, to](const RuleFire&) {
      told.push_back(to);
      return true;
    };
    auto invoker = std::make_unique<Invoker>(trial, std::move(options));
    invoker->Add(ToEvaluation(ParseRuleSpec("VanishingGradient")));
    return invoker;
  };
  const auto acts = judge("stop");
  const auto looks = judge("dry run stop");
  for (const auto& invoker : {acts.get(), looks.get()}) {
    invoker->JudgeNewSteps();
    invoker->Finish(/*stopped=*/false);
  }
  EXPECT_THAT(told,
              ElementsAre("stop", "stop", "dry run stop", "dry run stop"));
  told.clear();
  for (const std::string to : {"stop", "dry run stop"}) {
    EXPECT_TRUE(judge(to)->Run());
  }
  EXPECT_THAT(told, IsEmpty());
}

TEST_F(InvokerTest, KeepsTheReportInTheRun) {
  SaveRun(5);
  Judge("VanishingGradient", {.reports = made_.storage});
  const auto json = nlohmann::json::parse(
      GetFile(*made_.storage, "rules/VanishingGradient.json").value());
  EXPECT_EQ(json["status"], "IssuesFound");
  EXPECT_EQ(json["findings_total"], 2);
  EXPECT_EQ(json["last_step"], 4);
}

TEST_F(InvokerTest, ARuleThatIsStoppedSaysSo) {
  SaveRun(3);
  Invoker invoker(Open(), {.go_on = [] { return false; }});
  invoker.Add(ToEvaluation(ParseRuleSpec("VanishingGradient")));
  EXPECT_FALSE(invoker.Run());
  invoker.Finish(/*stopped=*/true);
  EXPECT_EQ(invoker.reports()[0].status, RuleStatus::kStopped);
}

class CalledOff final : public Rule {
 public:
  std::vector<Finding> Check(StepView& view) override {
    if (view.step() == 1) throw Interrupted();
    return {{.message = "so it is"}};
  }
};

TEST_F(InvokerTest, AStepWhoseVerdictWasCalledOffIsNotJudged) {
  SaveRun(3);
  RuleType type;
  type.name = "Own";
  type.make = [](const RuleParameters&) {
    return std::make_unique<CalledOff>();
  };
  Invoker invoker(Open(), {});
  invoker.Add({.name = "Own", .spec = {.name = "Own"}}, type);
  EXPECT_FALSE(invoker.Run());
  invoker.Finish(/*stopped=*/true);
  const RuleReport report = invoker.reports()[0];
  EXPECT_EQ(report.status, RuleStatus::kIssuesFound);
  EXPECT_EQ(report.steps_judged, 1);
  EXPECT_EQ(report.last_step, 0);
  EXPECT_FALSE(report.ended);
}

// Is true at each step, but answers only once it may.
class Slow final : public DeferredRule {
 public:
  using MayAnswer = std::function<bool(int64_t step)>;

  explicit Slow(MayAnswer may_answer) : may_answer_(std::move(may_answer)) {}

  void Ask(int64_t step) override { step_ = step; }
  bool HasAnswered(std::chrono::milliseconds /*wait*/) override {
    return may_answer_(step_);
  }
  double SecondsSinceAsked() const override { return 1; }
  void GiveUp() noexcept override {}
  std::vector<Finding> Check(StepView& view) override {
    EXPECT_EQ(view.step(), step_);
    return {{.message = "so it is"}};
  }

 private:
  const MayAnswer may_answer_;
  int64_t step_ = -1;
};

RuleType SlowType(const Slow::MayAnswer& may_answer) {
  RuleType type;
  type.name = "Slow";
  type.make = [may_answer](const RuleParameters&) {
    return std::make_unique<Slow>(may_answer);
  };
  return type;
}

TEST_F(InvokerTest, OthersGoOnWhileARuleIsSlow) {
  SaveRun(5);
  std::vector<int64_t> fired;
  InvokeOptions options;
  options.recent_steps = 1;
  options.on_fire = [&](const RuleFire& fire) {
    if (fire.evaluation.name == "VanishingGradient") {
      fired.push_back(fire.findings[0].step);
    }
    return true;
  };
  Invoker invoker(Open(), options);
  // From step 1 on it has no answer before the other rule is through.
  const RuleType slow = SlowType([&](int64_t step) {
    const bool answers = step == 0 || fired == std::vector<int64_t>{3, 4};
    EXPECT_EQ(invoker.is_behind(), true);
    return answers;
  });
  invoker.Add({.name = "Slow", .spec = {.name = "Slow"}}, slow);
  invoker.Add(ToEvaluation(ParseRuleSpec("VanishingGradient")));
  EXPECT_TRUE(invoker.Run());
  EXPECT_FALSE(invoker.is_behind());
  const RuleReport report = invoker.report(0);
  EXPECT_EQ(report.status, RuleStatus::kIssuesFound);
  EXPECT_THAT(report.fired_steps, ElementsAre(0, 1, 2, 3, 4));
  EXPECT_EQ(report.findings[2].step, 2);
  EXPECT_EQ(report.findings[2].worker, "worker_0");
  EXPECT_EQ(report.steps_judged, 5);
  EXPECT_TRUE(report.ended);
}

TEST_F(InvokerTest, ARuleThatDoesNotAnswerIsNamedAndIsAnError) {
  SaveRun(5);
  std::vector<std::string> told;
  InvokeOptions options;
  options.answer_limit = 1;
  options.on_notice = [&](std::string_view line) { told.emplace_back(line); };
  Invoker invoker(Open(), options);
  const RuleType slow = SlowType([](int64_t step) { return step == 0; });
  invoker.Add({.name = "Slow", .spec = {.name = "Slow"}}, slow);
  invoker.Add(ToEvaluation(ParseRuleSpec("VanishingGradient")));
  EXPECT_TRUE(invoker.Run());
  EXPECT_EQ(invoker.report(0).status, RuleStatus::kError);
  EXPECT_EQ(invoker.report(0).details, "did not answer at step 1 within 1 s");
  EXPECT_THAT(invoker.report(0).fired_steps, ElementsAre(0));
  EXPECT_THAT(invoker.report(1).fired_steps, ElementsAre(3, 4));
  EXPECT_THAT(told, ElementsAre("rule Slow did not answer at step 1 within 1 "
                                "s; it is given up, and the others go on"));
}

TEST_F(InvokerTest, ARuleThatIsBehindWhenAllIsCalledOffIsStopped) {
  SaveRun(5);
  bool goes_on = true;
  InvokeOptions options;
  options.go_on = [&] { return goes_on; };
  Invoker invoker(Open(), options);
  const RuleType slow = SlowType([&](int64_t step) {
    goes_on = step < 4;
    return false;
  });
  invoker.Add({.name = "Slow", .spec = {.name = "Slow"}, .start_step = 4},
              slow);
  EXPECT_FALSE(invoker.Run());
  invoker.Finish(/*stopped=*/true);
  EXPECT_EQ(invoker.report(0).status, RuleStatus::kStopped);
  EXPECT_EQ(invoker.report(0).steps_judged, 0);
}

// Notes how far back it can look.
class LooksBack final : public Rule {
 public:
  explicit LooksBack(std::vector<size_t>* seen) : seen_(seen) {}

  std::vector<Finding> Check(StepView& view) override {
    seen_->push_back(view.History("gradient/a").size());
    const auto before = view.Before("gradient/a", view.step());
    if (before && !view.ValueAt("gradient/a", before->step)) {
      return {{.message = "the step before has no value"}};
    }
    return {};
  }

 private:
  std::vector<size_t>* seen_;
};

TEST_F(InvokerTest, WhatWasJudgedLongAgoIsForgottenIfAskedFor) {
  Declare({"worker_0"});
  std::vector<size_t> seen;
  RuleType type;
  type.name = "Own";
  type.make = [&](const RuleParameters&) {
    return std::make_unique<LooksBack>(&seen);
  };
  Save(0);
  Trial* trial = Open();
  Invoker invoker(trial, {.recent_steps = 10});
  invoker.Add({.name = "Own", .spec = {.name = "Own"}}, type);
  for (int64_t step = 1; step <= 100; ++step) {
    EXPECT_EQ(invoker.JudgeNewSteps(), 1);
    Save(step);
  }
  EXPECT_EQ(seen.size(), 100u);
  EXPECT_EQ(std::ranges::max(seen), 20u);
  EXPECT_GT(seen.back(), 10u);
  EXPECT_EQ(invoker.report(0).findings_total, 0);
}

// Who comes late has all of the run to judge first.
TEST_F(InvokerTest, NothingIsForgottenBeforeItIsJudged) {
  SaveRun(100);
  std::vector<size_t> seen;
  RuleType type;
  type.name = "Own";
  type.make = [&](const RuleParameters&) {
    return std::make_unique<LooksBack>(&seen);
  };
  Trial* trial = Open();
  Invoker invoker(trial, {.recent_steps = 10});
  invoker.Add({.name = "Own", .spec = {.name = "Own"}}, type);
  EXPECT_TRUE(invoker.Run());
  EXPECT_EQ(invoker.report(0).steps_judged, 100);
  EXPECT_EQ(invoker.report(0).findings_total, 0);
  EXPECT_LT(seen.back(), 50u);
}

TEST_F(InvokerTest, NoMoreStepsAreJudgedThanAskedFor) {
  SaveRun(5);
  Invoker invoker(Open(), {});
  invoker.Add(ToEvaluation(ParseRuleSpec("VanishingGradient")));
  EXPECT_EQ(invoker.JudgeNewSteps(2), 2);
  EXPECT_EQ(invoker.last_step(), 1);
  EXPECT_EQ(invoker.JudgeNewSteps(2), 2);
  EXPECT_EQ(invoker.JudgeNewSteps(2), 1);
  EXPECT_EQ(invoker.report(0).fired_total, 2);
}

TEST_F(InvokerTest, AStallFiresOncePerWait) {
  Declare({"worker_0"});
  Save(0);
  Trial* trial = Open();
  Invoker invoker(trial, {});
  invoker.Add(ToEvaluation(ParseRuleSpec("StalledTrainingRule:threshold=60")));
  invoker.JudgeNewSteps();
  invoker.NoteWait(59);
  EXPECT_EQ(invoker.reports()[0].findings_total, 0);
  invoker.NoteWait(61);
  invoker.NoteWait(62);
  EXPECT_EQ(invoker.reports()[0].findings_total, 1);
  EXPECT_EQ(invoker.reports()[0].status, RuleStatus::kIssuesFound);
  Save(1);
  invoker.JudgeNewSteps();
  invoker.NoteWait(70);
  EXPECT_THAT(invoker.reports()[0].fired_steps, ElementsAre(0, 1));
}

TEST_F(InvokerTest, StepsAreJudgedWhenEveryWorkerHasSavedThem) {
  Declare({"worker_0", "worker_1"});
  Save(0, "worker_0");
  Trial* trial = Open();
  Invoker invoker(trial, {});
  invoker.Add(ToEvaluation(ParseRuleSpec("VanishingGradient")));
  EXPECT_EQ(invoker.JudgeNewSteps(), 0);
  Save(0, "worker_1");
  EXPECT_EQ(invoker.JudgeNewSteps(), 1);
  EXPECT_FALSE(invoker.Done());
}

}  // namespace
}  // namespace smdebug::rules
