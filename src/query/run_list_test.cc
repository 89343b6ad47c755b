#include "src/query/run_list.h"

#include <filesystem>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/testing/files.h"
#include "tests/testing/temp_dir.h"
#include "tests/testing/trial_run.h"

namespace smdebug::query {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class RunListTest : public ::testing::Test {
 protected:
  // A finished run of two steps.
  void Make(const std::string& name, float last_loss) {
    const auto storage = OpenLocalStorage(dir_ / name);
    testing::TestRun run(storage.get());
    run.Declare({"worker_0"});
    run.At(0).Number("loss", 1).Tensor("w", {1, 2}).Publish();
    run.At(4).Number("loss", last_loss).Publish();
    run.End();
  }

  testing::TempDir dir_;
};

TEST_F(RunListTest, ListsWhatLiesRightBelow) {
  Make("b", 0.5);
  Make("a", 0.25);
  Make("deep/er", 0.125);
  std::filesystem::create_directories(dir_ / "empty");
  testing::WriteFile(dir_ / "a/rules/NaN.json",
                     R"({"name": "NaN", "status": "IssuesFound"})");
  testing::WriteFile(dir_ / "a/rules/Calm.json",
                     R"({"name": "Calm", "status": "NoIssuesFound"})");
  testing::WriteFile(dir_ / "a/rules/Own.json",
                     R"({"name": "Own", "status": "Error"})");
  testing::WriteFile(dir_ / "a/rules/Typo.json",
                     R"({"name": "Typo", "status": "Error", "refused": true})");
  testing::WriteFile(dir_ / "notes.txt", "no run");
  const RunList list = ListRuns(dir_.path());
  EXPECT_EQ(list.others, 2);  // "deep" and "empty".
  ASSERT_THAT(list.runs, SizeIs(2));
  const ListedRun& a = list.runs[0];
  EXPECT_EQ(a.name, "a");
  EXPECT_EQ(a.info.state, RunState::kFinished);
  EXPECT_EQ(a.steps, 2);
  EXPECT_EQ(a.last_step, 4);
  EXPECT_THAT(a.fired, ElementsAre("NaN"));
  EXPECT_THAT(a.failed, ElementsAre("Own"));
  ASSERT_TRUE(a.loss);
  EXPECT_EQ(a.loss->tensor, "loss");
  EXPECT_EQ(a.loss->step, 4);
  EXPECT_EQ(a.loss->value, 0.25);
  EXPECT_THAT(list.runs[1].fired, IsEmpty());
  EXPECT_EQ(ToJson(list)["runs"][1]["loss"]["value"], 0.5);
}

TEST_F(RunListTest, DamageIsNamedAndHidesNoOtherRun) {
  Make("good", 0.5);
  Make("torn", 0.5);
  testing::WriteFile(dir_ / "torn/index/000000000/000000000004_worker_0.json",
                     "{");
  // A folder that looks like a run and cannot be opened as one.
  std::filesystem::create_directories(dir_ / "locked/index");
  testing::WriteFile(dir_ / "locked/training_job_end.ts", "");
  const RunList list = ListRuns(dir_.path());
  ASSERT_THAT(list.runs, SizeIs(3));
  EXPECT_EQ(list.runs[0].name, "good");
  EXPECT_THAT(list.runs[0].damage, IsEmpty());
  EXPECT_EQ(list.runs[1].name, "locked");
  EXPECT_FALSE(list.runs[1].loss);
  const ListedRun& torn = list.runs[2];
  EXPECT_THAT(torn.damage, SizeIs(1));
  EXPECT_EQ(torn.steps, 1);
  EXPECT_EQ(torn.loss->step, 0);
}

TEST_F(RunListTest, ATruncatedEventFileIsDamageThoughNobodyReadsIt) {
  Make("short", 0.5);
  const std::string key =
      "short/events/000000000000/000000000000_worker_0.tfevents";
  ASSERT_TRUE(std::filesystem::exists(dir_ / key));
  std::filesystem::resize_file(dir_ / key, 20);
  const RunList list = ListRuns(dir_.path());
  ASSERT_THAT(list.runs, SizeIs(1));
  ASSERT_THAT(list.runs[0].damage, SizeIs(1));
  EXPECT_EQ("short/" + list.runs[0].damage[0].file, key);
  EXPECT_EQ(list.runs[0].loss->step, 4);
}

TEST_F(RunListTest, APatternChoosesByName) {
  Make("lr1", 1);
  Make("lr2", 2);
  Make("other", 3);
  const RunList list = ListRuns(dir_.path(), "lr*");
  ASSERT_THAT(list.runs, SizeIs(2));
  EXPECT_EQ(list.unmatched, 1);
  EXPECT_THROW(ListRuns(dir_ / "nowhere"), Error);
}

}  // namespace
}  // namespace smdebug::query
