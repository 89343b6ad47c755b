#include "src/run/run_folder.h"

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "smdebug/error.h"
#include "src/base/clock.h"
#include "src/base/host.h"
#include "src/run/claim.h"
#include "src/run/keys.h"
#include "src/run/survey.h"
#include "tests/testing/files.h"
#include "tests/testing/log_capture.h"
#include "tests/testing/temp_dir.h"
#include "tests/testing/wrapped_storage.h"

namespace smdebug::run {
namespace {

using smdebug::testing::GetFile;
using smdebug::testing::Keys;
using smdebug::testing::Operation;
using smdebug::testing::PutFile;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

constexpr char kIndex[] = "index/000000000/000000000001_worker_0.json";

// The number of a process that has ended.
pid_t DeadProcess() {
  const pid_t child = fork();
  if (child == 0) _exit(0);
  EXPECT_EQ(waitpid(child, nullptr, 0), child);
  return child;
}

class RunFolderTest : public ::testing::Test {
 protected:
  std::unique_ptr<RunFolder> Single(RunFolder::Options options = {}) {
    options.worker = "worker_0";
    return std::make_unique<RunFolder>(storage_, std::move(options));
  }

  std::unique_ptr<RunFolder> OneOfTwo(const std::string& worker,
                                      const std::string& job = "") {
    return std::make_unique<RunFolder>(
        storage_,
        RunFolder::Options{
            .worker = worker, .num_workers = 2, .job = {.name = job}});
  }

  // Writes what a process leaves that is killed while it writes as `worker`.
  void LeaveKilledRun(const std::string& worker = "worker_0",
                      int64_t num_workers = 1) {
    const pid_t pid = DeadProcess();
    Claim claim = {.run = "killed",
                   .worker = worker,
                   .num_workers = num_workers,
                   .host = base::HostName(),
                   .pid = pid,
                   .start = 77};
    PutFile(*storage_, kClaimKey, ToJson(claim));
    PutFile(*storage_, kIndex, "killed");
    PutFile(*storage_, LedgerKey(worker),
            ToJson(Ledger{.worker = worker,
                          .num_workers = num_workers,
                          .run = "killed",
                          .host = base::HostName(),
                          .pid = pid,
                          .start = 77}));
  }

  // As if the ledger were of another process than this one.
  void PretendPid(const std::string& worker, int64_t pid) {
    const std::string key = LedgerKey(worker);
    Ledger ledger = ParseLedger(*GetFile(*storage_, key), key);
    ledger.pid = pid;
    ledger.start = base::ProcessStart(pid);
    PutFile(*storage_, key, ToJson(ledger));
  }
  void PretendGone(const std::string& worker) {
    PretendPid(worker, DeadProcess());
  }
  void PretendAlive(const std::string& worker) { PretendPid(worker, getpid()); }

  // Writes what "job 1" leaves whose other worker never came.
  std::string LeaveAlone(const std::string& worker, Ending ending,
                         std::string_view reason = {}) {
    auto folder = OneOfTwo(worker, "job 1");
    folder->Enter();
    folder->Leave({}, ending, reason);
    PretendGone(worker);
    Claim claim = *ParseClaim(*GetFile(*storage_, kClaimKey));
    claim.pid = DeadProcess();
    PutFile(*storage_, kClaimKey, ToJson(claim));
    return claim.run;
  }

  bool Ended() const { return storage_->Stat(kEndMarkerKey).has_value(); }
  RunInfo Info() const { return LookAtRun(*storage_); }

