#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "smdebug/error.h"
#include "smdebug/trial.h"
#include "src/base/host.h"
#include "src/run/claim.h"
#include "src/run/keys.h"
#include "tests/testing/files.h"
#include "tests/testing/log_capture.h"
#include "tests/testing/temp_dir.h"
#include "tests/testing/trial_run.h"

namespace smdebug::trial {
namespace {

using testing::TestTrial;

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::ThrowsMessage;

// Gives up the second time that it is asked.
class Impatience {
 public:
  struct GaveUp {};
  void operator()() {
    if (++*asked_ > 1) throw GaveUp();
  }

 private:
  std::shared_ptr<int> asked_ = std::make_shared<int>(0);
};

TEST(TrialWaitTest, WhoWaitsForARunMayGiveUp) {
  TestTrial made;
  TrialOptions options = TestTrial::Options();
  options.while_waiting = Impatience();
  EXPECT_THROW(made.Open(options), Impatience::GaveUp);
}

TEST(TrialWaitTest, WhoWaitsForARunOfItsOwnHearsSoAtOnce) {
  TestTrial made;
  const run::Claim claim = {.run = "own",
                            .worker = "worker_0",
                            .host = base::HostName(),
                            .machine = base::MachineId(),
                            .pid = getpid(),
                            .start = base::ProcessStart(getpid())};
  testing::PutFile(*made.storage, run::kClaimKey, ToJson(claim));
  TrialOptions options = TestTrial::Options();
  options.while_waiting = Impatience();
  const testing::LogCapture log;
  EXPECT_THROW(made.Open(options), Impatience::GaveUp);
  EXPECT_THAT(log.lines(),
              ElementsAre(HasSubstr("the run has begun and has saved nothing "
                                    "yet; this process, ")));
}

// What is logged while a run at `path` is waited for.
std::vector<std::string> LogOfWaitingAt(const std::string& path) {
  TrialOptions options;
  options.while_waiting = Impatience();
  const testing::LogCapture log;
  EXPECT_THROW(Trial::Open(path, options), Impatience::GaveUp);
  return log.lines();
}

TEST(TrialWaitTest, WhoWaitsForAFolderThatIsNotThereHearsSoAtOnce) {
  const testing::TempDir dir;
  const std::string root = dir.path().string();
  EXPECT_THAT(LogOfWaitingAt(dir / "first"),
              ElementsAre(root + "/first: waiting for a run in this folder, "
                                 "which does not exist yet"));
  std::filesystem::create_directory(dir / "first");
  std::filesystem::create_directory(dir / "other");
  EXPECT_THAT(LogOfWaitingAt(dir / "firts"),
              ElementsAre(HasSubstr("yet; did you mean 'first'?")));
  EXPECT_THAT(LogOfWaitingAt(dir / "runs/first"),
              ElementsAre(HasSubstr("yet; nor does " + root + "/runs")));
  EXPECT_THAT(LogOfWaitingAt(dir / "other"), IsEmpty());
}

TEST(TrialWaitTest, AFileIsNotWaitedFor) {
  const testing::TempDir dir;
  std::ofstream(dir / "train.py") << "import torch";
  EXPECT_THAT([&] { Trial::Open(dir / "train.py"); },
              ThrowsMessage<Error>(HasSubstr(
                  "train.py: is a file; give the folder of the run")));
  EXPECT_THAT([&] { Trial::Open(dir / "train.py/run"); },
              ThrowsMessage<Error>(HasSubstr("run: lies in a file; give")));
}

TEST(TrialWaitTest, WhoWaitsForAStepMayGiveUp) {
  TestTrial made;
  made.run.Declare({"worker_0"});
  TrialOptions options = TestTrial::Options();
  options.while_waiting = Impatience();
  Trial& trial = made.Open(options);
  const int64_t step = 7;
  EXPECT_THROW(trial.WaitForSteps({&step, 1}), Impatience::GaveUp);
  made.run.Save(step);
  EXPECT_THAT(trial.Steps(), ElementsAre(step));
}

TEST(TrialWaitTest, WhoWaitsForStragglersMayGiveUp) {
  TestTrial made;
  made.run.Declare({"worker_0"});
  made.run.Save(0);
  made.run.Mark();
  TrialOptions options = TestTrial::Options();
  options.end_delay = std::chrono::hours(1);
  options.while_waiting = Impatience();
  Trial& trial = made.Open(options);
  EXPECT_THROW(trial.Steps(), Impatience::GaveUp);
  EXPECT_FALSE(trial.loaded_all_steps());
}

}  // namespace
}  // namespace smdebug::trial
