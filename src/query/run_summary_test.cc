#include "src/query/run_summary.h"

#include <memory>
#include <string>
#include <string_view>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "smdebug/error.h"
#include "src/index/step_index.h"
#include "src/run/keys.h"
#include "src/run/survey.h"
#include "tests/testing/files.h"

namespace smdebug::query {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::PutFile;
using ::testing::SizeIs;

// A run composed file by file. Each step has two tensors of 50 bytes, without
// checksums, as smdebug 1.0 saves them.
class RunSummaryTest : public ::testing::Test {
 protected:
  static index::StepIndex IndexOf(int64_t step, std::string_view worker) {
    index::StepIndex index;
    index.mode_step = step;
    index.event_file = run::EventFileKey(step, worker);
    index.tensors = {{"w", {0, 50, {}}}, {"b", {50, 50, {}}}};
    return index;
  }

  void PutStep(int64_t step, std::string_view worker) {
    PutFile(*storage_, run::EventFileKey(step, worker), std::string(100, 'x'));
    PutFile(*storage_, run::IndexFileKey(step, worker),
            ToJson(IndexOf(step, worker)));
  }

  void PutCollections(std::string_view worker, int num_workers) {
    PutFile(*storage_, run::CollectionsFileKey(worker),
            R"({"collections": {"losses": {"name": "losses"}}, "_meta": )"
            R"({"num_workers": )" +
                std::to_string(num_workers) + "}}");
  }

  void ExpectOneDamage(std::string_view file, std::string_view reason) {
    const RunSummary summary = SummarizeRun(*storage_);
    ASSERT_THAT(summary.damage, SizeIs(1));
    EXPECT_EQ(summary.damage[0].file, file);
    EXPECT_THAT(summary.damage[0].reason, HasSubstr(std::string(reason)));
  }

