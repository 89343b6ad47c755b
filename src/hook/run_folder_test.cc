#include "src/hook/run_folder.h"

#include <sys/wait.h>
#include <unistd.h>

#include <memory>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "smdebug/error.h"
#include "src/base/clock.h"
#include "src/base/host.h"
#include "src/index/claim.h"
#include "tests/testing/environment.h"
#include "tests/testing/files.h"

namespace smdebug::hook {
namespace {

using smdebug::testing::GetFile;
using smdebug::testing::Keys;
using smdebug::testing::PutFile;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Not;

constexpr char kIndex[] = "index/000000000/000000000001_worker_0.json";
constexpr char kIndexOfOther[] = "index/000000000/000000000001_worker_1.json";

class RunFolderTest : public ::testing::Test {
 protected:
  RunFolder Single() {
    return RunFolder(storage_.get(), {.worker = "worker_0"});
  }

  RunFolder OneOfTwo(const std::string& worker, const std::string& job = "") {
    return RunFolder(storage_.get(),
                     {.worker = worker, .num_workers = 2, .job = job});
  }

  bool Ended() const {
    return storage_->Stat("training_job_end.ts").has_value();
  }

  std::shared_ptr<Storage> storage_ = OpenMemoryStorage();
};

TEST_F(RunFolderTest, RefusesAFinishedRunAndNamesIt) {
  Single().CheckUnused();
  PutFile(*storage_, "training_job_end.ts", "");
  try {
    Single().CheckUnused();
    FAIL() << "accepted";
  } catch (const RunExistsError& error) {
    EXPECT_EQ(error.out_dir(), storage_->root());
  }
}

TEST_F(RunFolderTest, AWorkerIsNotRefusedByTheMarkerOfItsOwnJob) {
  auto first = OneOfTwo("worker_0", "job 1");
  auto second = OneOfTwo("worker_1", "job 1");
  ASSERT_TRUE(first.Enter() && second.Enter());
  first.Leave({});
  second.Leave({});
  ASSERT_TRUE(Ended());
  OneOfTwo("worker_1", "job 1").CheckUnused();
  EXPECT_THROW(OneOfTwo("worker_1", "job 2").CheckUnused(), RunExistsError);
  EXPECT_THROW(OneOfTwo("worker_1").CheckUnused(), RunExistsError);
}

TEST_F(RunFolderTest, TheClaimTellsWhoWritesAndGoesAtTheEnd) {
  auto folder = Single();
  ASSERT_TRUE(folder.Enter());
  const auto claim = index::ParseClaim(*GetFile(*storage_, "claim.smd"));
  ASSERT_TRUE(claim);
  EXPECT_EQ(claim->pid, getpid());
  EXPECT_EQ(claim->host, base::HostName());
  folder.Leave({});
  EXPECT_THAT(Keys(*storage_),
              ElementsAre("ledger/worker_0.json", "training_job_end.ts"));
}

TEST_F(RunFolderTest, ALivingOwnerKeepsTheFolder) {
  auto owner = Single();
  ASSERT_TRUE(owner.Enter());
  PutFile(*storage_, kIndex, "{}");
  EXPECT_FALSE(Single().Enter());
  EXPECT_TRUE(GetFile(*storage_, kIndex));
}

TEST_F(RunFolderTest, AClaimOfADeadProcessIsRemoved) {
  const pid_t child = fork();
  if (child == 0) _exit(0);
  ASSERT_EQ(waitpid(child, nullptr, 0), child);
  for (const std::string& claim :
       {std::string(), std::string("not json"),
        index::ToJson({base::HostName(), child, 77}),
        index::ToJson({base::HostName(), getpid(), 77}),
        index::ToJson({"another host", 1, 1})}) {
    PutFile(*storage_, "claim.smd", claim);
    auto folder = Single();
    EXPECT_TRUE(folder.Enter()) << claim;
    folder.Leave({});
    storage_->Remove("training_job_end.ts");
    storage_->Remove("ledger/worker_0.json");
  }
}

TEST_F(RunFolderTest, AnotherHostIsAliveWhileItsLedgerIsFresh) {
  PutFile(*storage_, "claim.smd",
          index::ToJson(index::Claim{"elsewhere", 1, 1}));
  index::Ledger ledger;
  ledger.updated = base::WallSeconds() - 10;
  PutFile(*storage_, "ledger/worker_0.json", index::ToJson(ledger));
  EXPECT_FALSE(Single().Enter());
  ledger.updated -= 3600;
  PutFile(*storage_, "ledger/worker_0.json", index::ToJson(ledger));
  EXPECT_TRUE(Single().Enter());
}

TEST_F(RunFolderTest, AnUnfinishedRunIsSetAsideWithNothingLost) {
  PutFile(*storage_, kIndex, "old");
  PutFile(*storage_, "ledger/worker_0.json", "old");
  PutFile(*storage_, "checkpoint.pt", "the user's own");
  auto first = Single();
  ASSERT_TRUE(first.Enter());
  EXPECT_THAT(Keys(*storage_), ElementsAre("checkpoint.pt", "claim.smd",
                                           std::string("previous/1/") + kIndex,
                                           "previous/1/ledger/worker_0.json"));
  storage_->Remove("claim.smd");
  PutFile(*storage_, kIndex, "newer");
  ASSERT_TRUE(Single().Enter());
  EXPECT_EQ(GetFile(*storage_, std::string("previous/1/") + kIndex), "old");
  EXPECT_EQ(GetFile(*storage_, std::string("previous/2/") + kIndex), "newer");
}

TEST_F(RunFolderTest, AWorkerOfManySetsAsideOnlyItsOwnFiles) {
  PutFile(*storage_, kIndex, "mine");
  PutFile(*storage_, kIndexOfOther, "other's");
  ASSERT_TRUE(OneOfTwo("worker_0").Enter());
  EXPECT_THAT(Keys(*storage_),
              ElementsAre(kIndexOfOther, std::string("previous/1/") + kIndex));
  ASSERT_TRUE(OneOfTwo("worker_1").Enter());
  EXPECT_EQ(GetFile(*storage_, std::string("previous/1/") + kIndexOfOther),
            "other's");
}

TEST_F(RunFolderTest, TheLastWorkerEndsTheJob) {
  auto first = OneOfTwo("worker_0");
  auto second = OneOfTwo("worker_1");
  ASSERT_TRUE(first.Enter() && second.Enter());
  EXPECT_THAT(Keys(*storage_), Not(Contains("claim.smd")));
  second.WriteLedger({});
  first.Leave({});
  EXPECT_FALSE(Ended());
  second.Leave({});
  EXPECT_TRUE(Ended());
}

TEST_F(RunFolderTest, WorkersThatEndAtOnceMayBothMarkTheEnd) {
  RunFolder folder = Single();
  ASSERT_TRUE(folder.Enter());
  // Another worker was faster by a moment.
  storage_->CreateExclusive("training_job_end.ts", {});
  EXPECT_NO_THROW(folder.Leave({}));
  EXPECT_TRUE(Ended());
}

TEST_F(RunFolderTest, AnOldLedgerOfAnotherJobDoesNotCountAsClosed) {
  auto crashed = OneOfTwo("worker_1", "job 1");
  ASSERT_TRUE(crashed.Enter());
  crashed.Leave({});
  auto folder = OneOfTwo("worker_0", "job 2");
  ASSERT_TRUE(folder.Enter());
  folder.Leave({});
  EXPECT_FALSE(Ended());
}

TEST_F(RunFolderTest, ThePlatformWritesTheMarkerOfAManagedJob) {
  RunFolder folder(storage_.get(), {.worker = "worker_0", .managed = true});
  ASSERT_TRUE(folder.Enter());
  folder.Leave({});
  EXPECT_FALSE(Ended());
}

TEST_F(RunFolderTest, TheLedgerSaysWhoWroteIt) {
  auto folder = OneOfTwo("worker_1", "job 7");
  folder.WriteLedger({.last_step = 12});
  const auto ledger =
      index::ParseLedger(*GetFile(*storage_, "ledger/worker_1.json"), "ledger");
  EXPECT_EQ(ledger.worker, "worker_1");
  EXPECT_EQ(ledger.num_workers, 2);
  EXPECT_EQ(ledger.job, "job 7");
  EXPECT_EQ(ledger.pid, getpid());
  EXPECT_EQ(ledger.last_step, 12);
  EXPECT_FALSE(ledger.closed);
  EXPECT_GE(ledger.updated, ledger.started);
}

TEST(JobIdTest, ComesFromTheLauncher) {
  using smdebug::testing::ScopedEnvironment;
  const ScopedEnvironment no_id("SMDEBUG_JOB_ID", std::nullopt);
  const ScopedEnvironment no_torch("TORCHELASTIC_RUN_ID", std::nullopt);
  const ScopedEnvironment no_slurm("SLURM_JOB_ID", std::nullopt);
  const ScopedEnvironment no_pmix("PMIX_NAMESPACE", std::nullopt);
  EXPECT_EQ(JobId(), "");
  const ScopedEnvironment slurm("SLURM_JOB_ID", "42");
  EXPECT_EQ(JobId(), "42");
  const ScopedEnvironment own("SMDEBUG_JOB_ID", "mine");
  EXPECT_EQ(JobId(), "mine");
}

}  // namespace
}  // namespace smdebug::hook
