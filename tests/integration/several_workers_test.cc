// A process that trains on several devices, and what readers see of it.
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "smdebug/guard.h"
#include "smdebug/hook.h"
#include "smdebug/trial.h"
#include "tests/testing/hook.h"
#include "tests/testing/temp_dir.h"

namespace smdebug {
namespace {

using ::testing::ElementsAre;
using testing::SaveEverything;
using testing::SaveFloats;
using testing::TempDir;

// As TensorFlow's MirroredStrategy names its devices.
const std::vector<std::string> kDevices = {
    "/job:localhost/replica:0/task:0/device:GPU:0",
    "/job:localhost/replica:0/task:0/device:GPU:1"};

class SeveralWorkersTest : public ::testing::Test {
 protected:
  SeveralWorkersTest() {
    config_ = SaveEverything(run_);
    config_.include_workers = IncludeWorkers::kAll;
    hook_ = Hook::OfWorkers(config_, Worker::OfDevices(kDevices));
  }

  // A step as a mirrored training has it: the loss is that of all replicas.
  void Step(float value) {
    hook_->BeginStep();
    for (size_t replica = 0; replica < kDevices.size(); ++replica) {
      const float own[] = {value, static_cast<float>(replica)};
      const int64_t shape[] = {2};
      hook_->Save("dense/weights/dense/kernel:0", ViewOf<float>(own, shape),
                  {.original_name = "dense/kernel:0", .worker = replica});
    }
    SaveFloats(*hook_, "loss", {1 / (value + 1)});
  }

  const TempDir dir_;
  const std::string run_ = dir_ / "run";
  HookConfig config_;
  std::unique_ptr<Hook> hook_;
};

TEST_F(SeveralWorkersTest, ATrialHasTheValuesOfEach) {
  for (int step = 0; step < 3; ++step) Step(static_cast<float>(step));
  hook_->Close();
  const auto trial = Trial::Open(run_);
  EXPECT_THAT(trial->Workers(), ElementsAre(kDevices[0], kDevices[1]));
  EXPECT_THAT(trial->Steps(), ElementsAre(0, 1, 2));
  const Tensor kernel = trial->tensor("dense/weights/dense/kernel:0");
  EXPECT_THAT(kernel.Workers(1), ElementsAre(kDevices[0], kDevices[1]));
  for (size_t replica = 0; replica < kDevices.size(); ++replica) {
    const Value value = kernel.At(2, Mode::kGlobal, kDevices[replica]);
    EXPECT_EQ(value.Get(0), 2);
    EXPECT_EQ(value.Get(1), replica);
  }
  EXPECT_TRUE(trial->damage().empty());
}

TEST_F(SeveralWorkersTest, AnOpenTrialInTheProcessSeesWhatHasEnded) {
  Step(0);
  hook_->EndStep();
  const auto trial = Trial::Open(run_);
  EXPECT_THAT(trial->Steps(), ElementsAre(0));
  Step(1);
  hook_->EndStep();
  EXPECT_THAT(trial->Steps(), ElementsAre(0, 1));
  EXPECT_THAT(trial->tensor("loss").Workers(1),
              ElementsAre(kDevices[0], kDevices[1]));
}

TEST_F(SeveralWorkersTest, ARuleInTheHookJudgesTheFirst) {
  const RuleGuard guard(*hook_, {ToEvaluation({.name = "ExplodingTensor"})});
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const auto save = [&](size_t worker, float value) {
    hook_->Save("x", ViewOf<float>({&value, 1}, {}), {.worker = worker});
  };
  for (const size_t worker : {size_t{1}, size_t{0}}) {
    hook_->BeginStep();
    save(worker, nan);
    save(1 - worker, 1);
  }
  hook_->Close();
  EXPECT_EQ(guard.first_fired()->step(), 1);
}

}  // namespace
}  // namespace smdebug
