// A process killed at any moment leaves only whole, published steps, and the
// next run in the same folder just works.
#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "smdebug/run.h"
#include "src/run/survey.h"
#include "tests/crash/run_content.h"
#include "tests/crash/victim.h"
#include "tests/testing/temp_dir.h"

namespace smdebug::testing {
namespace {

// Runs a victim to its end. True if it was killed.
bool RunVictim(const std::string& out_dir, const VictimOptions& options) {
  Victim victim(out_dir, options);
  victim.AwaitEnd();
  if (victim.killed()) return true;
  EXPECT_EQ(victim.exit_code(), 0) << victim.output();
  return false;
}

size_t CountSteps(const Storage& storage) {
  const RunContent content = ReadContent(storage);
  const auto own = content.steps.find("worker_0");
  return own == content.steps.end() ? 0 : own->second.size();
}

// The next start finds its way, and both runs are whole afterwards.
void ExpectNextStart(const std::string& out_dir, const RunContent& before) {
  ASSERT_FALSE(RunVictim(out_dir, {.tag = 9, .steps = 4}));
  const auto storage = OpenLocalStorage(out_dir);
  ExpectAnswers(storage);
  EXPECT_EQ(LookAtRun(*storage).state, RunState::kFinished);
  EXPECT_EQ(ReadContent(*storage),
            (RunContent{.tag = 9, .steps = {{"worker_0", {0, 1, 2, 3}}}}));
  const auto previous = OpenPrevious(out_dir, 1);
  EXPECT_EQ(ReadContent(*previous), before);
  if (HasRunFiles(*previous)) ExpectAnswers(previous);
}

class CrashTest : public ::testing::TestWithParam<const char*> {
 protected:
  TempDir dir_;
  const std::string run_ = dir_ / "run";
  const std::shared_ptr<Storage> storage_ = OpenLocalStorage(run_);
};

using PublishCrashTest = CrashTest;

TEST_P(PublishCrashTest, LeavesWholeStepsAndAFolderThatCanBeUsedAgain) {
  const std::string point = GetParam();
  int kills = 0;
  for (const int nth : {1, 2, 5, 10, 11}) {
    const std::string run = dir_ / std::to_string(nth);
    const std::string kill_at = point + ":" + std::to_string(nth);
    const bool killed = RunVictim(run, {.tag = 1, .kill_at = kill_at});
    const auto storage = OpenLocalStorage(run);
    ExpectAnswers(storage);
    if (!killed) {
      EXPECT_EQ(CountSteps(*storage), 10U);
      continue;
    }
    ++kills;
    EXPECT_EQ(LookAtRun(*storage).state, RunState::kKilled);
    if (CountSteps(*storage) > 0) {
      EXPECT_TRUE(
          storage->Stat("collections/000000000/worker_0_collections.json"));
    }
    ExpectNextStart(run, ReadContent(*storage));
  }
  EXPECT_GT(kills, 0) << "the point was never reached";
}

INSTANTIATE_TEST_SUITE_P(
    Points, PublishCrashTest,
    ::testing::Values("before_event_publish", "after_event_publish",
                      "before_index_publish", "after_index_publish",
                      "before_collections_publish"),
    [](const auto& tested) { return std::string(tested.param); });

// "after_move:2" as the names of tests have it.
std::string NameOfPoint(const ::testing::TestParamInfo<const char*>& tested) {
  std::string name = tested.param;
  std::ranges::replace(name, ':', '_');
  return name;
}

using EnterCrashTest = CrashTest;

TEST_P(EnterCrashTest, ANewFolderCanBeEnteredAgain) {
  ASSERT_TRUE(RunVictim(run_, {.tag = 1, .kill_at = GetParam()}));
  ExpectAnswers(storage_);
  EXPECT_EQ(LookAtRun(*storage_).state, RunState::kKilled);
  ExpectNextStart(run_, {});
}

INSTANTIATE_TEST_SUITE_P(Points, EnterCrashTest,
                         ::testing::Values("after_claim:1", "after_enter:1"),
                         NameOfPoint);

using SetAsideCrashTest = CrashTest;

TEST_P(SetAsideCrashTest, TheRunBeforeEndsUpWholeInItsPlace) {
  ASSERT_TRUE(RunVictim(run_, {.tag = 1, .kill_at = "after_index_publish:3"}));
  const RunContent before = ReadContent(*storage_);
  ASSERT_EQ(CountSteps(*storage_), 3U);
  // A second kill at the same point must not lead elsewhere.
  for (const int64_t tag : {2, 3}) {
    ASSERT_TRUE(RunVictim(run_, {.tag = tag, .kill_at = GetParam()}));
    ExpectAnswers(storage_);
    EXPECT_EQ(LookAtRun(*storage_).state, RunState::kKilled);
    const RunContent seen = ReadContent(*storage_);
    EXPECT_TRUE(seen == before || seen == RunContent());
    if (run::LookAt(*storage_).is_starting()) {
      EXPECT_FALSE(HasRunFiles(*OpenPrevious(run_, 2)));
    }
  }
  ExpectNextStart(run_, before);
}

TEST_P(SetAsideCrashTest, AFailedRunTakesItsMarkerAlong) {
  ASSERT_FALSE(RunVictim(run_, {.tag = 1, .steps = 5, .fails = true}));
  const RunContent before = ReadContent(*storage_);
  ASSERT_EQ(CountSteps(*storage_), 5U);
  ASSERT_TRUE(RunVictim(run_, {.tag = 2, .kill_at = GetParam()}));
  ExpectAnswers(storage_);
  EXPECT_EQ(LookAtRun(*storage_).state, RunState::kKilled);
  ExpectNextStart(run_, before);
  EXPECT_EQ(LookAtRun(*OpenPrevious(run_, 1)).state, RunState::kFailed);
}

INSTANTIATE_TEST_SUITE_P(Points, SetAsideCrashTest,
                         ::testing::Values("after_claim:1", "after_move:1",
                                           "after_move:2", "after_move:3",
                                           "after_move:4", "after_move:5",
                                           "after_move:6", "after_set_aside:1",
                                           "after_enter:1"),
                         NameOfPoint);

class OwnFilesCrashTest : public CrashTest {
 protected:
  // Worker 0 of two, which is killed and comes again.
  static VictimOptions First(std::string kill_at) {
    return {.tag = 1, .workers = 2, .kill_at = std::move(kill_at)};
  }
  // Worker 1, which closes when the other has.
  static VictimOptions Lasting() {
    return {.tag = 1, .rank = 1, .workers = 2, .outlives = 0};
  }
};

TEST_P(OwnFilesCrashTest, AWorkerThatComesAgainMovesWhatItLeftToOnePlace) {
  Victim other(run_, Lasting());
  other.AwaitLines(1);
  ASSERT_TRUE(RunVictim(run_, First("after_index_publish:3")));
  // A second kill at the same point must not lead elsewhere.
  ASSERT_TRUE(RunVictim(run_, First(GetParam())));
  ASSERT_TRUE(RunVictim(run_, First(GetParam())));
  ASSERT_FALSE(RunVictim(run_, First("")));
  other.AwaitEnd();
  EXPECT_EQ(other.exit_code(), 0) << other.output();

  ExpectAnswers(storage_);
  EXPECT_EQ(LookAtRun(*storage_).state, RunState::kFinished);
  const RunContent content = ReadContent(*storage_);
  EXPECT_EQ(content.steps.at("worker_0").size(), 10U);
  EXPECT_EQ(content.steps.at("worker_1").size(), 10U);
  const auto previous = OpenPrevious(run_, 1);
  EXPECT_EQ(ReadContent(*previous),
            (RunContent{.tag = 1, .steps = {{"worker_0", {0, 1, 2}}}}));
  ExpectAnswers(previous);
}

TEST_P(OwnFilesCrashTest, TheNextJobEndsWhatTheWorkerBegan) {
  Victim other(run_, Lasting());
  other.AwaitLines(1);
  ASSERT_TRUE(RunVictim(run_, First("after_index_publish:3")));
  ASSERT_TRUE(RunVictim(run_, First(GetParam())));
  other.Kill();
  other.AwaitEnd();
  ASSERT_TRUE(RunVictim(run_, {.tag = 2, .kill_at = GetParam()}));
  ASSERT_FALSE(RunVictim(run_, {.tag = 2}));

  ExpectAnswers(storage_);
  EXPECT_EQ(ReadContent(*storage_).tag, 2);
  const auto first = OpenPrevious(run_, 1);
  EXPECT_EQ(ReadContent(*first),
            (RunContent{.tag = 1, .steps = {{"worker_0", {0, 1, 2}}}}));
  ExpectAnswers(first);
  const auto second = OpenPrevious(run_, 2);
  EXPECT_FALSE(ReadContent(*second).steps.contains("worker_0"));
  ExpectAnswers(second);
}

INSTANTIATE_TEST_SUITE_P(Points, OwnFilesCrashTest,
                         ::testing::Values("after_own_move:1",
                                           "after_own_move:2",
                                           "after_own_move:3"),
                         NameOfPoint);

using LeaveCrashTest = CrashTest;

TEST_F(LeaveCrashTest, WithoutItsMarkerARunIsSetAside) {
  ASSERT_TRUE(RunVictim(run_, {.tag = 1, .kill_at = "after_last_ledger:1"}));
  ExpectAnswers(storage_);
  EXPECT_EQ(LookAtRun(*storage_).state, RunState::kFinished);
  EXPECT_THAT(LookAtRun(*storage_).reason,
              ::testing::HasSubstr("end marker is missing"));
  EXPECT_EQ(CountSteps(*storage_), 10U);
  ExpectNextStart(run_, ReadContent(*storage_));
}

TEST_F(LeaveCrashTest, WithItsMarkerARunHasFinished) {
  ASSERT_TRUE(RunVictim(run_, {.tag = 1, .kill_at = "after_marker:1"}));
  ExpectAnswers(storage_);
  EXPECT_EQ(LookAtRun(*storage_).state, RunState::kFinished);
  Victim next(run_, {.tag = 2});
  next.AwaitEnd();
  EXPECT_TRUE(next.Said("refused")) << next.output();
  EXPECT_EQ(CountSteps(*storage_), 10U);
}

TEST_F(LeaveCrashTest, WithItsMarkerARunHasFailed) {
  ASSERT_TRUE(
      RunVictim(run_, {.tag = 1, .fails = true, .kill_at = "after_marker:1"}));
  ExpectAnswers(storage_);
  EXPECT_EQ(LookAtRun(*storage_).state, RunState::kFailed);
  ExpectNextStart(run_, ReadContent(*storage_));
}

// A process that is both workers of its job.
class SeveralWorkersCrashTest : public CrashTest {
 protected:
  static VictimOptions Both(int64_t tag, std::string kill_at) {
    return {.tag = tag,
            .workers = 2,
            .is_all = true,
            .kill_at = std::move(kill_at)};
  }

