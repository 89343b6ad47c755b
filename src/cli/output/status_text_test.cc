#include "src/cli/output/status_text.h"

#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/query/status_for_test.h"

namespace smdebug::cli {
namespace {

using query::kNow;
using query::MakeRun;
using query::MakeWorker;
using query::RunSummary;
using query::StatusOf;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(StatusTextTest, ShowsARunOnOneScreen) {
  RunSummary run = MakeRun({MakeWorker("worker_0", false, 3)});
  run.workers[0].ledger->stats.scalars_saved = 21;
  run.workers[0].ledger->stats.stalls = 2;
  run.workers[0].ledger->stats.stalled_seconds = 0.25;
  run.info = {.id = "an-id", .state = RunState::kRunning};
  EXPECT_EQ(StatusText(StatusOf(run, "/runs/a", kNow)),
            "run       /runs/a\n"
            "state     running: worker_0 last updated 3 s ago\n"
            "id        an-id\n"
            "workers   1 of 1 (worker_0)\n"
            "steps     3 (0..20)\n"
            "tensors   20\n"
            "values    60\n"
            "size      1.5 KiB\n"
            "scalars   21\n"
            "stalls    2 (0.25 s)\n"
            "dropped   0\n"
            "skipped   0\n"
            "errors    0\n"
            "lost      0\n"
            "damage    none\n");
}

TEST(StatusTextTest, GivesEachOfSeveralWorkersARow) {
  RunSummary run = MakeRun(
      {MakeWorker("worker_0", true, 0), MakeWorker("worker_1", true, 0)});
  run.info.state = RunState::kFinished;
  run.workers[1].ledger->stats.lost = 4;
  const std::string text = StatusText(StatusOf(run, "/runs/a", kNow));
  EXPECT_THAT(text, HasSubstr("state     finished\n"));
  EXPECT_THAT(text, HasSubstr("workers   2 of 2\n"));
  EXPECT_THAT(text, HasSubstr("values    120\n"));
  EXPECT_THAT(text, HasSubstr("lost      4\n"));
  EXPECT_THAT(text, HasSubstr("\nworker_0               3 (0..20)"));
  EXPECT_THAT(text, HasSubstr("\nworker_1               3 (0..20)"));
}

TEST(StatusTextTest, WhatNeedsAttentionIsRedOnATerminal) {
  RunSummary run = MakeRun({MakeWorker("worker_0", true, 0)});
  run.info = {.state = RunState::kKilled, .reason = "it is gone"};
  run.workers[0].ledger->stats.lost = 4;
  run.workers[0].ledger->messages = {{"write", "no space"}};
  run.damage = {{.file = "a", .reason = "is missing"}};
  const Terminal terminal = {.is_terminal = true, .colour = true};
  const std::string text = StatusText(StatusOf(run, "r", kNow), terminal);
  for (const char* line : {"state     killed: it is gone", "lost      4",
                           "trouble   worker_0, write: no space",
                           "damage    1 file", "          a: is missing"}) {
    EXPECT_THAT(text, HasSubstr(fmt::format("\x1B[31m{}\x1B[0m\n", line)));
  }
  EXPECT_THAT(text, HasSubstr("\ndropped   0\n"));
  EXPECT_THAT(StatusText(StatusOf(run, "r", kNow)), Not(HasSubstr("\x1B")));
}

TEST(StatusTextTest, WhoeverHasNotClosedIsNamed) {
  RunSummary run =
      MakeRun({MakeWorker("a", false, 5), MakeWorker("b", false, 300)});
  run.info.state = RunState::kRunning;
  EXPECT_THAT(StatusText(StatusOf(run, "r", kNow)),
              HasSubstr("running: a last updated 5 s ago, "
                        "b last updated 5 min ago\n"));
}

TEST(StatusTextTest, AWorkerThatIsGoneIsNotCalledAWriter) {
  RunSummary run =
      MakeRun({MakeWorker("a", false, 5), MakeWorker("b", false, 3)});
  run.info = {.state = RunState::kRunning, .reason = "b (process 7) is gone"};
  run.workers[1].gone = true;
  run.workers[1].ledger->last_step = 4;
  const query::RunStatus status = StatusOf(run, "r", kNow);
  const std::string text = StatusText(status);
  EXPECT_THAT(text, HasSubstr("state     running: a last updated 5 s ago; "
                              "b (process 7) is gone\n"));
  EXPECT_THAT(text,
              HasSubstr("ledger    of b: last written at step 4; what was "
                        "dropped or lost later is not known\n"));
  EXPECT_THAT(text, Not(HasSubstr("ledger    of a")));
  EXPECT_EQ(ToJson(status)["workers"][0]["ledger"]["gone"], false);
  EXPECT_EQ(ToJson(status)["workers"][1]["ledger"]["gone"], true);
}

TEST(StatusTextTest, TellsHowAndWhyARunEnded) {
  RunSummary run = MakeRun({MakeWorker("w", false, 7200)});
  run.info = {.state = RunState::kKilled, .reason = "w is gone"};
  EXPECT_THAT(StatusText(StatusOf(run, "r", kNow)),
              HasSubstr("state     killed: w is gone\n"));
  run.info = {.state = RunState::kInterrupted};
  EXPECT_THAT(StatusText(StatusOf(run, "r", kNow)),
              HasSubstr("state     interrupted\n"));
}

TEST(StatusTextTest, WithoutLedgersLossIsSaidToBeUnknown) {
  RunSummary run = MakeRun({MakeWorker("worker_0", true, 0)});
  run.workers[0].ledger.reset();
  const std::string text = StatusText(StatusOf(run, "r", kNow));
  EXPECT_THAT(text, HasSubstr("state     no end marker"));
  EXPECT_THAT(text, HasSubstr("ledger    none"));
  EXPECT_THAT(text, Not(HasSubstr("\nlost")));
}

TEST(StatusTextTest, ADamagedLedgerIsNotCalledAbsent) {
  RunSummary run = MakeRun({MakeWorker("worker_0", true, 0)});
  run.workers[0].ledger.reset();
  EXPECT_THAT(StatusText(StatusOf(run, "r", kNow)),
              HasSubstr("ledger    none (written by smdebug 1.0?), so"));
  run.damage.push_back({.file = "ledger/worker_0.json",
                        .reason = "is not JSON",
                        .kind = DamageKind::kBadLedger});
  const std::string text = StatusText(StatusOf(run, "r", kNow));
  EXPECT_THAT(
      text, HasSubstr("ledger    damaged or gone, so what was dropped or lost "
                      "is not known\n"));
  EXPECT_THAT(text, Not(HasSubstr("smdebug 1.0")));
}

TEST(StatusTextTest, ALedgerThatIsGoneIsCalledMissing) {
  RunSummary run = MakeRun({MakeWorker("worker_0", true, 0)});
  run.workers[0].ledger.reset();
  run.info.id = "some";
  EXPECT_THAT(StatusText(StatusOf(run, "r", kNow)),
              HasSubstr("ledger    missing, so what was dropped or lost is not "
                        "known\n"));
}

TEST(StatusTextTest, OfAKilledRunTheIndexMayKnowMoreThanTheLedger) {
  RunSummary run = MakeRun({MakeWorker("worker_0", false, 0)});
  run.info.state = RunState::kKilled;
  run.workers[0].scalars = 20;
  run.workers[0].ledger->last_step = 4;
  const query::RunStatus status = StatusOf(run, "r", kNow);
  const std::string text = StatusText(status);
  EXPECT_THAT(text, HasSubstr("scalars   20\n"));
  EXPECT_THAT(text,
              HasSubstr("ledger    of worker_0: last written at step 4; what "
                        "was dropped or lost later is not known\n"));
  EXPECT_EQ(ToJson(status)["scalars"], 20);
  run.info.state = RunState::kRunning;
  EXPECT_THAT(StatusText(StatusOf(run, "r", kNow)),
              Not(HasSubstr("last written")));
}

TEST(StatusTextTest, TroubleAndDamageShowTheFirstFewAndCountTheRest) {
  RunSummary run = MakeRun({MakeWorker("worker_0", true, 0)});
  for (char kind = 'a'; kind < 'h'; ++kind) {
    run.workers[0].ledger->messages[std::string(1, kind)] = "text";
    run.damage.push_back({std::string("file_") + kind, "is missing"});
  }
  const std::string text = StatusText(StatusOf(run, "r", kNow));
  EXPECT_THAT(text, HasSubstr("trouble   worker_0, a: text\n"));
  EXPECT_THAT(text, HasSubstr("          worker_0, e: text\n"
                              "          ... and 2 more\n"));
  EXPECT_THAT(text, HasSubstr("damage    7 files\n"
                              "          file_a: is missing\n"));
  EXPECT_THAT(text, Not(HasSubstr("file_f")));
}

TEST(StatusTextTest, ControlCharactersNeverReachTheTerminal) {
  RunSummary run = MakeRun({MakeWorker("worker_0", true, 0)});
  run.workers[0].ledger->messages["write"] = "a\x1B[2Jb\nc";
  run.damage.push_back({"f\x1B", "r\x07\x7F"});
  const std::string text = StatusText(StatusOf(run, "r\x1B", kNow));
  EXPECT_THAT(text, HasSubstr("a?[2Jb?c"));
  EXPECT_THAT(text, HasSubstr("f?: r??"));
  EXPECT_THAT(text, Not(HasSubstr("\x1B")));
}

}  // namespace
}  // namespace smdebug::cli
