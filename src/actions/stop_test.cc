#include "src/actions/stop.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "smdebug/storage.h"
#include "src/actions/child_for_test.h"
#include "src/base/clock.h"
#include "src/base/host.h"
#include "src/base/process.h"
#include "src/index/claim.h"
#include "src/index/ledger.h"
#include "tests/testing/temp_dir.h"

namespace smdebug::actions {
namespace {

using ::testing::HasSubstr;

constexpr std::chrono::milliseconds kLong = std::chrono::minutes(5);
constexpr std::chrono::milliseconds kNone{0};

std::string Text(int64_t number) { return std::to_string(number); }

std::unique_ptr<Action> StopOf(const std::string& target,
                               std::chrono::milliseconds grace = kLong) {
  return MakeStop({.kind = ActionKind::kStop, .target = target}, grace);
}

TEST(StopTest, AProcessIsAskedToEnd) {
  Child child;
  Child other;
  const auto stop = StopOf(Text(child.pid()));
  EXPECT_EQ(stop->Do({.rule = "R", .step = 3}), "1 ended after SIGTERM");
  EXPECT_EQ(child.EndedBy(), SIGTERM);
  EXPECT_TRUE(other.IsAlive());
}

TEST(StopTest, AProcessThatIgnoresThatIsKilled) {
  Child child(Child::OnTerm::kIgnore);
  const auto stop = StopOf(Text(child.pid()), kNone);
  EXPECT_EQ(stop->Do({.rule = "R", .step = 3}), "1 ended after SIGKILL");
  EXPECT_EQ(child.EndedBy(), SIGKILL);
}

TEST(StopTest, AProcessThatHasEndedIsLeftAlone) {
  Child child;
  const auto stop = StopOf(Text(child.pid()));
  kill(child.pid(), SIGKILL);
  child.EndedBy();
  EXPECT_EQ(stop->Do({.rule = "R", .step = 3}), "it had already ended");
}

TEST(StopTest, AnotherProcessWithTheSameNumberIsLeftAlone) {
  const Child child;
  const auto id = base::FindProcess(child.pid());
  ASSERT_TRUE(id);
  const base::ProcessId earlier{.pid = id->pid, .start = id->start - 1};
  const base::Ended ended =
      base::EndProcesses([&] { return std::vector{earlier}; }, kNone);
  EXPECT_EQ(ended.asked + ended.killed, 0);
  EXPECT_TRUE(child.IsAlive());
}

TEST(StopTest, AGroupIsEndedWhole) {
  Child leader(Child::OnTerm::kEnd, 0);
  Child member(Child::OnTerm::kIgnore, leader.pid());
  const Child outsider;
  const auto stop = StopOf("-" + Text(leader.pid()), kNone);
  // One that joins later belongs to it, too.
  Child late(Child::OnTerm::kIgnore, leader.pid());
  EXPECT_THAT(stop->Do({.rule = "R", .step = 3}), HasSubstr("SIGKILL"));
  EXPECT_NE(leader.EndedBy(), 0);
  EXPECT_EQ(member.EndedBy(), SIGKILL);
  EXPECT_EQ(late.EndedBy(), SIGKILL);
  EXPECT_TRUE(outsider.IsAlive());
}

TEST(StopTest, AGroupWithoutItsLeaderIsEnded) {
  Child leader(Child::OnTerm::kEnd, 0);
  Child member(Child::OnTerm::kEnd, leader.pid());
  const auto stop = StopOf("-" + Text(leader.pid()));
  kill(leader.pid(), SIGKILL);
  leader.EndedBy();
  EXPECT_EQ(stop->Do({.rule = "R", .step = 3}), "1 ended after SIGTERM");
  EXPECT_EQ(member.EndedBy(), SIGTERM);
}

TEST(StopTest, WhatMustNotBeStoppedIsRefused) {
  Child ended;
  kill(ended.pid(), SIGKILL);
  const pid_t gone = ended.pid();
  ended.EndedBy();
  for (const std::string& target :
       {Text(getpid()), "-" + Text(getpgrp()), Text(gone), "-" + Text(gone)}) {
    EXPECT_THROW(StopOf(target), ConfigError) << target;
  }
  for (const char* target : {"0", "1", "-1", "x"}) {
    EXPECT_THROW(MakeAction({.kind = ActionKind::kStop, .target = target}, {}),
                 ConfigError)
        << target;
  }
}

// A run that is said to be written by processes of this machine.
class StopWritersTest : public ::testing::Test {
 protected:
  StopWritersTest() : run_(OpenLocalStorage(dir_ / "job-7/out")) {}

