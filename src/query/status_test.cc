#include "src/query/status.h"

#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "src/query/status_for_test.h"

namespace smdebug::query {
namespace {

using run::Ledger;

TEST(StatusTest, OnlyDamageLossDropsAndErrorsAreUnwell) {
  const auto well_with = [](auto change) {
    RunSummary run = MakeRun({MakeWorker("w", true, 0)});
    change(run, *run.workers[0].ledger);
    return StatusOf(std::move(run), "r", kNow).well();
  };
  EXPECT_TRUE(well_with(
      [](auto&, Ledger& l) { l.stats.skipped = l.stats.stalls = 1; }));
  EXPECT_FALSE(well_with([](auto&, Ledger& l) { l.stats.dropped = 1; }));
  EXPECT_FALSE(well_with([](auto&, Ledger& l) { l.stats.errors = 1; }));
  EXPECT_FALSE(well_with([](auto&, Ledger& l) { l.stats.lost = 1; }));
  EXPECT_FALSE(
      well_with([](RunSummary& r, Ledger&) { r.damage.push_back({}); }));
}

TEST(StatusTest, JsonHoldsTheSameNumbers) {
  RunSummary run = MakeRun(
      {MakeWorker("worker_0", true, 1), MakeWorker("worker_1", false, 2)});
  run.workers[0].ledger->stats.dropped = 5;
  run.workers[0].ledger->messages["full"] = "no room";
  run.workers[1].ledger.reset();
  run.damage.push_back({"events/x",
                        "b\xFF"
                        "d"});
  Json json = ToJson(StatusOf(run, "/runs/a", kNow));
  EXPECT_EQ(json["run"], "/runs/a");
  EXPECT_EQ(json["state"], "unknown");
  EXPECT_EQ(json["well"], false);
  EXPECT_EQ(json["ended"], false);
  EXPECT_EQ(json["num_workers"], 2);
  EXPECT_EQ(json["steps"], 3);
  EXPECT_EQ(json["first_step"], 0);
  EXPECT_EQ(json["last_step"], 20);
  EXPECT_EQ(json["tensors"], 20);
  EXPECT_EQ(json["values"], 120);
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
}  // namespace smdebug::query
