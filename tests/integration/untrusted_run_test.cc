#include <chrono>
#include <filesystem>
#include <memory>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "smdebug/hook.h"
#include "smdebug/trial.h"
#include "src/query/run_summary.h"
#include "src/query/verify_run.h"
#include "src/run/keys.h"
#include "tests/testing/files.h"
#include "tests/testing/hook.h"
#include "tests/testing/temp_dir.h"

// A run folder from a stranger, in which files and folders are links to another
// run: nothing of that one is ever told.
namespace smdebug {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::SaveEverything;
using testing::SaveFloats;
using testing::TempDir;

void WriteRun(const std::string& path, std::string_view tensor, int steps) {
  Hook hook(SaveEverything(path));
  for (int step = 0; step < steps; ++step) {
    hook.BeginStep();
    SaveFloats(hook, tensor, {1, 2, 3});
  }
  hook.Close();
}

class UntrustedRunTest : public ::testing::Test {
 protected:
  UntrustedRunTest() {
    WriteRun(secret_, "secret", 3);
    WriteRun(run_, "own", 1);
  }

  // Puts a link to the same file of the other run in place of `key`.
  void Plant(const std::string& key) {
    const fs::path place = fs::path(run_) / key;
    fs::remove_all(place);
    fs::create_directories(place.parent_path());
    fs::create_symlink(fs::path(secret_) / key, place);
  }

  std::unique_ptr<Trial> OpenTrial() const {
    return Trial::Open(run_, {.end_delay = std::chrono::milliseconds(0),
                              .missing_file_retries = 0});
  }

  const TempDir dir_;
  const std::string secret_ = dir_ / "secret";
  const std::string run_ = dir_ / "run";
};

TEST_F(UntrustedRunTest, LinkedStepsAreNotThere) {
  for (const int64_t step : {1, 2}) {
    Plant(run::IndexFileKey(step, "worker_0"));
    Plant(run::EventFileKey(step, "worker_0"));
  }
  const auto storage = OpenStorage(run_);
  const auto trial = OpenTrial();
  EXPECT_THAT(trial->Steps(), ElementsAre(0));
  EXPECT_THAT(trial->TensorNames(), ElementsAre("own"));
  EXPECT_EQ(query::SummarizeRun(*storage).steps, 1);
  const query::VerifyResult verified =
      query::VerifyRun(*storage, [](uint64_t) {});
  EXPECT_EQ(verified.index_files, 1);
  EXPECT_EQ(verified.event_files, 1);
  EXPECT_THAT(verified.damage, IsEmpty());
}

TEST_F(UntrustedRunTest, LinkedFoldersAreNotThere) {
  Plant("index");
  Plant("events");
  const auto storage = OpenStorage(run_);
  const auto trial = OpenTrial();
  EXPECT_THAT(trial->Steps(), IsEmpty());
  EXPECT_THAT(trial->TensorNames(), IsEmpty());
  EXPECT_EQ(query::SummarizeRun(*storage).steps, 0);
  EXPECT_EQ(query::VerifyRun(*storage, [](uint64_t) {}).bytes, 0u);
}

// An index of the run's own whose values lie behind a link.
TEST_F(UntrustedRunTest, ALinkedEventFileIsDamageNotAValue) {
  Plant(run::EventFileKey(0, "worker_0"));
  const auto trial = OpenTrial();
  EXPECT_THROW(trial->tensor("own").At(0), Error);
  const auto storage = OpenStorage(run_);
  EXPECT_EQ(query::SummarizeRun(*storage).damage.size(), 1u);
  const query::VerifyResult verified =
      query::VerifyRun(*storage, [](uint64_t) {});
  EXPECT_EQ(verified.damage.size(), 1u);
  EXPECT_EQ(verified.bytes, 0u);
}

}  // namespace
}  // namespace smdebug