  std::shared_ptr<Storage> storage_ = OpenMemoryStorage();
};

TEST_F(RunFolderTest, RefusesAFinishedRunAndNamesIt) {
  Single()->CheckEnterable();
  PutFile(*storage_, kEndMarkerKey, "");
  try {
    Single()->CheckEnterable();
    FAIL() << "accepted";
  } catch (const RunExistsError& error) {
    EXPECT_EQ(error.out_dir(), storage_->root());
  }
  EXPECT_THROW(Single()->Enter(), RunExistsError);
}

TEST_F(RunFolderTest, CheckingChangesNothing) {
  Single()->CheckEnterable();
  EXPECT_THAT(Keys(*storage_), IsEmpty());
  LeaveKilledRun();
  const auto before = Keys(*storage_);
  Single()->CheckEnterable();
  EXPECT_EQ(Keys(*storage_), before);
}

TEST_F(RunFolderTest, ANewRunHasAnIdentityThatAllItsFilesTell) {
  auto folder = Single();
  EXPECT_EQ(folder->Enter(), Entered::kNew);
  const std::string id = folder->run_id();
  EXPECT_EQ(id.size(), 36U);
  EXPECT_EQ(ParseClaim(*GetFile(*storage_, kClaimKey))->run, id);
  EXPECT_EQ(Info(), (RunInfo{.id = id, .state = RunState::kRunning}));
  folder->Leave({}, Ending::kFinished);
  EXPECT_THAT(Keys(*storage_),
              ElementsAre("ledger/worker_0.json", "training_job_end.ts"));
  EXPECT_EQ(ParseEndMarker(*GetFile(*storage_, kEndMarkerKey)).run, id);
  EXPECT_EQ(
      ParseLedger(*GetFile(*storage_, LedgerKey("worker_0")), "ledger").run,
      id);
  EXPECT_EQ(Info(), (RunInfo{.id = id, .state = RunState::kFinished}));
  EXPECT_EQ(IdentityOf(*storage_), id);
}

TEST_F(RunFolderTest, AnEndMarkerOfOursThatCannotBeReadIsDamage) {
  auto folder = Single();
  folder->Enter();
  folder->Leave({}, Ending::kFinished);
  EXPECT_THAT(LookAt(*storage_).damage, IsEmpty());
  for (const char* content : {"garbage", "[1]", R"({"ending": 3})"}) {
    PutFile(*storage_, kEndMarkerKey, content);
    const Survey survey = LookAt(*storage_);
    ASSERT_EQ(survey.damage.size(), 1U) << content;
    EXPECT_EQ(survey.damage[0].file, kEndMarkerKey);
    EXPECT_EQ(survey.damage[0].kind, DamageKind::kBadMarker);
    EXPECT_NE(survey.damage[0].reason, "");
    EXPECT_EQ(survey.info.state, RunState::kFinished);
  }
  // A platform writes an empty one; and what others write is theirs.
  PutFile(*storage_, kEndMarkerKey, "");
  EXPECT_THAT(LookAt(*storage_).damage, IsEmpty());
  storage_->Remove(LedgerKey("worker_0"));
  PutFile(*storage_, kEndMarkerKey, "done");
  EXPECT_THAT(LookAt(*storage_).damage, IsEmpty());
}

TEST_F(RunFolderTest, WhatIsAwaitedNamesWhoWritesTheRun) {
  auto folder = Single();
  folder->Enter();
  Survey survey = LookAt(*storage_);
  const std::string begun = "the run has begun and has saved nothing yet; ";
  EXPECT_THAT(WhatIsAwaited(survey, "0 of 1"),
              StartsWith(fmt::format("{}this process, {}, writes it", begun,
                                     getpid())));
  survey.claim->pid = getppid();
  survey.claim->start = 0;
  EXPECT_FALSE(IsOwn(*survey.claim));
  EXPECT_EQ(WhatIsAwaited(survey, "0 of 1"),
            fmt::format("{}process {} on {} writes it", begun, getppid(),
                        base::HostName()));
  survey.claim.reset();
  EXPECT_EQ(WhatIsAwaited(survey, "0 of 1"),
            "still waiting for collections files (0 of 1 found); is this the "
            "folder of a run? One whose first step has not begun has none");
  folder->Leave({}, Ending::kFinished);
}

TEST_F(RunFolderTest, ALauncherHandsTheIdentityDown) {
  auto folder = Single({.run_id = "launched-1"});
  folder->Enter();
  EXPECT_EQ(folder->run_id(), "launched-1");
  folder->Leave({}, Ending::kFailed);
  // A second start of the same launch is another run.
  auto again = Single({.run_id = "launched-1"});
  EXPECT_EQ(again->Enter(), Entered::kNew);
  EXPECT_NE(again->run_id(), "launched-1");
}

TEST_F(RunFolderTest, ALivingOwnerIsNamedToWhoeverComes) {
  auto owner = Single();
  owner->Enter();
  PutFile(*storage_, kIndex, "{}");
  try {
    Single()->Enter();
    FAIL() << "let in";
  } catch (const RunBusyError& error) {
    EXPECT_EQ(error.pid(), getpid());
    EXPECT_EQ(error.host(), base::HostName());
    EXPECT_THAT(error.what(), HasSubstr(std::to_string(getpid())));
  }
  EXPECT_TRUE(GetFile(*storage_, kIndex));
}

TEST_F(RunFolderTest, AFolderIsFreeAgainWhenItsOwnerIsGoneWithoutLeaving) {
  {
    auto owner = Single();
    owner->Enter();
  }
  EXPECT_FALSE(storage_->Stat(kClaimKey));
}

TEST_F(RunFolderTest, AClaimOfADeadProcessIsReplaced) {
  const pid_t dead = DeadProcess();
  const auto claim = [](std::string host, int64_t pid) {
    return ToJson(Claim{.host = std::move(host), .pid = pid, .start = 77});
  };
  for (const std::string& text :
       {std::string(), std::string("not json"), claim(base::HostName(), dead),
        claim(base::HostName(), getpid()), claim("another host", 1)}) {
    storage_ = OpenMemoryStorage();
    PutFile(*storage_, kClaimKey, text);
    EXPECT_EQ(Single()->Enter(), Entered::kNew) << text;
  }
}

TEST_F(RunFolderTest, AnotherHostIsAliveWhileItShowsItself) {
  Claim claim = {.run = "r", .host = "elsewhere", .pid = 1, .start = 1};
  Ledger ledger = {.worker = "worker_0",
                   .run = "r",
                   .host = "elsewhere",
                   .pid = 1,
                   .updated = base::WallSeconds() - 10};
  PutFile(*storage_, kClaimKey, ToJson(claim));
  PutFile(*storage_, LedgerKey("worker_0"), ToJson(ledger));
  EXPECT_THROW(Single()->Enter(), RunBusyError);
  // It has claimed the folder and not written its ledger yet.
  storage_->Remove(LedgerKey("worker_0"));
  claim.claimed = base::WallSeconds() - 10;
  PutFile(*storage_, kClaimKey, ToJson(claim));
  EXPECT_THROW(Single()->Enter(), RunBusyError);
  claim.claimed -= 3600;
  PutFile(*storage_, kClaimKey, ToJson(claim));
  ledger.updated -= 3600;
  PutFile(*storage_, LedgerKey("worker_0"), ToJson(ledger));
  EXPECT_EQ(Single()->Enter(), Entered::kNew);
}

TEST_F(RunFolderTest, AnUnfinishedRunIsSetAsideWithItsRules) {
  LeaveKilledRun();
  PutFile(*storage_, "rules/VanishingGradient.json", "told");
  PutFile(*storage_, "rules/actions.jsonl", "done");
  PutFile(*storage_, "checkpoint.pt", "the user's own");
  auto first = Single();
  first->Enter();
  EXPECT_THAT(Keys(*storage_),
              ElementsAre("checkpoint.pt", "claim.smd", "ledger/worker_0.json",
                          std::string("previous/1/") + kIndex,
                          "previous/1/ledger/worker_0.json",
                          "previous/1/rules/VanishingGradient.json",
                          "previous/1/rules/actions.jsonl"));
  PutFile(*storage_, kIndex, "newer");
  first.reset();  // Never left, so its run is unfinished, too.
  PutFile(*storage_, LedgerKey("worker_0"), "torn");
  Single()->Enter();
  EXPECT_EQ(GetFile(*storage_, std::string("previous/1/") + kIndex), "killed");
  EXPECT_EQ(GetFile(*storage_, std::string("previous/2/") + kIndex), "newer");
}

TEST_F(RunFolderTest, AFailedOrInterruptedRunIsSetAsideWithItsMarker) {
  for (const Ending ending : {Ending::kFailed, Ending::kInterrupted}) {
    storage_ = OpenMemoryStorage();
    auto first = Single();
    first->Enter();
    const std::string id = first->run_id();
    first->Leave({}, ending, "ValueError: no");
    ASSERT_TRUE(Ended());
    EXPECT_EQ(RunStateName(Info().state), EndingName(ending));
    EXPECT_EQ(Info().reason, "ValueError: no");
    auto second = Single();
    EXPECT_EQ(second->Enter(), Entered::kNew);
    EXPECT_FALSE(Ended());
    EXPECT_NE(second->run_id(), id);
    EXPECT_TRUE(GetFile(*storage_, "previous/1/training_job_end.ts"));
  }
}

TEST_F(RunFolderTest, AStartThatWasKilledIsGoneOnWithInTheSamePlace) {
  LeaveKilledRun();
  Claim claim = *ParseClaim(*GetFile(*storage_, kClaimKey));
  claim.run = "half started";
  claim.moving = "previous/4/";
  PutFile(*storage_, kClaimKey, ToJson(claim));
  storage_->Move(kIndex, std::string("previous/4/") + kIndex);
  EXPECT_EQ(Info().state, RunState::kKilled);
  EXPECT_THAT(Info().reason, HasSubstr("previous/4/"));
  auto folder = Single();
  EXPECT_EQ(folder->Enter(), Entered::kNew);
  EXPECT_THAT(Keys(*storage_, "previous/"),
              ElementsAre(std::string("previous/4/") + kIndex,
                          "previous/4/ledger/worker_0.json"));
  EXPECT_EQ(ParseClaim(*GetFile(*storage_, kClaimKey))->moving, "");
}

TEST_F(RunFolderTest, WorkersOfOneJobWriteOneRun) {
  for (const char* job : {"job 1", ""}) {
    storage_ = OpenMemoryStorage();
    LeaveKilledRun("worker_1", 2);
    auto first = OneOfTwo("worker_0", job);
    auto second = OneOfTwo("worker_1", job);
    EXPECT_EQ(first->Enter(), Entered::kNew);
    EXPECT_EQ(second->Enter(), Entered::kJoined);
    EXPECT_EQ(first->run_id(), second->run_id());
    EXPECT_THAT(Keys(*storage_, "previous/"),
                ElementsAre(std::string("previous/1/") + kIndex,
                            "previous/1/ledger/worker_1.json"));
  }
}

TEST_F(RunFolderTest, AWorkerOfAnotherJobIsRefused) {
  auto first = OneOfTwo("worker_0", "job 1");
  first->Enter();
  EXPECT_THROW(OneOfTwo("worker_1", "job 2")->Enter(), RunBusyError);
  EXPECT_THROW(OneOfTwo("worker_1")->Enter(), RunBusyError);
  EXPECT_THROW(Single()->Enter(), RunBusyError);
  RunFolder of_three(
      storage_,
      {.worker = "worker_1", .num_workers = 3, .job = {.name = "job 1"}});
  EXPECT_THROW(of_three.Enter(), RunBusyError);
}

TEST_F(RunFolderTest, WithoutANameTheMeetingPlaceOrTheParentTells) {
  const auto worker = [&](std::string name, std::vector<std::string> proofs) {
    return std::make_unique<RunFolder>(
        storage_, RunFolder::Options{.worker = std::move(name),
                                     .num_workers = 2,
                                     .job = {.proofs = std::move(proofs)}});
  };
  auto first = worker("worker_0", {"rendezvous a:1", "parent b 7 7"});
  first->Enter();
  // Long ago, so that the time of starting says nothing.
  Claim claim = *ParseClaim(*GetFile(*storage_, kClaimKey));
  claim.claimed -= 86400;
  PutFile(*storage_, kClaimKey, ToJson(claim));
  EXPECT_THROW(worker("worker_1", {"rendezvous a:2"})->Enter(), RunBusyError);
  EXPECT_THROW(worker("worker_1", {})->Enter(), RunBusyError);
  EXPECT_EQ(worker("worker_1", {"parent b 7 7"})->Enter(), Entered::kJoined);
}

TEST_F(RunFolderTest, ANameThatIsTakenIsNotGivenTwice) {
  auto first = OneOfTwo("worker_0", "job 1");
  first->Enter();
  EXPECT_THROW(OneOfTwo("worker_0", "job 1")->Enter(), RunBusyError);
}

TEST_F(RunFolderTest, AWorkerThatComesAgainSetsItsOwnFilesAside) {
  auto first = OneOfTwo("worker_1", "job 1");
  first->Enter();
  auto killed = OneOfTwo("worker_0", "job 1");
  killed->Enter();
  PutFile(*storage_, kIndex, "of the first time");
  Ledger ledger =
      ParseLedger(*GetFile(*storage_, LedgerKey("worker_0")), "ledger");
  ledger.pid = DeadProcess();
  PutFile(*storage_, LedgerKey("worker_0"), ToJson(ledger));
  auto again = OneOfTwo("worker_0", "job 1");
  EXPECT_EQ(again->Enter(), Entered::kContinued);
  EXPECT_EQ(again->run_id(), first->run_id());
  EXPECT_EQ(GetFile(*storage_, std::string("previous/1/") + kIndex),
            "of the first time");
  EXPECT_TRUE(GetFile(*storage_, LedgerKey("worker_1")));
}

// A worker that came a second time was killed: the index of its first is in
// previous/2/, the rest is not.
class OwnMoveTest : public RunFolderTest {
 protected:
  static constexpr char kEvents[] =
      "events/000000000001/000000000001_worker_0.tfevents";