  void Write(const std::string& key, const std::string& text) {
    const auto file = run_->Create(key);
    const Bytes bytes = std::as_bytes(std::span(text));
    file->Append({&bytes, 1});
    file->Publish();
  }

  index::Ledger LedgerOf(const Child& child) {
    return {.worker = "worker_0",
            .host = base::HostName(),
            .pid = child.pid(),
            .started = base::WallSeconds()};
  }

  void Write(const index::Ledger& ledger) {
    Write("ledger/" + ledger.worker + ".json", index::ToJson(ledger));
  }

  std::string Do(const std::string& prefix = "") {
    const auto stop =
        MakeStop({.kind = ActionKind::kStop, .job_prefix = prefix}, kLong);
    return stop->Do({.rule = "R", .run = run_->root(), .step = 3});
  }

  testing::TempDir dir_;
  const std::shared_ptr<Storage> run_;
};

TEST_F(StopWritersTest, EveryWorkerOfTheJobIsEnded) {
  Child first;
  Child second;
  Write(LedgerOf(first));
  index::Ledger ledger = LedgerOf(second);
  ledger.worker = "worker_1";
  Write(ledger);
  EXPECT_EQ(Do(), "2 ended after SIGTERM");
  EXPECT_EQ(first.EndedBy(), SIGTERM);
  EXPECT_EQ(second.EndedBy(), SIGTERM);
}

TEST_F(StopWritersTest, TheClaimTellsOneProcessFromAnother) {
  Child child;
  Write(LedgerOf(child));
  index::Claim claim{.host = base::HostName(),
                     .pid = child.pid(),
                     .start = base::ProcessStart(child.pid()) - 1};
  Write("claim.smd", index::ToJson(claim));
  EXPECT_THROW(Do(), ActionError);
  EXPECT_TRUE(child.IsAlive());
  ++claim.start;
  Write("claim.smd", index::ToJson(claim));
  EXPECT_EQ(Do(), "1 ended after SIGTERM");
}

TEST_F(StopWritersTest, WhoDoesNotWriteTheRunHereIsLeftAlone) {
  const Child child;
  index::Ledger closed = LedgerOf(child);
  closed.closed = true;
  index::Ledger elsewhere = LedgerOf(child);
  elsewhere.host = "elsewhere";
  index::Ledger earlier = LedgerOf(child);
  earlier.started = 1;  // So the number was given again.
  index::Ledger init = LedgerOf(child);
  init.pid = 1;
  for (const index::Ledger& ledger : {closed, elsewhere, earlier, init}) {
    Write(ledger);
    EXPECT_THROW(Do(), ActionError);
  }
  EXPECT_TRUE(child.IsAlive());
}

TEST_F(StopWritersTest, OnlyTheJobWithThePrefixIsEnded) {
  Child child;
  index::Ledger ledger = LedgerOf(child);
  ledger.job = "train-2026";
  Write(ledger);
  EXPECT_THROW(Do("rain"), ActionError);
  EXPECT_TRUE(child.IsAlive());
  EXPECT_EQ(Do("train"), "1 ended after SIGTERM");
}

TEST_F(StopWritersTest, AFolderOfTheRunNamesTheJobToo) {
  const Child child;
  Write(LedgerOf(child));
  EXPECT_EQ(Do("job-"), "1 ended after SIGTERM");
}

TEST_F(StopWritersTest, NothingIsStoppedIfSeveralJobsFit) {
  const Child first;
  const Child second;
  index::Ledger ledger = LedgerOf(first);
  ledger.job = "train-1";
  Write(ledger);
  ledger = LedgerOf(second);
  ledger.job = "train-2";
  ledger.worker = "worker_1";
  Write(ledger);
  EXPECT_THROW(Do("train"), ActionError);
  EXPECT_TRUE(first.IsAlive());
  EXPECT_TRUE(second.IsAlive());
}

TEST_F(StopWritersTest, ARunWithoutWriterIsLeftAlone) {
  EXPECT_THROW(Do(), ActionError);
  Write("ledger/worker_0.json", "{torn");
  EXPECT_THROW(Do(), ActionError);
}

}  // namespace
}  // namespace smdebug::actions
