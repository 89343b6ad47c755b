// One suite for every way in which a run can lie in a store: from the hook over
// the trial and the rules to status, verification and setting aside.
#include <chrono>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "smdebug/guard.h"
#include "smdebug/hook.h"
#include "smdebug/invoker.h"
#include "smdebug/run.h"
#include "smdebug/trial.h"
#include "src/query/status.h"
#include "src/query/verify_run.h"
#include "tests/testing/files.h"
#include "tests/testing/hook.h"
#include "tests/testing/object_store.h"
#include "tests/testing/ten_step_objects.h"

namespace smdebug {
namespace {

using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::Keys;
using testing::ObjectStore;
using testing::SaveEverything;
using testing::SaveFloats;
using ::testing::SizeIs;
using ::testing::StartsWith;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

struct Kind {
  std::string name;
  std::function<std::shared_ptr<Storage>()> store;
  bool ten_steps_an_object = false;

  friend void PrintTo(const Kind& kind, std::ostream* out) {
    *out << kind.name;
  }
};

// A store that can neither rename nor append, tells of no changes, and takes
// its time.
std::shared_ptr<Storage> OpenObjectStore() {
  return std::make_shared<ObjectStore>(std::chrono::milliseconds(20));
}

std::vector<Kind> Kinds() {
  return {
      {.name = "PairsInMemory", .store = OpenMemoryStorage},
      {.name = "PairsInAnObjectStore", .store = OpenObjectStore},
      {.name = "TenStepsInMemory",
       .store = OpenMemoryStorage,
       .ten_steps_an_object = true},
      {.name = "TenStepsInAnObjectStore",
       .store = OpenObjectStore,
       .ten_steps_an_object = true},
  };
}

std::vector<RuleEvaluation> Exploding() {
  std::vector<RuleEvaluation> rules;
  rules.push_back(ToEvaluation(ParseRuleSpec("ExplodingTensor")));
  return rules;
}

class RunLayoutsTest : public ::testing::TestWithParam<Kind> {
 protected:
  RunLayoutsTest() {
    if (GetParam().ten_steps_an_object) layout_.emplace();
  }

  std::unique_ptr<Hook> OpenHook(const Worker& worker = {}) {
    HookConfig config = SaveEverything();
    config.include_workers = IncludeWorkers::kAll;
    return std::make_unique<Hook>(config, worker, RuntimeOptions{}, store_,
                                  nullptr);
  }

  // Saves `count` steps, the last of them with a NaN.
  static void Train(Hook& hook, int count) {
    for (int step = 0; step < count; ++step) {
      hook.BeginStep();
      SaveFloats(hook, "weight",
                 {0.5F, step + 1 == count ? kNan : static_cast<float>(step)});
      hook.SaveScalar("loss", step);
    }
    hook.EndStep();
  }

  Trial OpenTrial() const {
    return Trial(store_, {.end_delay = std::chrono::milliseconds(0)});
  }

  query::RunStatus Status() const { return query::ReadStatus(*store_, 0); }

  // Whether the values and the files of the run are as they were written.
  void ExpectSound(int64_t steps) const {
    const auto verified = query::VerifyRun(*store_, [](uint64_t) {});
    EXPECT_EQ(verified.index_files, steps);
    EXPECT_THAT(verified.damage, IsEmpty());
    EXPECT_THAT(verified.leftovers, IsEmpty());
  }

