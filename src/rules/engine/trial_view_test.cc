#include "src/rules/engine/trial_view.h"

#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "smdebug/error.h"
#include "tests/testing/trial_run.h"

namespace smdebug::rules {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::TestTrial;

Collection Named(std::string name, std::vector<std::string> regexes) {
  Collection collection;
  collection.name = std::move(name);
  collection.include_regex = {regexes.begin(), regexes.end()};
  return collection;
}

// Steps 0 to 19: train at the even ones, eval at the odd ones.
class TrialViewTest : public ::testing::Test {
 protected:
  void SetUp() override {
    made_.run.Declare({"worker_0"}, 1,
                      {{"weights", Named("weights", {"weight$"})}});
    for (int64_t step = 0; step < 20; ++step) {
      const auto x = static_cast<float>(step);
      auto saved =
          made_.run.At(step, "worker_0",
                       step % 2 == 0 ? Mode::kTrain : Mode::kEval, step / 2);
      saved.Tensor("b.weight", {x, -x, 0}).Tensor("loss", {x});
      if (step % 4 == 0) saved.Tensor("a.weight", {1, 2});
      if (step == 8) saved.Number("smdebug/reductions/abs_max/only", 3);
      saved.Publish();
    }
    made_.run.End();
  }

  TrialView& Open(std::optional<std::string> worker = {}) {
    made_.Open().Steps();
    view_ = std::make_unique<TrialView>(made_.trial.get(), std::move(worker));
    return *view_;
  }