  void LeaveHalfMoved(std::string_view run) {
    PutFile(*storage_, std::string("previous/1/") + kIndex, "of an older run");
    PutFile(*storage_, std::string("previous/2/") + kIndex, "index");
    PutFile(*storage_, "previous/3/ledger/worker_1.json", "of another worker");
    PutFile(*storage_, kEvents, "events");
    PutFile(*storage_, LedgerKey("worker_0"),
            ToJson(Ledger{.worker = "worker_0",
                          .num_workers = 2,
                          .run = std::string(run),
                          .host = base::HostName(),
                          .pid = DeadProcess(),
                          .moving = "previous/2/"}));
  }

  void ExpectWhole() {
    EXPECT_THAT(Keys(*storage_, "previous/2/"),
                ElementsAre(std::string("previous/2/") + kEvents,
                            std::string("previous/2/") + kIndex,
                            "previous/2/ledger/worker_0.json"));
    const auto ledger = GetFile(*storage_, "previous/2/ledger/worker_0.json");
    EXPECT_EQ(ParseLedger(*ledger, "ledger").moving, "");
  }
};

TEST_F(OwnMoveTest, AWorkerKilledWhileItSetsItsFilesAsideGoesOnWithIt) {
  auto other = OneOfTwo("worker_1", "job 1");
  other->Enter();
  LeaveHalfMoved(other->run_id());
  auto again = OneOfTwo("worker_0", "job 1");
  EXPECT_EQ(again->Enter(), Entered::kContinued);
  ExpectWhole();
  EXPECT_THAT(Keys(*storage_, "previous/4/"), IsEmpty());
}

TEST_F(OwnMoveTest, WhoeverSetsTheRunAsideGoesOnWithIt) {
  LeaveKilledRun("worker_1", 2);
  LeaveHalfMoved("killed");
  const std::string index = IndexFileKey(1, "worker_1");
  PutFile(*storage_, index, "of the other worker");
  storage_->Remove(kIndex);
  Single()->Enter();
  ExpectWhole();
  EXPECT_THAT(
      Keys(*storage_, "previous/4/"),
      ElementsAre("previous/4/" + index, "previous/4/ledger/worker_1.json"));
}

TEST_F(RunFolderTest, ASecondJobOfManyIsNotLetIntoAFinishedRun) {
  auto first = OneOfTwo("worker_0", "job 1");
  auto second = OneOfTwo("worker_1", "job 1");
  first->Enter();
  second->Enter();
  first->Leave({}, Ending::kFinished);
  EXPECT_FALSE(Ended());
  second->Leave({}, Ending::kFinished);
  ASSERT_TRUE(Ended());
  EXPECT_THROW(OneOfTwo("worker_1", "job 2")->Enter(), RunExistsError);
  EXPECT_THROW(OneOfTwo("worker_1")->Enter(), RunExistsError);
  // One that is started again under its name begins anew.
  auto again = OneOfTwo("worker_1", "job 1");
  EXPECT_EQ(again->Enter(), Entered::kNew);
  EXPECT_TRUE(GetFile(*storage_, "previous/1/training_job_end.ts"));
}

TEST_F(RunFolderTest, ARunWhoseLastWorkerNeverCameIsJudgedAtOnce) {
  for (const Ending ending :
       {Ending::kFinished, Ending::kFailed, Ending::kInterrupted}) {
    storage_ = OpenMemoryStorage();
    LeaveAlone("worker_1", ending, "why");
    const bool finished = ending == Ending::kFinished;
    EXPECT_EQ(RunStateName(Info().state),
              finished ? "killed" : EndingName(ending));
    EXPECT_EQ(
        Info().reason,
        finished ? "1 of 2 workers closed, and the others never came" : "why");
    // It is nobody's any more.
    EXPECT_EQ(Single()->Enter(), Entered::kNew);
    EXPECT_TRUE(GetFile(*storage_, "previous/1/ledger/worker_1.json"));
  }
}

TEST_F(RunFolderTest, ARunWhoseLastWorkerHasNotComeRunsWhileAnotherIsThere) {
  auto first = OneOfTwo("worker_1", "job 1");
  first->Enter();
  first->Leave({}, Ending::kFailed, "why");
  EXPECT_EQ(Info(),
            (RunInfo{.id = first->run_id(), .state = RunState::kRunning}));
}

TEST_F(RunFolderTest, AWorkerThatComesAfterTheOthersHaveClosedJoinsThem) {
  const std::string run = LeaveAlone("worker_1", Ending::kFinished);
  auto late = OneOfTwo("worker_0", "job 1");
  EXPECT_EQ(late->Enter(), Entered::kJoined);
  EXPECT_EQ(late->run_id(), run);
  late->Leave({}, Ending::kFinished);
  EXPECT_TRUE(Ended());
  EXPECT_EQ(Info().state, RunState::kFinished);
}

TEST_F(RunFolderTest, OfARunThatOthersWriteWhoIsGoneIsNamed) {
  auto first = OneOfTwo("worker_0");
  first->Enter();
  const pid_t gone = DeadProcess();
  PutFile(*storage_, LedgerKey("worker_1"),
          ToJson(Ledger{.worker = "worker_1",
                        .num_workers = 2,
                        .run = first->run_id(),
                        .host = base::HostName(),
                        .machine = base::MachineId(),
                        .pid = gone,
                        .start = 77}));
  EXPECT_EQ(Info().state, RunState::kRunning);
  EXPECT_EQ(Info().reason, fmt::format("worker_1 (process {} on {}) is gone",
                                       gone, base::HostName()));
}

TEST_F(RunFolderTest, AJobThatIsStartedAgainDoesNotJoinItsOwnPast) {
  // By the name of the worker, or by the time.
  LeaveAlone("worker_1", Ending::kFinished);
  EXPECT_EQ(OneOfTwo("worker_1", "job 1")->Enter(), Entered::kNew);
  storage_ = OpenMemoryStorage();
  LeaveAlone("worker_1", Ending::kFinished);
  Ledger ledger =
      ParseLedger(*GetFile(*storage_, LedgerKey("worker_1")), "ledger");
  ledger.updated -= 3600;
  PutFile(*storage_, LedgerKey("worker_1"), ToJson(ledger));
  EXPECT_EQ(OneOfTwo("worker_0", "job 1")->Enter(), Entered::kNew);
}

TEST_F(RunFolderTest, AReRunWithFewerWorkersDoesNotCountOldLedgers) {
  LeaveAlone("worker_1", Ending::kFailed);
  auto folder = OneOfTwo("worker_0", "job 2");
  EXPECT_EQ(folder->Enter(), Entered::kNew);
  folder->Leave({}, Ending::kFinished);
  EXPECT_FALSE(Ended());
}

TEST_F(RunFolderTest, TheWorstEndingIsThatOfTheRun) {
  auto first = OneOfTwo("worker_0", "job 1");
  auto second = OneOfTwo("worker_1", "job 1");
  first->Enter();
  second->Enter();
  first->Leave({}, Ending::kFailed, "worker_0 is unhappy");
  second->Leave({}, Ending::kInterrupted);
  EXPECT_EQ(Info().state, RunState::kFailed);
  EXPECT_EQ(Info().reason, "worker_0 is unhappy");
  EXPECT_EQ(ParseEndMarker(*GetFile(*storage_, kEndMarkerKey)).ending,
            Ending::kFailed);
}

TEST_F(RunFolderTest, WorkersThatEndAtOnceMayBothMarkTheEnd) {
  auto folder = Single();
  folder->Enter();
  // Another worker was faster by a moment.
  storage_->CreateExclusive(kEndMarkerKey, {});
  EXPECT_NO_THROW(folder->Leave({}, Ending::kFinished));
  EXPECT_TRUE(Ended());
}

TEST_F(RunFolderTest, ThePlatformWritesTheMarkerOfAManagedJob) {
  auto folder = Single({.managed = true});
  folder->Enter();
  folder->Leave({}, Ending::kFailed, "why");
  EXPECT_FALSE(Ended());
  EXPECT_THAT(Keys(*storage_), Not(Contains("claim.smd")));
  EXPECT_EQ(Info().state, RunState::kFailed);
  PutFile(*storage_, kEndMarkerKey, "");
  EXPECT_EQ(Info().state, RunState::kFailed);
  EXPECT_EQ(Info().reason, "why");
}

TEST_F(RunFolderTest, AnAbandonedRunMakesRoomForTheNext) {
  auto first = Single();
  first->Enter();
  first->Abandon({});
  EXPECT_FALSE(Ended());
  EXPECT_EQ(Info().state, RunState::kInterrupted);
  EXPECT_EQ(Single()->Enter(), Entered::kNew);
  EXPECT_TRUE(GetFile(*storage_, "previous/1/ledger/worker_0.json"));
}

TEST_F(RunFolderTest, ARunWhoseProcessIsGoneWasKilled) {
  LeaveKilledRun();
  EXPECT_EQ(Info().state, RunState::kKilled);
  EXPECT_THAT(Info().reason, HasSubstr("worker_0"));
  EXPECT_EQ(Info().id, "killed");
}

// All has been said, and the end marker is missing.
TEST_F(RunFolderTest, WhoLeavesStillHasTheFolderUntilTheMarkerIsThere) {
  auto folder = Single();
  folder->Enter();
  Ledger ledger =
      ParseLedger(*GetFile(*storage_, LedgerKey("worker_0")), "ledger");
  ledger.closed = true;
  ledger.ending = "finished";
  PutFile(*storage_, LedgerKey("worker_0"), ToJson(ledger));
  EXPECT_EQ(Info().state, RunState::kRunning);
  EXPECT_THROW(Single()->Enter(), RunBusyError);

  ledger.pid = DeadProcess();
  PutFile(*storage_, LedgerKey("worker_0"), ToJson(ledger));
  EXPECT_EQ(Info().state, RunState::kFinished);
  EXPECT_THAT(Info().reason, HasSubstr("end marker is missing"));
  const std::string claim = *GetFile(*storage_, kClaimKey);
  storage_->Remove(kClaimKey);  // As when somebody has removed the marker.
  EXPECT_EQ(Info().state, RunState::kFinished);
  EXPECT_THAT(Info().reason, HasSubstr("end marker is missing"));
  PutFile(*storage_, kClaimKey, claim);
  const smdebug::testing::LogCapture log;
  EXPECT_EQ(Single()->Enter(), Entered::kNew);
  EXPECT_THAT(log.lines(), ElementsAre(HasSubstr("held a run that had finished;"
                                                 " it is now under")));
  EXPECT_TRUE(GetFile(*storage_, "previous/1/ledger/worker_0.json"));
}

TEST_F(RunFolderTest, RunsOfOldAndEmptyFoldersTellNothing) {
  EXPECT_EQ(Info(), RunInfo{});
  PutFile(*storage_, kIndex, "{}");
  EXPECT_EQ(Info(), RunInfo{});
  PutFile(*storage_, kEndMarkerKey, "");
  EXPECT_EQ(Info(), (RunInfo{.state = RunState::kFinished}));
}

TEST_F(RunFolderTest, TheLedgerSaysWhoWroteIt) {
  auto folder = OneOfTwo("worker_1", "job 7");
  folder->Enter();
  folder->WriteLedger({.last_step = 12});
  const auto ledger =
      ParseLedger(*GetFile(*storage_, "ledger/worker_1.json"), "ledger");
  EXPECT_EQ(ledger.worker, "worker_1");
  EXPECT_EQ(ledger.num_workers, 2);
  EXPECT_EQ(ledger.run, folder->run_id());
  EXPECT_EQ(ledger.job, "job 7");
  EXPECT_EQ(ledger.pid, getpid());
  EXPECT_EQ(ledger.start, base::ProcessStart(getpid()));
  EXPECT_EQ(ledger.last_step, 12);
  EXPECT_FALSE(ledger.closed);
  EXPECT_GE(ledger.updated, ledger.started);
}

// Many threads stand for many processes: each has a folder object of its own.
TEST_F(RunFolderTest, OfManyThatStartTogetherOneOwnsTheFolder) {
  constexpr int kThreads = 8;
  for (int round = 0; round < 20; ++round) {
    storage_ = OpenMemoryStorage();
    LeaveKilledRun();
    std::vector<std::unique_ptr<RunFolder>> folders(kThreads);
    std::atomic<int> owners = 0;
    std::atomic<int> refused = 0;
    {
      std::vector<std::jthread> threads;
      threads.reserve(kThreads);
      for (auto& folder : folders) {
        threads.emplace_back([&] {
          folder = Single();
          try {
            folder->Enter();
            ++owners;
          } catch (const RunBusyError&) {
            ++refused;
          }
        });
      }
    }
    EXPECT_EQ(owners, 1);
    EXPECT_EQ(refused, kThreads - 1);
    EXPECT_THAT(Keys(*storage_, "previous/"),
                ElementsAre(std::string("previous/1/") + kIndex,
                            "previous/1/ledger/worker_0.json"));
  }
}

TEST_F(RunFolderTest, OfManyWorkersThatStartTogetherOneMovesAndAllWrite) {
  constexpr int kThreads = 8;
  for (int round = 0; round < 20; ++round) {
    storage_ = OpenMemoryStorage();
    LeaveKilledRun();
    std::vector<std::unique_ptr<RunFolder>> folders;
    folders.reserve(kThreads);
    for (int i = 0; i < kThreads; ++i) {
      folders.push_back(std::make_unique<RunFolder>(
          storage_, RunFolder::Options{.worker = "worker_" + std::to_string(i),
                                       .num_workers = kThreads,
                                       .job = {.name = "job"}}));
    }
    std::atomic<int> begun = 0;
    {
      std::vector<std::jthread> threads;
      threads.reserve(kThreads);
      for (auto& folder : folders) {
        threads.emplace_back([&] {
          if (folder->Enter() == Entered::kNew) ++begun;
        });
      }
    }
    EXPECT_EQ(begun, 1);
    for (auto& folder : folders) {
      EXPECT_EQ(folder->run_id(), folders.front()->run_id());
    }
    EXPECT_THAT(Keys(*storage_, "ledger/"), ::testing::SizeIs(kThreads));
  }
}

// Does something once, before an operation on a key.
class Meddler final : public smdebug::testing::WrappedStorage {
 public:
  Meddler(std::shared_ptr<Storage> inner, Operation operation, std::string key,
          std::function<void()> act)
      : WrappedStorage(std::move(inner)),
        operation_(operation),
        key_(std::move(key)),
        act_(std::move(act)) {}

