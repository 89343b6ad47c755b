#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "smdebug/error.h"
#include "smdebug/invoker.h"
#include "src/base/host.h"
#include "src/run/keys.h"
#include "src/run/ledger.h"
#include "tests/testing/environment.h"
#include "tests/testing/temp_dir.h"
#include "tests/testing/trial_run.h"

namespace smdebug::rules {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::ScopedEnvironment;
using ::testing::StrEq;
using testing::TestTrial;
using ::testing::ThrowsMessage;

std::vector<RuleEvaluation> Evaluations(const std::vector<std::string>& specs) {
  std::vector<RuleEvaluation> evaluations;
  for (const std::string& spec : specs) {
    evaluations.push_back(ToEvaluation(ParseRuleSpec(spec)));
  }
  MakeNamesUnique(evaluations);
  return evaluations;
}

// Four steps of one worker, zeros from the third on.
class RuleSetTest : public ::testing::Test {
 protected:
  RuleSetTest() {
    made_.run.Declare({"worker_0"});
    for (int64_t step = 0; step < 4; ++step) {
      const float value = step < 2 ? 1.0F : 0.0F;
      made_.run.At(step).Tensor("x", {value, value}).Publish();
    }
  }

  Trial& Open() {
    made_.Open().Refresh();
    return *made_.trial;
  }

  TestTrial made_;
};

constexpr const char* kAllZero = "AllZero:tensor_regex=x";

TEST_F(RuleSetTest, OnceJudgesWhatIsThereAndEnds) {
  const RuleSet rules(Evaluations({kAllZero, "ExplodingTensor"}), {});
  std::vector<int64_t> fired;
  InvokeOptions options;
  options.on_fire = [&](const RuleFire& fire) {
    fired.push_back(fire.findings.front().step);
    return true;
  };
  // The job goes on; what is there is judged all the same.
  testing::PutFile(*made_.storage, run::LedgerKey("worker_0"),
                   ToJson(run::Ledger{.host = base::HostName(),
                                      .machine = base::MachineId(),
                                      .pid = getpid()}));
  const auto reports = rules.JudgeOnce(Open(), *made_.storage, options);
  ASSERT_EQ(reports.size(), 2u);
  EXPECT_EQ(reports[0].status, RuleStatus::kIssuesFound);
  EXPECT_EQ(reports[0].findings_total, 2);
  EXPECT_EQ(reports[1].status, RuleStatus::kNoIssuesFound);
  EXPECT_THAT(fired, ElementsAre(2, 3));
}

TEST_F(RuleSetTest, OnceTellsRulesHowLongNothingCame) {
  const RuleSet rules(Evaluations({"StalledTrainingRule:threshold=0"}), {});
  const auto stalled = rules.JudgeOnce(Open(), *made_.storage, {});
  EXPECT_EQ(stalled[0].status, RuleStatus::kIssuesFound);
  made_.run.End();
  const auto ended = rules.JudgeOnce(Open(), *made_.storage, {});
  EXPECT_EQ(ended[0].status, RuleStatus::kNoIssuesFound);
}

TEST_F(RuleSetTest, LiveGoesOnToTheEndOfTheJob) {
  const RuleSet rules(Evaluations({kAllZero}), {});
  const LiveVerdict verdict =
      rules.JudgeLive(Open(), {}, [&](const Invoker& judging) {
        if (judging.steps_judged() == 4) made_.run.End();
        return true;
      });
  EXPECT_TRUE(verdict.ended);
  EXPECT_EQ(verdict.steps_judged, 4);
  EXPECT_EQ(verdict.last_step, 3);
  EXPECT_EQ(verdict.reports[0].status, RuleStatus::kIssuesFound);
}

TEST_F(RuleSetTest, LiveStopsWhenItIsToldTo) {
  const RuleSet rules(Evaluations({"ExplodingTensor"}), {});
  const LiveVerdict verdict = rules.JudgeLive(
      Open(), {},
      [](const Invoker& judging) { return judging.steps_judged() == 0; });
  EXPECT_FALSE(verdict.ended);
  EXPECT_EQ(verdict.reports[0].status, RuleStatus::kStopped);
}

TEST_F(RuleSetTest, ARuleOfAPythonFileNeedsAPython) {
  const ScopedEnvironment python("SMDEBUG_PYTHON", "/no/such/python");
  EXPECT_THAT([] { RuleSet(Evaluations({"some.py:Own"}), {}); },
              ThrowsMessage<Error>(HasSubstr("SMDEBUG_PYTHON")));
  // That is known before any process is started.
  EXPECT_THAT(
      [] { RuleSet(Evaluations({"some.py:Own"}), {.worker = "worker_0"}); },
      ThrowsMessage<Error>(HasSubstr("looks at workers itself")));
}

TEST_F(RuleSetTest, AFileThatNeverLoadsIsGivenUp) {
  const testing::TempDir folder;
  const std::string mute = folder.path() / "python";
  std::ofstream(mute) << "#!/bin/sh\nwhile read -r line; do :; done\n";
  std::filesystem::permissions(mute, std::filesystem::perms::owner_all);
  const ScopedEnvironment python("SMDEBUG_PYTHON", mute);
  EXPECT_THAT(
      [] { RuleSet(Evaluations({"some.py:Own"}), {.load_limit = 0}); },
      ThrowsMessage<Error>(StrEq("some.py:Own did not load within 0 s")));
}

}  // namespace
}  // namespace smdebug::rules