  TestTrial made_;
  std::unique_ptr<TrialView> view_;
};

TEST_F(TrialViewTest, IsAtNoStepAtFirst) {
  TrialView& view = Open();
  EXPECT_EQ(view.step(), -1);
  EXPECT_THAT(view.Select({}), IsEmpty());
  EXPECT_EQ(view.At("loss"), std::nullopt);
}

TEST_F(TrialViewTest, SelectsByCollectionAndRegexWhatTheStepHas) {
  TrialView& view = Open();
  view.MoveTo(4);
  EXPECT_EQ(view.mode(), Mode::kTrain);
  EXPECT_EQ(view.place().mode_step, 2);
  EXPECT_EQ(view.worker(), "worker_0");
  EXPECT_THAT(view.Select({}), ElementsAre("a.weight", "b.weight", "loss"));
  EXPECT_THAT(view.Select({.collections = {"weights"}}),
              ElementsAre("a.weight", "b.weight"));
  EXPECT_THAT(view.Select({.collections = {"none"}, .regexes = {"^l", "^a"}}),
              ElementsAre("a.weight", "loss"));
  view.MoveTo(5);
  EXPECT_THAT(view.Select({.collections = {"weights"}}),
              ElementsAre("b.weight"));
  EXPECT_THROW(view.Select({.regexes = {"("}}), ConfigError);
}

TEST_F(TrialViewTest, TensorsThatComeLaterAreSelectedToo) {
  TrialView& view = Open();
  view.MoveTo(1);
  EXPECT_THAT(view.Select({.regexes = {"only"}}), IsEmpty());
  view.MoveTo(8);
  EXPECT_THAT(view.Select({.regexes = {"only"}}), ElementsAre("only"));
}

TEST_F(TrialViewTest, SeesNoLaterStep) {
  TrialView& view = Open();
  view.MoveTo(7);
  EXPECT_EQ(view.ValueAt("loss", 8), std::nullopt);
  EXPECT_EQ(view.History("loss", Mode::kGlobal).back().step, 7);
  EXPECT_EQ(view.Before("loss", 100)->step, 7);
  EXPECT_EQ(view.Before("a.weight", 7),
            (StepPlace{.step = 4, .mode = Mode::kTrain, .mode_step = 2}));
  EXPECT_EQ(view.Before("loss", 0), std::nullopt);
  EXPECT_EQ(view.Before("never", 5), std::nullopt);
}

TEST_F(TrialViewTest, HistoryIsOfOneModeOrOfAll) {
  TrialView& view = Open();
  view.MoveTo(5);
  EXPECT_EQ(view.History("loss", Mode::kGlobal).size(), 6u);
  EXPECT_THAT(
      view.History("loss", Mode::kEval),
      ElementsAre(StepPlace{1, Mode::kEval, 0}, StepPlace{3, Mode::kEval, 1},
                  StepPlace{5, Mode::kEval, 2}));
  EXPECT_THAT(view.History("never", Mode::kGlobal), IsEmpty());
}

TEST_F(TrialViewTest, EveryEarlierStepCanBeReadInAnyOrder) {
  TrialView& view = Open();
  for (int64_t step = 0; step < 20; ++step) {
    view.MoveTo(step);
    for (int64_t past = step; past >= 0; past -= 3) {
      ASSERT_EQ(view.ValueAt("loss", past)->Get(0), past) << step;
      ASSERT_EQ(view.ReductionAt("b.weight", past, {ReductionOp::kMax}), past);
    }
    ASSERT_EQ(view.ValueAt("a.weight", 1), std::nullopt);
  }
}

TEST_F(TrialViewTest, ReductionsAreTheSavedOnesElseOfTheValue) {
  TrialView& view = Open();
  view.MoveTo(8);
  EXPECT_EQ(view.Reduce("only", {ReductionOp::kMax, true}), 3);
  EXPECT_EQ(view.Reduce("only", {ReductionOp::kMin}), std::nullopt);
  EXPECT_EQ(view.At("only"), std::nullopt);
  for (const ReductionOp op : kReductionOps) {
    for (const bool abs : {false, true}) {
      const Reduction reduction = {op, abs};
      EXPECT_EQ(view.Reduce("b.weight", reduction),
                view.At("b.weight")->Reduce(reduction))
          << ReductionName(reduction);
    }
  }
}

TEST_F(TrialViewTest, CountsAreThoseOfTheValueWhereNoneAreSaved) {
  TrialView& view = Open();
  view.MoveTo(8);
  const auto counts = view.CountsAt("b.weight", 8);
  ASSERT_TRUE(counts);
  EXPECT_EQ(counts->count, 3);
  EXPECT_EQ(counts->zero, 1);
  EXPECT_EQ(counts->nan, 0);
  EXPECT_EQ(view.CountsAt("only", 8), std::nullopt);
}

TEST_F(TrialViewTest, AStepThatTheRunDoesNotHaveIsEmpty) {
  TrialView& view = Open();
  view.MoveTo(77);
  EXPECT_THAT(view.Select({}), IsEmpty());
  EXPECT_EQ(view.mode(), Mode::kGlobal);
}

TEST_F(TrialViewTest, NotesWhatWasAskedInVain) {
  TrialView& view = Open();
  view.MoveTo(8);
  ViewUse use;
  view.SetUse(&use);
  view.Select({.collections = {"gradients"}});
  view.Select({.collections = {"gradients"}});
  EXPECT_EQ(use.selections.size(), 1u);
  EXPECT_FALSE(use.selected);
  view.Select({});
  EXPECT_TRUE(use.selected);
  view.At("only");
  EXPECT_EQ(use.unanswered, "only");
  EXPECT_FALSE(use.answered);
  view.At("loss");
  EXPECT_TRUE(use.answered);
}

TEST(TrialViewWorkersTest, ValuesAreThoseOfTheWorkerAskedForElseOfTheFirst) {
  TestTrial made;
  made.run.Declare({"worker_0", "worker_1"});
  made.run.At(0, "worker_1").Tensor("x", {1}).Tensor("y", {11}).Publish();
  made.run.At(0, "worker_0").Tensor("x", {0}).Publish();
  made.run.End();
  made.Open().Steps();
  TrialView any(made.trial.get(), std::nullopt);
  any.MoveTo(0);
  EXPECT_EQ(any.At("x")->Get(0), 0);
  EXPECT_EQ(any.WorkerOf("x"), "worker_0");
  EXPECT_EQ(any.At("y")->Get(0), 11);
  EXPECT_EQ(any.WorkerOf("y"), "worker_1");
  TrialView first(made.trial.get(), "worker_0");
  first.MoveTo(0);
  EXPECT_THAT(first.Select({}), ElementsAre("x"));
  EXPECT_EQ(first.At("y"), std::nullopt);
}

TEST(TrialViewDamageTest, ADamagedValueThrowsAndTheOthersAreRead) {
  TestTrial made;
  made.run.Declare({"worker_0"});
  auto saved = made.run.At(0);
  saved.Tensor("x", {1, 2}).Tensor("y", {3});
  saved.events[saved.index.tensors[0].location.length - 6] ^= 1;
  saved.Publish();
  made.run.End();
  made.Open().Steps();
  TrialView view(made.trial.get(), std::nullopt);
  view.MoveTo(0);
  EXPECT_THROW(view.At("x"), FormatError);
  EXPECT_THROW(view.Reduce("x", {ReductionOp::kMax}), FormatError);
  EXPECT_EQ(view.At("y")->Get(0), 3);
  EXPECT_EQ(made.trial->damage().size(), 1u);
}

TEST(TrialViewDamageTest, AMissingEventFileThrows) {
  TestTrial made;
  made.run.Declare({"worker_0"});
  made.run.Save(0);
  made.storage->Remove(run::EventFileKey(0, "worker_0"));
  made.run.End();
  made.Open().Steps();
  TrialView view(made.trial.get(), std::nullopt);
  view.MoveTo(0);
  EXPECT_THROW(view.At("x"), FormatError);
}

}  // namespace
}  // namespace smdebug::rules
