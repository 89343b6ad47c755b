#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "smdebug/action.h"
#include "smdebug/storage.h"
#include "src/actions/child_for_test.h"
#include "src/base/host.h"
#include "src/base/process.h"
#include "src/run/claim.h"
#include "src/run/ledger.h"
#include "src/run/presence.h"
#include "tests/testing/temp_dir.h"

namespace smdebug::actions {
namespace {

using ::testing::HasSubstr;

constexpr std::chrono::milliseconds kPatience = std::chrono::minutes(5);
constexpr std::chrono::milliseconds kNone{0};

std::string Text(int64_t number) { return std::to_string(number); }

std::unique_ptr<Action> StopOf(const std::string& target,
                               std::chrono::milliseconds grace = kPatience) {
  return MakeAction({.kind = "stop", .target = target}, {.grace = grace});
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
    EXPECT_THROW(MakeAction({.kind = "stop", .target = target}, {}),
                 ConfigError)
        << target;
  }
}

// A run that is said to be written by processes of this machine.
class StopWritersTest : public ::testing::Test {
 protected:
  StopWritersTest() : run_(OpenLocalStorage(dir_ / "job-7/out")) {
    Write("claim.smd", "");  // The folder has to be there to be known.
  }

  void Write(const std::string& key, const std::string& text) {
    const auto file = run_->Create(key);
    const Bytes bytes = std::as_bytes(std::span(text));
    file->Append({&bytes, 1});
    file->Publish();
  }

  // A process that takes the place of `worker`, as a hook does.
  std::unique_ptr<Child> Writer(const std::string& worker = "worker_0") {
    const run::Presence presence(run::PresenceName(*run_, kRun, worker));
    return std::make_unique<Child>();
  }

  static run::Ledger LedgerOf(const Child& child,
                              const std::string& worker = "worker_0") {
    return {.worker = worker,
            .run = kRun,
            .host = base::HostName(),
            .pid = child.pid(),
            .start = base::ProcessStart(child.pid())};
  }

  void Write(const run::Ledger& ledger) {
    Write("ledger/" + ledger.worker + ".json", run::ToJson(ledger));
  }

  std::string Do(const std::string& prefix = "") {
    const auto stop = MakeAction({.kind = "stop", .job_prefix = prefix},
                                 {.grace = kPatience});
    return stop->Do({.rule = "R", .store = run_, .run_id = kRun, .step = 3});
  }

  static constexpr const char* kRun = "an-id";
  testing::TempDir dir_;
  const std::shared_ptr<Storage> run_;
};

TEST_F(StopWritersTest, EveryWorkerOfTheJobIsEnded) {
  const auto first = Writer("worker_0");
  const auto second = Writer("worker_1");
  Write(LedgerOf(*first, "worker_0"));
  Write(LedgerOf(*second, "worker_1"));
  EXPECT_EQ(Do(), "2 ended after SIGTERM");
  EXPECT_EQ(first->EndedBy(), SIGTERM);
  EXPECT_EQ(second->EndedBy(), SIGTERM);
}

TEST_F(StopWritersTest, WhatAFileClaimsAloneStopsNobody) {
  const Child bystander;
  Write(LedgerOf(bystander));
  Write("claim.smd",
        run::ToJson(run::Claim{.run = kRun,
                               .worker = "worker_0",
                               .host = base::HostName(),
                               .pid = bystander.pid(),
                               .start = base::ProcessStart(bystander.pid())}));
  EXPECT_THROW(Do(), ActionError);
  EXPECT_TRUE(bystander.IsAlive());
}

TEST_F(StopWritersTest, TheWriterOfAnotherRunIsLeftAlone) {
  const auto writer = Writer();
  run::Ledger ledger = LedgerOf(*writer);
  ledger.run = "another-id";
  Write(ledger);
  EXPECT_THROW(Do(), ActionError);
  // The same run, as a copy of its files in another folder claims.
  Write(LedgerOf(*writer));
  std::filesystem::copy(run_->root(), dir_ / "copy",
                        std::filesystem::copy_options::recursive);
  const auto stop = MakeAction({.kind = "stop"}, {.grace = kPatience});
  EXPECT_THROW(stop->Do({.rule = "R",
                         .store = OpenLocalStorage(dir_ / "copy"),
                         .run_id = kRun,
                         .step = 3}),
               ActionError);
  EXPECT_TRUE(writer->IsAlive());
  EXPECT_EQ(Do(), "1 ended after SIGTERM");
}

TEST_F(StopWritersTest, ARunThatHasTakenThePlaceOfTheJudgedOneIsLeftAlone) {
  const auto writer = Writer();
  Write(LedgerOf(*writer));
  const auto stop = MakeAction({.kind = "stop"}, {.grace = kPatience});
  for (const char* judged : {"the-run-before", ""}) {
    try {
      stop->Do({.rule = "R", .store = run_, .run_id = judged, .step = 3});
      ADD_FAILURE() << judged;
    } catch (const ActionError& error) {
      EXPECT_THAT(error.reason(), HasSubstr("holds another run"));
    }
  }
  EXPECT_TRUE(writer->IsAlive());
}

TEST_F(StopWritersTest, WithoutARunNobodyIsStopped) {
  const auto stop = MakeAction({.kind = "stop"}, {.grace = kPatience});
  EXPECT_THROW(stop->Do({.rule = "R", .step = 3}), ActionError);
}

TEST_F(StopWritersTest, WhoDoesNotWriteTheRunHereIsLeftAlone) {
  const auto writer = Writer();
  run::Ledger closed = LedgerOf(*writer);
  closed.closed = true;
  run::Ledger elsewhere = LedgerOf(*writer);
  elsewhere.host = "elsewhere";
  run::Ledger earlier = LedgerOf(*writer);
  --earlier.start;  // So the number was given again.
  run::Ledger init = LedgerOf(*writer);
  init.pid = 1;
  for (const run::Ledger& ledger : {closed, elsewhere, earlier, init}) {
    Write(ledger);
    EXPECT_THROW(Do(), ActionError);
  }
  EXPECT_TRUE(writer->IsAlive());
}

TEST_F(StopWritersTest, OnlyTheJobWithThePrefixIsEnded) {
  const auto writer = Writer();
  run::Ledger ledger = LedgerOf(*writer);
  ledger.job = "train-2026";
  Write(ledger);
  EXPECT_THROW(Do("rain"), ActionError);
  EXPECT_TRUE(writer->IsAlive());
  EXPECT_EQ(Do("train"), "1 ended after SIGTERM");
}

TEST_F(StopWritersTest, AFolderOfTheRunNamesTheJobToo) {
  const auto writer = Writer();
  Write(LedgerOf(*writer));
  EXPECT_EQ(Do("job-"), "1 ended after SIGTERM");
}

TEST_F(StopWritersTest, NothingIsStoppedIfSeveralJobsFit) {
  const auto first = Writer("worker_0");
  const auto second = Writer("worker_1");
  run::Ledger ledger = LedgerOf(*first, "worker_0");
  ledger.job = "train-1";
  Write(ledger);
  ledger = LedgerOf(*second, "worker_1");
  ledger.job = "train-2";
  Write(ledger);
  EXPECT_THROW(Do("train"), ActionError);
  EXPECT_TRUE(first->IsAlive());
  EXPECT_TRUE(second->IsAlive());
}

TEST_F(StopWritersTest, ARunWithoutWriterIsLeftAlone) {
  EXPECT_THROW(Do(), ActionError);
  Write("ledger/worker_0.json", "{torn");
  EXPECT_THROW(Do(), ActionError);
}

}  // namespace
}  // namespace smdebug::actions