 private:
  void Before(Operation operation, std::string_view key) const override {
    if (operation != operation_ || key != key_) return;
    if (const auto act = std::exchange(act_, nullptr)) act();
  }

  const Operation operation_;
  const std::string key_;
  mutable std::function<void()> act_;
};

TEST_F(RunFolderTest, AWorkerThatLooksWhileAnotherSetsARunAsideJoinsTheNewOne) {
  LeaveKilledRun("worker_2", 3);
  PutFile(*storage_, LedgerKey("worker_0"),
          ToJson(Ledger{.worker = "worker_0",
                        .num_workers = 3,
                        .run = "killed",
                        .updated = base::WallSeconds(),
                        .closed = true}));
  const auto first = OneOfTwo("worker_1");
  const auto watched = std::make_shared<Meddler>(
      storage_, Operation::kRead, LedgerKey("worker_2"),
      [&] { EXPECT_EQ(first->Enter(), Entered::kNew); });
  RunFolder second(watched, {.worker = "worker_0", .num_workers = 2});
  EXPECT_EQ(second.Enter(), Entered::kJoined);
  EXPECT_EQ(second.run_id(), first->run_id());
}

TEST_F(RunFolderTest, WhoJoinsARunThatAnotherJobTakesMeanwhileLooksAgain) {
  const auto claimant = OneOfTwo("worker_0", "job 1");
  claimant->Enter();
  const auto other = OneOfTwo("worker_0", "job 2");
  const auto meddled = std::make_shared<Meddler>(
      storage_, Operation::kCreate, LedgerKey("worker_1"), [&] {
        PretendGone("worker_0");
        EXPECT_EQ(other->Enter(), Entered::kNew);
      });
  RunFolder late(
      meddled,
      {.worker = "worker_1", .num_workers = 2, .job = {.name = "job 1"}});
  EXPECT_THROW(late.Enter(), RunBusyError);
  EXPECT_THAT(Keys(*storage_, "ledger/"), ElementsAre("ledger/worker_0.json"));
  EXPECT_EQ(LookAt(*storage_).id, other->run_id());
}

TEST_F(RunFolderTest, WhoJoinsARunThatItsJobBeginsAnewMeanwhileJoinsTheNewOne) {
  const auto claimant = OneOfTwo("worker_0", "job 1");
  claimant->Enter();
  const auto again = OneOfTwo("worker_0", "job 1");
  const auto meddled = std::make_shared<Meddler>(
      storage_, Operation::kCreate, LedgerKey("worker_1"), [&] {
        PretendGone("worker_0");
        EXPECT_EQ(again->Enter(), Entered::kNew);
      });
  RunFolder late(
      meddled,
      {.worker = "worker_1", .num_workers = 2, .job = {.name = "job 1"}});
  EXPECT_EQ(late.Enter(), Entered::kJoined);
  EXPECT_EQ(late.run_id(), again->run_id());
  EXPECT_NE(late.run_id(), claimant->run_id());
  EXPECT_THAT(Keys(*storage_, "ledger/"),
              ElementsAre("ledger/worker_0.json", "ledger/worker_1.json"));
}

// It looked before the joining worker could be seen, and comes too late.
TEST_F(RunFolderTest, WhoHasJoinedKeepsTheRunFromOneThatLookedBefore) {
  const auto claimant = OneOfTwo("worker_0", "job 1");
  claimant->Enter();
  PretendGone("worker_0");
  const auto other = OneOfTwo("worker_0", "job 2");
  const auto late = OneOfTwo("worker_1", "job 1");
  const auto meddled = std::make_shared<Meddler>(
      storage_, Operation::kReplace, std::string(kClaimKey), [&] {
        PretendAlive("worker_0");
        EXPECT_EQ(late->Enter(), Entered::kJoined);
        PretendGone("worker_0");
      });
  RunFolder too_late(
      meddled,
      {.worker = "worker_0", .num_workers = 2, .job = {.name = "job 2"}});
  EXPECT_THROW(too_late.Enter(), RunBusyError);
  EXPECT_EQ(LookAt(*storage_).id, claimant->run_id());
}

TEST_F(RunFolderTest, WhoLosesTheClaimWhileItEntersIsRefused) {
  LeaveKilledRun();
  const Claim taken = {.run = "another",
                       .worker = "worker_0",
                       .host = "elsewhere",
                       .pid = 12,
                       .start = 1,
                       .claimed = base::WallSeconds()};
  const auto meddled = std::make_shared<Meddler>(
      storage_, Operation::kCreate, LedgerKey("worker_0"),
      [&] { PutFile(*storage_, kClaimKey, ToJson(taken)); });
  RunFolder folder(meddled, {.worker = "worker_0"});
  try {
    folder.Enter();
    FAIL() << "let in";
  } catch (const RunBusyError& error) {
    EXPECT_EQ(error.host(), "elsewhere");
    EXPECT_EQ(error.pid(), 12);
  }
  EXPECT_FALSE(GetFile(*storage_, LedgerKey("worker_0")));
  EXPECT_EQ(ParseClaim(*GetFile(*storage_, kClaimKey)), taken);
}

TEST(RunFolderOnDiskTest, AFolderThatCannotBeWrittenIsRefused) {
  // Where not even root may make a file.
  RunFolder folder(OpenLocalStorage("/proc/self/fdinfo"), {.worker = "w"});
  EXPECT_THROW(folder.CheckEnterable(), IoError);
  EXPECT_THROW(folder.Enter(), IoError);
}

TEST(RunFolderOnDiskTest, ARunThatCannotBeSetAsideIsRefusedAndStays) {
  const smdebug::testing::TempDir dir;
  const std::string root = dir.path().string();
  const auto storage = OpenLocalStorage(root);
  PutFile(*storage, kIndex, "old");
  std::filesystem::create_directory(root + "/elsewhere");
  std::filesystem::create_directory_symlink("elsewhere", root + "/previous");
  RunFolder folder(storage, {.worker = "worker_0"});
  const smdebug::testing::LogCapture log;
  EXPECT_THROW(folder.CheckEnterable(), IoError);
  EXPECT_THROW(folder.Enter(), IoError);
  EXPECT_THAT(log.lines(), IsEmpty());
  EXPECT_THAT(Keys(*storage), ElementsAre(kIndex));
}

TEST(RunFolderOnDiskTest, ACopyOfARunThatIsWrittenIsNotCalledRunning) {
  const smdebug::testing::TempDir dir;
  const std::string root = dir.path().string();
  RunFolder folder(OpenLocalStorage(root + "/run"), {.worker = "worker_0"});
  folder.Enter();
  std::filesystem::copy(root + "/run", root + "/copy",
                        std::filesystem::copy_options::recursive);
  EXPECT_EQ(LookAtRun(*OpenLocalStorage(root + "/run")).state,
            RunState::kRunning);
  const auto copy = OpenLocalStorage(root + "/copy");
  EXPECT_EQ(LookAtRun(*copy).state, RunState::kUnknown);
  EXPECT_THAT(LookAtRun(*copy).reason, HasSubstr("writes another folder"));
  // Nothing else is decided by it.
  RunFolder other(copy, {.worker = "worker_0"});
  EXPECT_THROW(other.CheckEnterable(), RunBusyError);
  std::filesystem::rename(root + "/run", root + "/renamed");
  EXPECT_EQ(LookAtRun(*OpenLocalStorage(root + "/renamed")).state,
            RunState::kRunning);
}

TEST(RunFolderOnDiskTest, CheckingLeavesNoFileBehind) {
  const smdebug::testing::TempDir dir;
  RunFolder folder(OpenLocalStorage(dir.path().string()), {.worker = "w"});
  folder.CheckEnterable();
  EXPECT_THAT(smdebug::testing::FilesBelow(dir.path()), IsEmpty());
}

}  // namespace
}  // namespace smdebug::run