  std::optional<testing::TenStepLayout> layout_;
  const std::shared_ptr<Storage> store_ = GetParam().store();
};

TEST_P(RunLayoutsTest, ARunIsWrittenReadJudgedSummarizedAndVerified) {
  {
    const auto hook = OpenHook();
    Train(*hook, 12);
    hook->Close();
    EXPECT_EQ(hook->stats().errors, 0);
  }
  Trial trial = OpenTrial();
  EXPECT_THAT(trial.Steps(), SizeIs(12));
  EXPECT_THAT(trial.TensorNames(), ElementsAre("scalar/loss", "weight"));
  EXPECT_EQ(trial.tensor("weight").At(10).Get(1), 10);
  EXPECT_EQ(trial.tensor("scalar/loss").At(11).Get(0), 11);

  Invoker invoker(&trial, {.reports = store_});
  invoker.Add(Exploding().front());
  EXPECT_TRUE(invoker.Run());
  invoker.Finish(false);
  ASSERT_THAT(invoker.reports(), SizeIs(1));
  EXPECT_EQ(invoker.reports().front().status, RuleStatus::kIssuesFound);
  EXPECT_THAT(invoker.reports().front().fired_steps, ElementsAre(11));
  EXPECT_THAT(Keys(*store_, "rules/"), Contains(StartsWith("rules/")));

  const query::RunStatus status = Status();
  EXPECT_TRUE(status.well());
  EXPECT_EQ(status.summary.info.state, RunState::kFinished);
  EXPECT_EQ(status.summary.steps, 12);
  EXPECT_EQ(status.totals.stats.scalars_saved, 12);
  ExpectSound(12);
}

TEST_P(RunLayoutsTest, ARunIsFollowedWhileItIsWritten) {
  const auto hook = OpenHook();
  Train(*hook, 10);  // Enough for an object.
  Trial trial = OpenTrial();
  const int64_t last[] = {9};
  trial.WaitForSteps(last);
  EXPECT_EQ(trial.tensor("weight").At(7).Get(1), 7);
  EXPECT_FALSE(trial.loaded_all_steps());
  Train(*hook, 3);
  hook->Close();
  EXPECT_EQ(trial.Steps().back(), 12);
  EXPECT_TRUE(trial.loaded_all_steps());
  EXPECT_THAT(trial.damage(), IsEmpty());
}

TEST_P(RunLayoutsTest, RulesInsideTheHookJudgeTheStoreThatItWritesTo) {
  const auto hook = OpenHook();
  const RuleGuard guard(*hook, Exploding());
  Train(*hook, 3);
  hook->Close();
  EXPECT_EQ(guard.fired_rules(), 1);
}

TEST_P(RunLayoutsTest, ARunThatDidNotEndIsSetAside) {
  {
    const auto hook = OpenHook();
    Train(*hook, 3);
    hook->Abandon();
  }
  std::vector<std::string> before = Keys(*store_, "index/");
  EXPECT_EQ(Status().summary.steps, 3);
  {
    const auto hook = OpenHook();
    Train(*hook, 1);
    hook->Close();
  }
  EXPECT_EQ(Status().summary.steps, 1);
  for (const std::string& key : before) {
    EXPECT_THAT(Keys(*store_, "previous/1/"), Contains("previous/1/" + key));
  }
  ExpectSound(1);
}

TEST_P(RunLayoutsTest, AWorkerThatComesAgainTakesItsOwnStepsAsideOnly) {
  const auto other = OpenHook(Worker::OfRank(1, 2));
  Train(*other, 2);
  {
    const auto hook = OpenHook(Worker::OfRank(0, 2));
    Train(*hook, 5);
    hook->Abandon();
  }
  const auto again = OpenHook(Worker::OfRank(0, 2));
  Train(*again, 3);
  again->Close();
  other->Close();
  const query::RunStatus status = Status();
  ASSERT_THAT(status.summary.workers, SizeIs(2));
  EXPECT_EQ(status.summary.workers[0].steps, 3);
  EXPECT_EQ(status.summary.workers[1].steps, 2);
  EXPECT_THAT(Keys(*store_, "previous/1/index/"),
              Each(::testing::HasSubstr("_worker_0.")));
  ExpectSound(5);
}

INSTANTIATE_TEST_SUITE_P(, RunLayoutsTest, ::testing::ValuesIn(Kinds()),
                         [](const auto& kind) { return kind.param.name; });

}  // namespace
}  // namespace smdebug