  // The next start has the folder to itself, and what was there is whole.
  void ExpectNextStartOfBoth(const RunContent& before) {
    ASSERT_FALSE(RunVictim(run_, Both(2, "")));
    ExpectAnswers(storage_);
    EXPECT_EQ(LookAtRun(*storage_).state, RunState::kFinished);
    const RunContent content = ReadContent(*storage_);
    EXPECT_EQ(content.tag, 2);
    EXPECT_EQ(content.steps.at("worker_0").size(), 10U);
    EXPECT_EQ(content.steps.at("worker_1").size(), 10U);
    EXPECT_EQ(ReadContent(*OpenPrevious(run_, 1)), before);
  }
};

TEST_P(SeveralWorkersCrashTest, LeavesARunThatWasKilled) {
  ASSERT_TRUE(RunVictim(run_, Both(1, GetParam())));
  ExpectAnswers(storage_);
  EXPECT_EQ(LookAtRun(*storage_).state, RunState::kKilled);
  EXPECT_FALSE(HasRunEnded(*storage_));
  ExpectNextStartOfBoth(ReadContent(*storage_));
}

// The first enters and leaves first; "after_enter" is the claim's.
INSTANTIATE_TEST_SUITE_P(Points, SeveralWorkersCrashTest,
                         ::testing::Values("after_claim:1", "after_enter:1",
                                           "after_event_publish:5",
                                           "after_index_publish:5",
                                           "after_index_publish:20",
                                           "after_last_ledger:1"),
                         NameOfPoint);

TEST_F(SeveralWorkersCrashTest, HasFinishedWhenTheLastOfThemHas) {
  ASSERT_TRUE(RunVictim(run_, Both(1, "after_last_ledger:2")));
  ExpectAnswers(storage_);
  EXPECT_EQ(LookAtRun(*storage_).state, RunState::kFinished);
  EXPECT_FALSE(HasRunEnded(*storage_));
  ExpectNextStartOfBoth(ReadContent(*storage_));
}

TEST_F(SeveralWorkersCrashTest, HasItsMarkerOnce) {
  ASSERT_TRUE(RunVictim(run_, Both(1, "after_marker:1")));
  ExpectAnswers(storage_);
  EXPECT_TRUE(HasRunEnded(*storage_));
  EXPECT_EQ(run::LookAt(*storage_).marker->run, run::LookAt(*storage_).id);
  Victim next(run_, Both(2, ""));
  next.AwaitEnd();
  EXPECT_TRUE(next.Said("refused")) << next.output();
}

}  // namespace
}  // namespace smdebug::testing
