#include "tests/testing/object_store.h"

#include <chrono>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "smdebug/guard.h"
#include "smdebug/hook.h"
#include "smdebug/invoker.h"
#include "smdebug/trial.h"
#include "src/query/run_summary.h"
#include "src/query/verify_run.h"
#include "tests/testing/files.h"
#include "tests/testing/hook.h"

// A run whose files lie in a store that can neither rename nor append, tells of
// no changes, and takes its time.
namespace smdebug {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::Keys;
using testing::ObjectStore;
using testing::SaveEverything;
using testing::SaveFloats;
using ::testing::SizeIs;
using ::testing::StartsWith;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

std::vector<RuleEvaluation> Exploding() {
  std::vector<RuleEvaluation> rules;
  rules.push_back(ToEvaluation(ParseRuleSpec("ExplodingTensor")));
  return rules;
}

class ObjectStoreRunTest : public ::testing::Test {
 protected:
  std::unique_ptr<Hook> OpenHook() {
    return std::make_unique<Hook>(SaveEverything(), Worker{}, RuntimeOptions{},
                                  store_, nullptr);
  }

  // Three steps, of which the last has a NaN.
  static void Train(Hook& hook) {
    for (const float value : {1.0F, 2.0F, kNan}) {
      hook.BeginStep();
      SaveFloats(hook, "weight", {0.5F, value});
    }
  }

  const std::shared_ptr<ObjectStore> store_ =
      std::make_shared<ObjectStore>(std::chrono::milliseconds(20));
};

TEST_F(ObjectStoreRunTest, ARunIsWrittenReadJudgedSummarizedAndVerified) {
  {
    const auto hook = OpenHook();
    Train(*hook);
    hook->Close();
    EXPECT_EQ(hook->stats().errors, 0);
  }
  Trial trial(store_, {.end_delay = std::chrono::milliseconds(0)});
  EXPECT_THAT(trial.Steps(), ElementsAre(0, 1, 2));
  EXPECT_THAT(trial.TensorNames(), ElementsAre("weight"));
  EXPECT_EQ(trial.tensor("weight").At(1).Get(1), 2.0);

  Invoker invoker(&trial, {.reports = store_});
  invoker.Add(Exploding().front());
  EXPECT_TRUE(invoker.Run());
  invoker.Finish(false);
  ASSERT_THAT(invoker.reports(), SizeIs(1));
  EXPECT_EQ(invoker.reports().front().status, RuleStatus::kIssuesFound);
  EXPECT_THAT(invoker.reports().front().fired_steps, ElementsAre(2));
  EXPECT_THAT(Keys(*store_, "rules/"), Contains(StartsWith("rules/")));

  const query::RunSummary summary = query::SummarizeRun(*store_);
  EXPECT_TRUE(summary.ended);
  EXPECT_EQ(summary.steps, 3);
  EXPECT_THAT(summary.damage, IsEmpty());

  const query::VerifyResult verified =
      query::VerifyRun(*store_, [](uint64_t) {});
  EXPECT_EQ(verified.index_files, 3);
  EXPECT_THAT(verified.damage, IsEmpty());
  EXPECT_THAT(verified.leftovers, IsEmpty());
}

TEST_F(ObjectStoreRunTest, RulesInsideTheHookJudgeTheStoreThatItWritesTo) {
  const auto hook = OpenHook();
  const RuleGuard guard(*hook, Exploding());
  Train(*hook);
  hook->Close();
  EXPECT_EQ(guard.fired_rules(), 1);
}

TEST_F(ObjectStoreRunTest, ARunThatDidNotEndIsSetAside) {
  {
    const auto hook = OpenHook();
    Train(*hook);
    hook->Abandon();
  }
  const std::vector<std::string> before = Keys(*store_, "index/");
  ASSERT_THAT(before, SizeIs(3));
  {
    const auto hook = OpenHook();
    hook->BeginStep();
    SaveFloats(*hook, "weight", {1});
    hook->Close();
  }
  EXPECT_THAT(Keys(*store_, "index/"), SizeIs(1));
  for (const std::string& key : before) {
    EXPECT_THAT(Keys(*store_, "previous/1/"), Contains("previous/1/" + key));
  }
  EXPECT_THAT(query::VerifyRun(*store_, [](uint64_t) {}).damage, IsEmpty());
}

}  // namespace
}  // namespace smdebug
