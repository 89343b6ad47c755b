#include "src/run/job.h"

#include <sys/wait.h>
#include <unistd.h>

#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "smdebug/error.h"
#include "src/base/host.h"
#include "src/run/run_id.h"
#include "tests/testing/environment.h"

namespace smdebug::run {
namespace {

using smdebug::testing::ScopedEnvironment;
using ::testing::Contains;
using ::testing::Not;
using ::testing::StartsWith;

class JobTest : public ::testing::Test {
 protected:
  const ScopedEnvironment no_id_{"SMDEBUG_JOB_ID", std::nullopt};
  const ScopedEnvironment no_torch_{"TORCHELASTIC_RUN_ID", std::nullopt};
  const ScopedEnvironment no_slurm_{"SLURM_JOB_ID", std::nullopt};
  const ScopedEnvironment no_pmix_{"PMIX_NAMESPACE", std::nullopt};
  const ScopedEnvironment no_address_{"MASTER_ADDR", std::nullopt};
  const ScopedEnvironment no_port_{"MASTER_PORT", std::nullopt};
};

TEST_F(JobTest, HasTheNameThatTheUserOrTheLauncherGives) {
  EXPECT_EQ(ThisJob().name, "");
  const ScopedEnvironment slurm("SLURM_JOB_ID", "42");
  EXPECT_EQ(ThisJob().name, "42");
  const ScopedEnvironment own("SMDEBUG_JOB_ID", "mine");
  EXPECT_EQ(ThisJob().name, "mine");
}

TEST_F(JobTest, TheDefaultOfTorchrunIsNoName) {
  const ScopedEnvironment torch("TORCHELASTIC_RUN_ID", "none");
  EXPECT_EQ(ThisJob().name, "");
  const ScopedEnvironment slurm("SLURM_JOB_ID", "42");
  EXPECT_EQ(ThisJob().name, "42");
}

TEST_F(JobTest, IsProvedByItsMeetingPlaceAndItsParent) {
  EXPECT_THAT(ThisJob().proofs, Not(Contains(StartsWith("rendezvous"))));
  EXPECT_THAT(ThisJob().proofs, Contains(StartsWith("parent")));
  const ScopedEnvironment address("MASTER_ADDR", "10.0.0.1");
  const ScopedEnvironment port("MASTER_PORT", "29500");
  EXPECT_THAT(ThisJob().proofs, Contains("rendezvous 10.0.0.1:29500"));
}

TEST_F(JobTest, MayBeThatOfAParentOrOfAnotherChild) {
  EXPECT_TRUE(MayShareJob(getppid()));
  const ScopedEnvironment name("SMDEBUG_JOB_ID", "mine");
  EXPECT_TRUE(MayShareJob(getppid()));
  EXPECT_FALSE(MayShareJob(int64_t{1} << 40));
  const pid_t child = fork();
  if (child == 0) _exit(MayShareJob(getppid()) ? 0 : 1);
  EXPECT_TRUE(MayShareJob(child));
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST_F(JobTest, ALoopbackAddressIsOfItsMachine) {
  const ScopedEnvironment address("MASTER_ADDR", "localhost");
  const ScopedEnvironment port("MASTER_PORT", "29500");
  EXPECT_THAT(ThisJob().proofs,
              Contains("rendezvous " + base::HostName() + " localhost:29500"));
}

TEST_F(JobTest, WorkersShareAnyProof) {
  const std::vector<std::string> a = {"x", "y"};
  const std::vector<std::string> b = {"z", "y"};
  EXPECT_TRUE(SharesProof(a, b));
  EXPECT_FALSE(SharesProof(a, std::vector<std::string>{"z"}));
  EXPECT_FALSE(SharesProof({}, {}));
}

TEST(RunIdTest, IsAnotherEachTime) {
  EXPECT_EQ(NewRunId().size(), 36U);
  EXPECT_EQ(NewRunId()[14], '4');
  EXPECT_NE(NewRunId(), NewRunId());
}

TEST(RunIdTest, TheOneHandedDownIsChecked) {
  const ScopedEnvironment none("SMDEBUG_RUN_ID", std::nullopt);
  EXPECT_EQ(RunIdFromEnvironment(), "");
  const ScopedEnvironment good("SMDEBUG_RUN_ID", "a-b_c.d:1");
  EXPECT_EQ(RunIdFromEnvironment(), "a-b_c.d:1");
  const ScopedEnvironment bad("SMDEBUG_RUN_ID", "a/../b");
  EXPECT_THROW(RunIdFromEnvironment(), ConfigError);
}

}  // namespace
}  // namespace smdebug::run
