#include "src/cli/status_report.h"

#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace smdebug::cli {
namespace {

using index::Ledger;
using index::RunSummary;
using index::WorkerSummary;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr double kNow = 1'700'000'000;

WorkerSummary MakeWorker(const std::string& name, bool closed, double age) {
  WorkerSummary worker;
  worker.worker = name;
  worker.steps = 3;
  worker.tensors = 60;
  worker.bytes = 1536;
  worker.first_step = 0;
  worker.last_step = 20;
  worker.ledger = Ledger{};
  worker.ledger->worker = name;
  worker.ledger->closed = closed;
  worker.ledger->updated = kNow - age;
  return worker;
}

RunSummary MakeRun(std::vector<WorkerSummary> workers) {
  RunSummary run;
  run.steps = 3;
  run.num_workers = static_cast<int64_t>(workers.size());
  for (WorkerSummary& worker : workers) {
    worker.ledger->num_workers = run.num_workers;
  }
  run.workers = std::move(workers);
  return run;
}

TEST(StatusReportTest, ShowsARunOnOneScreen) {
  RunSummary run = MakeRun({MakeWorker("worker_0", false, 3)});
  run.workers[0].ledger->scalars_saved = 21;
  run.workers[0].ledger->stalls = 2;
  run.workers[0].ledger->stalled_seconds = 0.25;
  EXPECT_EQ(StatusText(run, "/runs/a", kNow),
            "run       /runs/a\n"
            "state     running: worker_0 last updated 3 s ago\n"
            "workers   1 of 1 (worker_0)\n"
            "steps     3 (0..20)\n"
            "tensors   60\n"
            "size      1.5 KiB\n"
            "scalars   21\n"
            "stalls    2 (0.25 s)\n"
            "dropped   0\n"
            "skipped   0\n"
            "errors    0\n"
            "lost      0\n"
            "damage    none\n");
  EXPECT_TRUE(IsWell(run));
}

TEST(StatusReportTest, GivesEachOfSeveralWorkersARow) {
  RunSummary run = MakeRun(
      {MakeWorker("worker_0", true, 0), MakeWorker("worker_1", true, 0)});
  run.ended = true;
  run.workers[1].ledger->lost = 4;
  const std::string text = StatusText(run, "/runs/a", kNow);
  EXPECT_THAT(text, HasSubstr("state     finished\n"));
  EXPECT_THAT(text, HasSubstr("workers   2 of 2\n"));
  EXPECT_THAT(text, HasSubstr("tensors   120\n"));
  EXPECT_THAT(text, HasSubstr("lost      4\n"));
  EXPECT_THAT(text, HasSubstr("\nworker_0               3 (0..20)"));
  EXPECT_THAT(text, HasSubstr("\nworker_1               3 (0..20)"));
  EXPECT_FALSE(IsWell(run));
}

TEST(StatusReportTest, StateFollowsMarkerAndLedgers) {
  RunSummary closed = MakeRun({MakeWorker("w", true, 9999)});
  EXPECT_EQ(StateOf(closed, kNow), RunState::kFinished);
  closed.num_workers = 2;  // Another worker has yet to appear.
  EXPECT_EQ(StateOf(closed, kNow), RunState::kUnknown);

  RunSummary open = MakeRun({MakeWorker("w", false, kRunningSeconds)});
  EXPECT_EQ(StateOf(open, kNow), RunState::kRunning);
  EXPECT_EQ(StateOf(open, kNow + 1), RunState::kNotClosed);
  open.ended = true;
  EXPECT_EQ(StateOf(open, kNow + 1), RunState::kFinished);

  RunSummary old;  // smdebug 1.0 has no ledgers.
  old.workers.resize(1);
  EXPECT_EQ(StateOf(old, kNow), RunState::kUnknown);
  old.ended = true;
  EXPECT_EQ(StateOf(old, kNow), RunState::kFinished);
}

TEST(StatusReportTest, OneLiveWorkerIsEnoughToBeRunning) {
  const RunSummary run =
      MakeRun({MakeWorker("a", false, 5), MakeWorker("b", false, 300)});
  EXPECT_THAT(StatusText(run, "r", kNow),
              HasSubstr("running: a last updated 5 s ago, "
                        "b last updated 5 min ago\n"));
}

TEST(StatusReportTest, ASilentOpenWorkerIsNamed) {
  const RunSummary run = MakeRun({MakeWorker("w", false, 7200)});
  EXPECT_THAT(StatusText(run, "r", kNow),
              HasSubstr("state     not closed: w last updated 2 h ago\n"));
}

TEST(StatusReportTest, WithoutLedgersLossIsSaidToBeUnknown) {
  RunSummary run = MakeRun({MakeWorker("worker_0", true, 0)});
  run.workers[0].ledger.reset();
  const std::string text = StatusText(run, "r", kNow);
  EXPECT_THAT(text, HasSubstr("state     no end marker"));
  EXPECT_THAT(text, HasSubstr("ledger    none"));
  EXPECT_THAT(text, Not(HasSubstr("\nlost")));
  EXPECT_TRUE(IsWell(run));
}

TEST(StatusReportTest, TroubleAndDamageShowTheFirstFewAndCountTheRest) {
  RunSummary run = MakeRun({MakeWorker("worker_0", true, 0)});
  for (char kind = 'a'; kind < 'h'; ++kind) {
    run.workers[0].ledger->messages[std::string(1, kind)] = "text";
    run.damage.push_back({std::string("file_") + kind, "is missing"});
  }
  const std::string text = StatusText(run, "r", kNow);
  EXPECT_THAT(text, HasSubstr("trouble   worker_0, a: text\n"));
  EXPECT_THAT(text, HasSubstr("          worker_0, e: text\n"
                              "          ... and 2 more\n"));
  EXPECT_THAT(text, HasSubstr("damage    7 files\n"
                              "          file_a: is missing\n"));
  EXPECT_THAT(text, Not(HasSubstr("file_f")));
}

TEST(StatusReportTest, ControlCharactersNeverReachTheTerminal) {
  RunSummary run = MakeRun({MakeWorker("worker_0", true, 0)});
  run.workers[0].ledger->messages["write"] = "a\x1B[2Jb\nc";
  run.damage.push_back({"f\x1B", "r\x07\x7F"});
  const std::string text = StatusText(run, "r\x1B", kNow);
  EXPECT_THAT(text, HasSubstr("a?[2Jb?c"));
  EXPECT_THAT(text, HasSubstr("f?: r??"));
  EXPECT_THAT(text, Not(HasSubstr("\x1B")));
}

TEST(StatusReportTest, OnlyDamageLossDropsAndErrorsAreUnwell) {
  const auto well_with = [](auto change) {
    RunSummary run = MakeRun({MakeWorker("w", true, 0)});
    change(run, *run.workers[0].ledger);
    return IsWell(run);
  };
  EXPECT_TRUE(well_with([](auto&, Ledger& l) { l.skipped = l.stalls = 1; }));
  EXPECT_FALSE(well_with([](auto&, Ledger& l) { l.dropped = 1; }));
  EXPECT_FALSE(well_with([](auto&, Ledger& l) { l.errors = 1; }));
  EXPECT_FALSE(well_with([](auto&, Ledger& l) { l.lost = 1; }));
  EXPECT_FALSE(
      well_with([](RunSummary& r, Ledger&) { r.damage.push_back({}); }));
}

TEST(StatusReportTest, JsonHoldsTheSameNumbers) {
  RunSummary run = MakeRun(
      {MakeWorker("worker_0", true, 1), MakeWorker("worker_1", false, 2)});
  run.workers[0].ledger->dropped = 5;
  run.workers[0].ledger->messages["full"] = "no room";
  run.workers[1].ledger.reset();
  run.damage.push_back({"events/x",
                        "b\xFF"
                        "d"});
  const auto json = nlohmann::json::parse(StatusJson(run, "/runs/a", kNow));
  EXPECT_EQ(json["run"], "/runs/a");
  EXPECT_EQ(json["state"], "unknown");
  EXPECT_EQ(json["well"], false);
  EXPECT_EQ(json["ended"], false);
  EXPECT_EQ(json["num_workers"], 2);
  EXPECT_EQ(json["steps"], 3);
  EXPECT_EQ(json["first_step"], 0);
  EXPECT_EQ(json["last_step"], 20);
  EXPECT_EQ(json["tensors"], 120);
  EXPECT_EQ(json["bytes"], 3072);
  EXPECT_EQ(json["ledgers"], 1);
  EXPECT_EQ(json["dropped"], 5);
  ASSERT_EQ(json["workers"].size(), 2u);
  EXPECT_EQ(json["workers"][0]["ledger"]["messages"]["full"], "no room");
  EXPECT_EQ(json["workers"][0]["ledger"]["last_step"], nullptr);
  EXPECT_EQ(json["workers"][1]["ledger"], nullptr);
  ASSERT_EQ(json["damage"].size(), 1u);
  EXPECT_EQ(json["damage"][0]["file"], "events/x");
}

}  // namespace
}  // namespace smdebug::cli
