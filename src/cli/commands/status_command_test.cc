// `smdebug status`, called as a user would, over runs in real files.
#include <algorithm>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "src/base/clock.h"
#include "src/cli/command.h"
#include "src/index/step_index.h"
#include "src/run/keys.h"
#include "src/run/ledger.h"
#include "tests/testing/files.h"
#include "tests/testing/temp_dir.h"

namespace smdebug::cli {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;
using testing::TempDir;
using testing::WriteFile;

class StatusCommandTest : public ::testing::Test {
 protected:
  int Call(const std::vector<std::string>& args) {
    std::ostringstream out;
    std::ostringstream err;
    const int code = Main(args, {out, err});
    out_ = out.str();
    err_ = err.str();
    return code;
  }
  int Status() { return Call({"status", dir_.path().string()}); }

  void Put(std::string_view key, std::string_view content) {
    WriteFile(dir_ / key, content);
  }

  void PutStep(int64_t step, std::string_view worker) {
    index::StepIndex index;
    index.mode_step = step;
    index.event_file = run::EventFileKey(step, worker);
    index.tensors = {{"w", {0, 50, {}}}, {"b", {50, 50, {}}}};
    Put(index.event_file, std::string(100, 'x'));
    Put(run::IndexFileKey(step, worker), ToJson(index));
  }

  void PutCollections(std::string_view worker) {
    Put(run::CollectionsFileKey(worker),
        R"({"collections": {}, "_meta": {"num_workers": 1}})");
  }

  static run::Ledger MakeLedger(std::string_view worker) {
    run::Ledger ledger;
    ledger.worker = worker;
    ledger.updated = base::WallSeconds();
    return ledger;
  }
  void PutLedger(const run::Ledger& ledger) {
    Put(run::LedgerKey(ledger.worker), ToJson(ledger));
  }

  TempDir dir_;
  std::string out_;
  std::string err_;
};

TEST_F(StatusCommandTest, ARunInProgressIsWell) {
  PutCollections("worker_0");
  PutStep(0, "worker_0");
  PutStep(1000, "worker_0");
  PutLedger(MakeLedger("worker_0"));
  EXPECT_EQ(Status(), kExitOk) << out_ << err_;
  EXPECT_THAT(out_, StartsWith("run       " + dir_.path().string() + "\n"));
  EXPECT_THAT(out_, HasSubstr("state     running: worker_0"));
  EXPECT_THAT(out_, HasSubstr("steps     2 (0..1000)\n"));
  EXPECT_THAT(out_, HasSubstr("tensors   2\nvalues    4\n"));
  EXPECT_THAT(out_, HasSubstr("size      200 B\n"));
  EXPECT_THAT(out_, EndsWith("damage    none\n"));
  EXPECT_THAT(err_, IsEmpty());
}

TEST_F(StatusCommandTest, ARunOfSmdebug1IsWell) {
  PutCollections("worker_0");
  PutStep(0, "worker_0");
  Put(run::kEndMarkerKey, "");
  EXPECT_EQ(Status(), kExitOk) << out_ << err_;
  EXPECT_THAT(out_, HasSubstr("state     finished\n"));
  EXPECT_THAT(out_, HasSubstr("ledger    none"));
}

TEST_F(StatusCommandTest, PendingFilesAreNotCounted) {
  PutStep(0, "worker_0");
  Put(run::EventFileKey(1, "worker_0") + ".tmp", "half");
  Put(run::IndexFileKey(1, "worker_0") + ".tmp", "{");
  EXPECT_EQ(Status(), kExitOk) << out_;
  EXPECT_THAT(out_, HasSubstr("steps     1 (0..0)\n"));
  EXPECT_THAT(out_, HasSubstr("size      100 B\n"));
}

TEST_F(StatusCommandTest, LostTensorsAreTheCommandsNo) {
  PutStep(0, "worker_0");
  run::Ledger ledger = MakeLedger("worker_0");
  ledger.stats.errors = 1;
  ledger.stats.lost = 2;
  ledger.messages["write"] = "no space left on device";
  PutLedger(ledger);
  EXPECT_EQ(Status(), kExitFound);
  EXPECT_THAT(out_, HasSubstr("errors    1\nlost      2\n"));
  EXPECT_THAT(
      out_, HasSubstr("trouble   worker_0, write: no space left on device\n"));
}

TEST_F(StatusCommandTest, DamageIsTheCommandsNo) {
  PutStep(0, "worker_0");
  PutStep(1, "worker_0");
  Put(run::EventFileKey(1, "worker_0"), "short");
  EXPECT_EQ(Status(), kExitFound);
  EXPECT_THAT(out_,
              HasSubstr("damage    1 file\n          " +
                        run::EventFileKey(1, "worker_0") + ": has 5 bytes"));
}

TEST_F(StatusCommandTest, JsonIsOneObject) {
  PutStep(7, "worker_0");
  PutStep(7, "worker_1");
  PutLedger(MakeLedger("worker_0"));
  PutLedger(MakeLedger("worker_1"));
  EXPECT_EQ(Call({"status", "--json", dir_.path().string()}), kExitOk);
  const auto json = nlohmann::json::parse(out_);
  EXPECT_EQ(json["run"], dir_.path().string());
  EXPECT_EQ(json["state"], "running");
  EXPECT_EQ(json["well"], true);
  EXPECT_EQ(json["steps"], 1);
  EXPECT_EQ(json["tensors"], 2);
  EXPECT_EQ(json["values"], 4);
  EXPECT_EQ(json["workers"].size(), 2u);
  EXPECT_EQ(json["damage"].size(), 0u);
}

TEST_F(StatusCommandTest, WhatIsNotARunGetsOneClearSentence) {
  Put("notes.txt", "x");
  const struct {
    std::string path;
    std::string message;
  } cases[] = {
      {dir_ / "absent", "absent: no such folder\n"},
      {dir_ / "notes.txt", "notes.txt: is a file; give the folder of the run"},
      {dir_.path().string(), ": holds no run"},
      {"s3://bucket/run", "s3://bucket/run"},
      {dir_ / "notes.txt/run",
       "notes.txt/run: lies in a file; give the folder of the run (its "
       "out_dir)"},
      {"", "'' names no folder; give the folder of the run (its out_dir)"},
  };
  for (const auto& test : cases) {
    EXPECT_EQ(Call({"status", test.path}), kExitError) << test.path;
    EXPECT_THAT(err_, StartsWith("smdebug: "));
    EXPECT_THAT(err_, HasSubstr(test.message));
    EXPECT_EQ(std::ranges::count(err_, '\n'), 1) << err_;
    EXPECT_THAT(out_, IsEmpty());
  }
}

}  // namespace
}  // namespace smdebug::cli
