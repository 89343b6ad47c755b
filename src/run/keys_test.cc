#include "src/run/keys.h"

#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace smdebug::run {
namespace {

constexpr std::string_view kDevice =
    "_job-worker_replica-0_task-1_device-GPU-0";

TEST(RunFilesTest, ComposesTheKeysOfSmdebug1) {
  EXPECT_EQ(EventFileKey(1234, "worker_0"),
            "events/000000001234/000000001234_worker_0.tfevents");
  EXPECT_EQ(IndexFileKey(1234, "worker_0"),
            "index/000000001/000000001234_worker_0.json");
  EXPECT_EQ(IndexFileKey(5, kDevice),
            "index/000000000/"
            "000000000005__job-worker_replica-0_task-1_device-GPU-0.json");
  EXPECT_EQ(CollectionsFileKey("worker_0"),
            "collections/000000000/worker_0_collections.json");
  EXPECT_EQ(LedgerKey("worker_0"), "ledger/worker_0.json");
  EXPECT_EQ(TensorboardFileKey("TRAIN", 7, 42, "box"),
            "TRAIN/000000000007_42_box.tfevents");
}

TEST(RunFilesTest, NamesOfRulesBecomeFilesOfTheFolder) {
  EXPECT_EQ(RuleReportKey("AllZero-2"), "rules/AllZero-2.json");
  EXPECT_EQ(RuleReportKey("../a b"), "rules/_._a_b.json");
  EXPECT_EQ(RuleFileKey("a/b", "page.html"), "rules/a_b/page.html");
  EXPECT_TRUE(IsRuleReportKey("rules/AllZero-2.json"));
  EXPECT_FALSE(IsRuleReportKey("rules/AllZero/page.json"));
  EXPECT_FALSE(IsRuleReportKey(kAuditKey));
}

TEST(RunFilesTest, PartsOfTheAuditAreNumberedFromTheSecondOn) {
  EXPECT_EQ(AuditKey(1), kAuditKey);
  EXPECT_EQ(AuditKey(2), "rules/actions-000002.jsonl");
  EXPECT_EQ(AuditKey(1'000'000), "rules/actions-1000000.jsonl");
}

TEST(RunFilesTest, IndexFolderHoldsAThousandSteps) {
  EXPECT_EQ(IndexFileKey(0, "w"), "index/000000000/000000000000_w.json");
  EXPECT_EQ(IndexFileKey(999, "w"), "index/000000000/000000000999_w.json");
  EXPECT_EQ(IndexFileKey(1000, "w"), "index/000000001/000000001000_w.json");
}

TEST(RunFilesTest, NumbersBeyondTheirPaddingGrow) {
  EXPECT_EQ(EventFileKey(1'000'000'000'000, "w"),
            "events/1000000000000/1000000000000_w.tfevents");
  EXPECT_EQ(IndexFileKey(1'234'567'890'123, "w"),
            "index/1234567890/1234567890123_w.json");
}

TEST(RunFilesTest, KeysOfConsecutiveStepsSortInOrder) {
  EXPECT_LT(IndexFileKey(9, "w"), IndexFileKey(10, "w"));
  EXPECT_LT(IndexFileKey(999, "w"), IndexFileKey(1000, "w"));
}

TEST(RunFilesTest, StepFileKeysReadBack) {
  const std::vector<int64_t> steps = {0,
                                      1,
                                      999,
                                      1000,
                                      999'999'999'999,
                                      1'000'000'000'000,
                                      std::numeric_limits<int64_t>::max()};
  const std::vector<std::string> workers = {
      "worker_0",           "w",     "algo-1",  "chief_0",
      std::string(kDevice), "_",     "a_b__c_", "1_2",
      "b\xC3\xA4rz",        "a.tmp", "..",      "x.json",
      std::string(200, 'w')};
  for (const int64_t step : steps) {
    for (const std::string& worker : workers) {
      for (const std::string& key :
           {EventFileKey(step, worker), IndexFileKey(step, worker)}) {
        const auto file = ParseStepFileKey(key);
        ASSERT_TRUE(file.has_value()) << key;
        EXPECT_EQ(file->step, step) << key;
        EXPECT_EQ(file->worker, worker) << key;
      }
    }
  }
}

TEST(RunFilesTest, OtherKeysAreNotStepFiles) {
  const std::vector<std::string> keys = {
      "", "events/", "index/", "events/.tfevents", "index/.json",
      "training_job_end.ts", "claim.smd",
      // Pending.
      "events/000000000001/000000000001_worker_0.tfevents.tmp",
      "index/000000000/000000000001_worker_0.json.tmp",
      // Another job's, put aside.
      "previous/1/events/000000000001/000000000001_worker_0.tfevents",
      // Under the wrong folder, or none.
      "events/000000000002/000000000001_worker_0.tfevents",
      "events/000000000001_worker_0.tfevents",
      "index/000000001/000000000999_worker_0.json",
      "index/000000000/000000000000/000000000999_worker_0.json",
      "tensorboard/TRAIN/000000000001_1_host.tfevents",
      // Wrong kind for the folder.
      "events/000000000001/000000000001_worker_0.json",
      "index/000000000/000000000001_worker_0.tfevents",
      "index/000000000/000000000001_worker_0.csv",
      // Numbers that are not written so.
      "index/000000000/1_worker_0.json",
      "index/000000000/0000000000001_worker_0.json",
      "index/000000000/-00000000001_worker_0.json",
      "index/000000000/+00000000001_worker_0.json",
      "index/000000000/0x0000000001_worker_0.json",
      "index/000000000/ 00000000001_worker_0.json",
      "events/9223372036854775808/9223372036854775808_w.tfevents",
      // Workers that cannot be.
      "index/000000000/000000000001.json", "index/000000000/000000000001_.json",
      "index/000000000/000000000001-worker_0.json",
      "index/000000000/000000000001_a\nb.json",
      "index/000000000/000000000001_a/b.json",
      "index/000000000/000000000001_" + std::string(201, 'w') + ".json"};
  for (const std::string& key : keys) {
    EXPECT_FALSE(ParseStepFileKey(key).has_value()) << key;
  }
}

TEST(RunFilesTest, WorkerFileKeysReadBack) {
  for (const std::string& worker :
       {std::string("worker_0"), std::string(kDevice), std::string("a.json"),
        std::string("x_collections.json"), std::string("algo-1")}) {
    EXPECT_EQ(ParseWorkerFileKey(CollectionsFileKey(worker)), worker);
    EXPECT_EQ(ParseWorkerFileKey(LedgerKey(worker)), worker);
  }
}

TEST(RunFilesTest, OtherKeysAreNotWorkerFiles) {
  for (const char* key :
       {"", "ledger/", "ledger/.json", "ledger/worker_0.json.tmp",
        "ledger/a/b.json", "ledger/worker_0", "other/worker_0.json",
        "collections/000000000/_collections.json",
        "collections/000000001/worker_0_collections.json",
        "collections/000000000/worker_0_collections.json.tmp",
        "collections/000000000/worker_0.json"}) {
    EXPECT_FALSE(ParseWorkerFileKey(key).has_value()) << key;
  }
}

TEST(RunFilesTest, WorkerNamesAreCheckedForWhatFileNamesForbid) {
  using std::literals::string_view_literals::operator""sv;
  for (const std::string_view good :
       {"worker_0"sv, "_"sv, ".."sv, "a b"sv, "\xC3\xA4"sv}) {
    EXPECT_TRUE(IsValidWorkerName(good)) << good;
  }
  for (const std::string_view bad :
       {""sv, "a/b"sv, "/"sv, "a\nb"sv, "\0"sv, "a\x7F"sv, "\x1B[31m"sv}) {
    EXPECT_FALSE(IsValidWorkerName(bad)) << bad;
  }
  EXPECT_TRUE(IsValidWorkerName(std::string(200, 'w')));
  EXPECT_FALSE(IsValidWorkerName(std::string(201, 'w')));
}

TEST(RunFilesTest, TellsTheWorkerWhateverTheLayoutOfSteps) {
  for (const std::string& key :
       {EventFileKey(7, "a.b_0"), IndexFileKey(7, "a.b_0"),
        CollectionsFileKey("a.b_0"), LedgerKey("a.b_0"),
        std::string("index/000000000120_a.b_0.pack"),
        std::string("events/3/000000000120_a.b_0.smd")}) {
    EXPECT_EQ(WorkerOfKey(key), "a.b_0") << key;
  }
  for (const char* key :
       {"index/", "index/000000000120", "index/notes.txt", "index/7_.json",
        "index/000000000/000000000007_worker_0.json.tmp", "rules/7_w.json",
        "claim.smd"}) {
    EXPECT_EQ(WorkerOfKey(key), std::nullopt) << key;
  }
}

}  // namespace
}  // namespace smdebug::run
