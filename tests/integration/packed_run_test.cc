// Runs whose steps lie ten to an object are read, judged, summed up and
// verified as those of file pairs are: only the source of the steps differs.
#include <filesystem>
#include <limits>
#include <memory>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "smdebug/error.h"
#include "smdebug/invoker.h"
#include "smdebug/rule.h"
#include "smdebug/trial.h"
#include "src/base/bytes.h"
#include "src/query/run_summary.h"
#include "src/query/verify_run.h"
#include "tests/testing/files.h"
#include "tests/testing/run_document.h"
#include "tests/testing/ten_step_objects.h"
#include "tests/testing/trial_run.h"

namespace smdebug {
namespace {

using nlohmann::json;
using testing::TestTrial;

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class PackedRunTest : public ::testing::Test {
 protected:
  // What `pairs` holds, in objects.
  static std::shared_ptr<Storage> Packed(const Storage& pairs) {
    auto storage = OpenMemoryStorage();
    testing::PackRun(pairs, *storage);
    EXPECT_THAT(storage->List("events/"), IsEmpty());
    return storage;
  }

  // Of two workers, 25 steps each, the last of which holds a NaN.
  static void Write(TestTrial& made) {
    made.run.Declare({"worker_0", "worker_1"});
    for (int64_t step = 0; step < 25; ++step) {
      for (const char* worker : {"worker_0", "worker_1"}) {
        const float value =
            step == 24 ? std::numeric_limits<float>::quiet_NaN() : 1;
        made.run.At(step, worker)
            .Tensor("x", {value, static_cast<float>(step)})
            .Publish();
      }
    }
    made.run.End();
  }

  const testing::TenStepLayout layout_ = {};
};

TEST_F(PackedRunTest, GoldenRunsAreReadAsTheyWereWritten) {
  const std::filesystem::path golden = SMDEBUG_GOLDEN_DIR;
  for (const char* run : {"reference_dtypes", "reference_devices",
                          "reference_training", "own_training"}) {
    const json expected =
        json::parse(testing::ReadFile(golden / run / "expected.json"));
    const auto pairs = OpenLocalStorage((golden / run / "run").string());
    const json& questions = expected.at("questions");
    Trial trial(Packed(*pairs), testing::OptionsOf(questions));
    json document = testing::DocumentOf(trial, questions);
    json wanted = expected.at("document");
    // Where it has come to is the source's to say.
    document.erase("last_index_token");
    wanted.erase("last_index_token");
    EXPECT_TRUE(document == wanted) << json::diff(wanted, document).dump(1);
  }
}

TEST_F(PackedRunTest, ADamagedObjectCostsTheValuesThatItHolds) {
  TestTrial made;
  made.run.Declare({"worker_0"});
  auto saved = made.run.At(3);
  saved.Tensor("x", {1}).Tensor("y", {2});
  saved.index.event_file = "packs";
  saved.events[saved.events.size() - 6] ^= 1;
  const std::string index = ToJson(saved.index);
  const Bytes parts[] = {base::AsBytes(saved.events)};
  const testing::PackedStep steps[] = {{3, index, parts}};
  testing::PutObject(*made.storage, "worker_0", steps);
  Trial& trial = made.Open();
  EXPECT_EQ(trial.tensor("x").At(3).Get(0), 1);
  EXPECT_THROW(trial.tensor("y").At(3), FormatError);
  ASSERT_THAT(trial.damage(), SizeIs(1));
  EXPECT_EQ(trial.damage()[0].kind, DamageKind::kChecksum);
}

TEST_F(PackedRunTest, RulesJudgeIt) {
  TestTrial made;
  Write(made);
  Trial trial(Packed(*made.storage), TestTrial::Options());
  Invoker invoker(&trial, {});
  invoker.Add(ToEvaluation(ParseRuleSpec("ExplodingTensor")));
  invoker.Run();
  ASSERT_THAT(invoker.reports(), SizeIs(1));
  EXPECT_EQ(invoker.reports()[0].status, RuleStatus::kIssuesFound);
  EXPECT_EQ(invoker.reports()[0].steps_judged, 25);
  EXPECT_EQ(invoker.reports()[0].unreadable_steps, 0);
}

TEST_F(PackedRunTest, ItIsSummedUpAndVerified) {
  TestTrial made;
  Write(made);
  const auto packed = Packed(*made.storage);
  const query::RunSummary summary = query::SummarizeRun(*packed);
  EXPECT_EQ(summary.steps, 25);
  ASSERT_THAT(summary.workers, SizeIs(2));
  EXPECT_EQ(summary.workers[1].steps, 25);
  EXPECT_GT(summary.workers[1].bytes, 25u * 8);
  EXPECT_THAT(summary.damage, IsEmpty());
  const auto result = query::VerifyRun(*packed, [](uint64_t) {});
  EXPECT_EQ(result.index_files, 50);
  EXPECT_EQ(result.values, 50);
  EXPECT_THAT(result.damage, IsEmpty());
  EXPECT_THAT(result.leftovers, IsEmpty());
}

TEST_F(PackedRunTest, ItsNewestObjectTellsHowLongTheJobHasBeenSilent) {
  TestTrial made;
  made.run.Save(0);
  const auto packed = Packed(*made.storage);
  EXPECT_GT(steps::NewestStep(*steps::OpenStepSource(packed.get())), 0);
  EXPECT_LT(SecondsSinceNewestFile(*packed), 3600);
}

}  // namespace
}  // namespace smdebug