  std::shared_ptr<Storage> storage_ = OpenMemoryStorage();
};

TEST_F(RunSummaryTest, AnEmptyFolderHoldsNoRun) {
  EXPECT_THROW(SummarizeRun(*storage_), FormatError);
}

TEST_F(RunSummaryTest, AFolderOfOtherFilesHoldsNoRun) {
  PutFile(*storage_, "notes.txt", "x");
  PutFile(*storage_, "previous/1/ledger/worker_0.json", "{}");
  PutFile(*storage_, "tensorboard/TRAIN/000000000000_1_box.tfevents", "x");
  EXPECT_THROW(SummarizeRun(*storage_), FormatError);
}

TEST_F(RunSummaryTest, AClaimAloneIsARunThatHasJustBegun) {
  PutFile(*storage_, run::kClaimKey, "");
  const RunSummary summary = SummarizeRun(*storage_);
  EXPECT_FALSE(summary.ended);
  EXPECT_EQ(summary.steps, 0);
  EXPECT_THAT(summary.workers, IsEmpty());
  EXPECT_THAT(summary.damage, IsEmpty());
}

TEST_F(RunSummaryTest, ScalarsAreCountedWhereTheLedgerIsOlder) {
  index::StepIndex index = IndexOf(0, "worker_0");
  index.scalars = {{.name = "scalar/a", .location = {0, 50, 1u}},
                   {.name = "scalar/b", .location = {50, 50, 2u}}};
  // One that was saved with its step, and one that stands in both lists.
  index.tensors.push_back({"scalar/c", {20, 10, 3u}});
  index.tensors.push_back({"scalar/a", {0, 50, 1u}});
  PutFile(*storage_, run::EventFileKey(0, "worker_0"), std::string(100, 'x'));
  PutFile(*storage_, run::IndexFileKey(0, "worker_0"), ToJson(index));
  run::Ledger ledger = {.worker = "worker_0"};
  const auto scalars = [&] {
    PutFile(*storage_, run::LedgerKey("worker_0"), ToJson(ledger));
    return SummarizeRun(*storage_).workers.at(0).stats().scalars_saved;
  };
  EXPECT_EQ(scalars(), 3);
  ledger.stats.scalars_saved = 4;
  EXPECT_EQ(scalars(), 4);
}

TEST_F(RunSummaryTest, AScalarBetweenStepsCountsOnceAndIsNoValue) {
  PutStep(4, "worker_0");
  index::StepIndex index = IndexOf(4, "worker_0");
  index.scalars = {{"scalar/loss", 1, Mode::kTrain, 1, {60, 20, 3u}},
                   {"scalar/loss", 2, Mode::kTrain, 2, {80, 20, 4u}}};
  // For smdebug 1.0 the latest stands in both lists.
  index.tensors.push_back({"scalar/loss", {80, 20, 4u}});
  PutFile(*storage_, run::IndexFileKey(4, "worker_0"), ToJson(index));
  const WorkerSummary worker = SummarizeRun(*storage_).workers.at(0);
  EXPECT_EQ(worker.values, 2);
  EXPECT_EQ(worker.scalars, 2);
}

TEST_F(RunSummaryTest, CountsARunOfSmdebug1WithoutLedger) {
  PutCollections("worker_0", 1);
  for (const int64_t step : {10, 500, 1500}) PutStep(step, "worker_0");
  PutFile(*storage_, run::kEndMarkerKey, "");
  const RunSummary summary = SummarizeRun(*storage_);
  EXPECT_TRUE(summary.ended);
  EXPECT_EQ(summary.num_workers, 1);
  EXPECT_EQ(summary.steps, 3);
  ASSERT_THAT(summary.workers, SizeIs(1));
  const WorkerSummary& worker = summary.workers[0];
  EXPECT_EQ(worker.worker, "worker_0");
  EXPECT_EQ(worker.steps, 3);
  EXPECT_EQ(worker.first_step, 10);
  EXPECT_EQ(worker.last_step, 1500);
  EXPECT_EQ(worker.values, 6);
  EXPECT_EQ(summary.tensors, 2);
  EXPECT_EQ(worker.bytes, 300u);
  EXPECT_FALSE(worker.ledger.has_value());
  EXPECT_THAT(summary.damage, IsEmpty());
}

TEST_F(RunSummaryTest, ListsWorkersByNameFromAnyOfTheirFiles) {
  PutCollections("worker_1", 4);
  PutStep(3, "worker_0");
  PutStep(3, "worker_1");
  PutStep(4, "worker_1");
  run::Ledger ledger;
  ledger.worker = "worker_2";
  ledger.stats.lost = 9;
  PutFile(*storage_, run::LedgerKey("worker_2"), ToJson(ledger));
  PutFile(*storage_, run::EventFileKey(4, "worker_3"), "12345");

  const RunSummary summary = SummarizeRun(*storage_);
  EXPECT_FALSE(summary.ended);
  EXPECT_EQ(summary.num_workers, 4);
  EXPECT_EQ(summary.steps, 2);
  EXPECT_THAT(summary.workers,
              ElementsAre(Field(&WorkerSummary::worker, "worker_0"),
                          Field(&WorkerSummary::worker, "worker_1"),
                          Field(&WorkerSummary::worker, "worker_2"),
                          Field(&WorkerSummary::worker, "worker_3")));
  EXPECT_EQ(summary.workers[1].steps, 2);
  EXPECT_EQ(summary.workers[2].ledger, ledger);
  EXPECT_EQ(summary.workers[3].first_step, -1);
  EXPECT_EQ(summary.workers[3].bytes, 5u);
}

TEST_F(RunSummaryTest, EventsWithoutIndexAreARunInProgress) {
  PutStep(0, "worker_0");
  PutFile(*storage_, run::EventFileKey(1, "worker_0"), std::string(100, 'x'));
  const RunSummary summary = SummarizeRun(*storage_);
  EXPECT_EQ(summary.steps, 1);
  EXPECT_THAT(summary.damage, IsEmpty());
}

TEST_F(RunSummaryTest, ShapesAloneNeedNoEventFile) {
  index::StepIndex index;
  index.shapes = {{"w", "w", {2}}};
  PutFile(*storage_, run::IndexFileKey(0, "worker_0"), ToJson(index));
  const RunSummary summary = SummarizeRun(*storage_);
  EXPECT_EQ(summary.steps, 1);
  EXPECT_EQ(summary.workers.at(0).values, 0);
  EXPECT_THAT(summary.damage, IsEmpty());
}

TEST_F(RunSummaryTest, ADamagedIndexIsNamedAndHidesNothingElse) {
  PutStep(0, "worker_0");
  PutStep(1, "worker_0");
  PutStep(2, "worker_0");
  const std::string key = run::IndexFileKey(1, "worker_0");
  PutFile(*storage_, key, R"({"meta": {)");
  ExpectOneDamage(key, "is not JSON");
  const RunSummary summary = SummarizeRun(*storage_);
  EXPECT_EQ(summary.steps, 2);
  EXPECT_EQ(summary.workers.at(0).last_step, 2);
  // The file stands beside the reason, not in it.
  EXPECT_THAT(summary.damage.at(0).reason, Not(HasSubstr(key)));
}

TEST_F(RunSummaryTest, AMissingEventFileIsDamage) {
  PutStep(0, "worker_0");
  storage_->Remove(run::EventFileKey(0, "worker_0"));
  ExpectOneDamage(run::EventFileKey(0, "worker_0"),
                  "is missing, but " + run::IndexFileKey(0, "worker_0"));
}

TEST_F(RunSummaryTest, AnEventFileShorterThanAnEntrySaysIsDamage) {
  PutStep(0, "worker_0");
  PutFile(*storage_, run::EventFileKey(0, "worker_0"), std::string(99, 'x'));
  ExpectOneDamage(run::EventFileKey(0, "worker_0"),
                  "has 99 bytes, but its index says that 'b' ends at byte 100");
}

TEST_F(RunSummaryTest, ARidingScalarBeyondTheEventFileIsDamage) {
  PutStep(0, "worker_0");
  index::StepIndex index = IndexOf(0, "worker_0");
  index.scalars = {{"scalar/lr", 7, Mode::kTrain, 7, {100, 1, {}}}};
  PutFile(*storage_, run::IndexFileKey(0, "worker_0"), ToJson(index));
  ExpectOneDamage(run::EventFileKey(0, "worker_0"),
                  "'scalar/lr' ends at byte 101");
}

TEST_F(RunSummaryTest, ALongerEventFileIsFine) {
  PutStep(0, "worker_0");
  PutFile(*storage_, run::EventFileKey(0, "worker_0"), std::string(101, 'x'));
  EXPECT_THAT(SummarizeRun(*storage_).damage, IsEmpty());
}

TEST_F(RunSummaryTest, StrayNamesInTheIndexAreDamage) {
  PutStep(0, "worker_0");
  PutFile(*storage_, "index/000000000/1_worker_0.json", "{}");
  PutFile(*storage_, "index/README", "x");
  ExpectOneDamage("index/000000000/1_worker_0.json", "is not the name");
}

TEST_F(RunSummaryTest, CollectionsThatDoNotParseAreDamage) {
  const std::string key = run::CollectionsFileKey("worker_0");
  for (const auto& [json, reason] :
       {std::pair{"", "is empty"},
        {"{", "is not JSON"},
        {"{}", "collections: is missing"},
        {R"({"collections": []})", "collections: expected an object"},
        {R"({"collections": {"a": 1}})", "collections.a: expected an object"},
        {R"({"collections": {}, "_meta": 1})", "_meta: expected an object"},
        {R"({"collections": {}, "_meta": {"num_workers": 0}})",
         "_meta.num_workers: expected a whole number from 1"}}) {
    PutFile(*storage_, key, json);
    ExpectOneDamage(key, reason);
    EXPECT_EQ(SummarizeRun(*storage_).num_workers, 0);
  }
}

TEST_F(RunSummaryTest, CollectionsWithoutMetaDeclareNoWorkers) {
  PutFile(*storage_, run::CollectionsFileKey("worker_0"),
          R"({"collections": {}})");
  const RunSummary summary = SummarizeRun(*storage_);
  EXPECT_EQ(summary.num_workers, 0);
  EXPECT_THAT(summary.damage, IsEmpty());
}

TEST_F(RunSummaryTest, ALedgerThatDoesNotParseIsDamage) {
  PutFile(*storage_, run::LedgerKey("worker_0"), R"({"lost": "many"})");
  ExpectOneDamage(run::LedgerKey("worker_0"), "lost: expected a whole number");
  EXPECT_FALSE(SummarizeRun(*storage_).workers.at(0).ledger.has_value());
}

TEST_F(RunSummaryTest, AMissingLedgerIsDamageUnlessTheRunIsOfSmdebug1) {
  const std::string key = run::LedgerKey("worker_0");
  constexpr std::string_view kReason =
      "is missing, but worker_0 has saved steps";
  PutCollections("worker_0", 1);
  PutStep(0, "worker_0");
  EXPECT_THAT(SummarizeRun(*storage_).damage, IsEmpty());
  PutFile(*storage_, run::kEndMarkerKey, ToJson(run::EndMarker{.run = "some"}));
  ExpectOneDamage(key, kReason);
  storage_->Remove(run::kEndMarkerKey);
  index::StepIndex index = IndexOf(0, "worker_0");
  index.tensors.front().location.crc32c = 1;
  PutFile(*storage_, run::IndexFileKey(0, "worker_0"), ToJson(index));
  ExpectOneDamage(key, kReason);
}

TEST_F(RunSummaryTest, AMissingCollectionsFileIsDamageOnceTheWorkerIsDone) {
  PutStep(0, "worker_0");
  EXPECT_THAT(SummarizeRun(*storage_).damage, IsEmpty());
  constexpr std::string_view kReason =
      "is missing, but worker_0 has saved steps";
  const std::string key = run::CollectionsFileKey("worker_0");
  run::Ledger ledger = {.worker = "worker_0", .closed = true};
  PutFile(*storage_, run::LedgerKey("worker_0"), ToJson(ledger));
  ExpectOneDamage(key, kReason);
  // As in smdebug 1.0, which has no ledgers.
  storage_->Remove(run::LedgerKey("worker_0"));
  PutFile(*storage_, run::kEndMarkerKey, "");
  ExpectOneDamage(key, kReason);
  PutCollections("worker_0", 1);
  EXPECT_THAT(SummarizeRun(*storage_).damage, IsEmpty());
}

TEST_F(RunSummaryTest, StepsThatALedgerCountsAndNobodyHasAreDamage) {
  PutCollections("worker_0", 1);
  PutStep(0, "worker_0");
  PutStep(1, "worker_0");
  run::Ledger ledger = {.worker = "worker_0", .closed = true};
  ledger.stats.steps_saved = 300;
  PutFile(*storage_, run::LedgerKey("worker_0"), ToJson(ledger));
  ExpectOneDamage("index",
                  "298 steps are missing: the ledger of worker_0 says 300 were "
                  "saved, 2 are there");
  // What is damaged is there.
  PutFile(*storage_, run::IndexFileKey(1, "worker_0"), "{");
  EXPECT_THAT(SummarizeRun(*storage_).damage,
              Contains(Field(&Damage::reason, HasSubstr("2 are there"))));
}

TEST_F(RunSummaryTest, FilesThatAreBeingSetAsideAreNotMissed) {
  PutStep(0, "worker_0");
  run::Ledger ledger = {
      .worker = "worker_0", .closed = true, .moving = "previous/1/"};
  ledger.stats.steps_saved = 2;
  PutFile(*storage_, run::LedgerKey("worker_0"), ToJson(ledger));
  EXPECT_THAT(SummarizeRun(*storage_).damage, IsEmpty());
}

TEST_F(RunSummaryTest, ALedgerThatCountsFewerStepsIsOlder) {
  PutCollections("worker_0", 1);
  PutStep(0, "worker_0");
  PutStep(1, "worker_0");
  run::Ledger ledger = {.worker = "worker_0", .closed = true};
  for (const int64_t saved : {0, 1, 2}) {
    ledger.stats.steps_saved = saved;
    PutFile(*storage_, run::LedgerKey("worker_0"), ToJson(ledger));
    EXPECT_THAT(SummarizeRun(*storage_).damage, IsEmpty());
  }
}

TEST_F(RunSummaryTest, ReadsTenThousandSteps) {
  PutCollections("worker_0", 1);
  for (int64_t step = 0; step < 10'000; ++step) PutStep(step, "worker_0");
  const RunSummary summary = SummarizeRun(*storage_);
  EXPECT_EQ(summary.steps, 10'000);
  EXPECT_EQ(summary.workers.at(0).values, 20'000);
  EXPECT_THAT(summary.damage, IsEmpty());
}

}  // namespace
}  // namespace smdebug::query
