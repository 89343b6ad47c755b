// `smdebug export`, over runs that the hook wrote. That NumPy reads the files
// is for tests/python/cli to check.
#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/run/keys.h"
#include "tests/integration/cli/runs.h"
#include "tests/testing/cli.h"
#include "tests/testing/files.h"
#include "tests/testing/temp_dir.h"

namespace smdebug::cli {
namespace {

using testing::CallCli;
using testing::CliOutcome;
using ::testing::ElementsAre;
using testing::FilesBelow;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using testing::ReadFile;
using ::testing::StartsWith;
using testing::TempDir;
using testing::WriteFile;
using testing::WriteSmallRun;

class ExportTest : public ::testing::Test {
 protected:
  void SetUp() override {
    WriteSmallRun(run_);
    std::filesystem::create_directory(dir_ / "out");
  }

  CliOutcome Export(std::vector<std::string> options) const {
    options.insert(options.begin(), {"export", run_});
    return CallCli(options);
  }
  std::vector<std::string> Written() const { return FilesBelow(dir_ / "out"); }

  const TempDir dir_;
  const std::string run_ = dir_ / "run";
  const std::string npz_ = dir_ / "out/x.npz";
  const std::string csv_ = dir_ / "out/x.csv";
};

TEST_F(ExportTest, WritesValuesToAnArchive) {
  const CliOutcome outcome = Export({"--npz", npz_});
  EXPECT_EQ(outcome.code, kExitOk) << outcome.err;
  EXPECT_THAT(outcome.out, StartsWith(npz_ + ": 12 arrays, "));
  EXPECT_THAT(outcome.err,
              HasSubstr("of 1 tensor (gradient/fc.weight) no value was saved"));
  EXPECT_THAT(Written(), ElementsAre("x.npz"));
  const std::string file = ReadFile(npz_);
  EXPECT_THAT(file, StartsWith("PK\x03\x04"));
  EXPECT_THAT(file, HasSubstr("fc.weight/TRAIN/3.npy"));
  EXPECT_THAT(file, HasSubstr("scalar/loss/EVAL/1.npy"));
  EXPECT_THAT(file, Not(HasSubstr("gradient")));
}

TEST_F(ExportTest, JsonTellsWhatWasWritten) {
  const auto json = Export({"--npz", npz_, "--json"}).json();
  EXPECT_EQ(json["file"], npz_);
  EXPECT_EQ(json["entries"], 12);
  EXPECT_EQ(json["bytes"], ReadFile(npz_).size());
  EXPECT_EQ(json["left_out"], nlohmann::json({"gradient/fc.weight"}));
}

TEST_F(ExportTest, FiltersNarrowIt) {
  const auto count = [&](std::vector<std::string> options) {
    options.insert(options.end(), {"--npz", npz_, "--force", "--json"});
    return Export(options).json()["entries"];
  };
  EXPECT_EQ(count({"--regex", "^fc"}), 6);
  EXPECT_EQ(count({"--mode", "eval"}), 4);
  EXPECT_EQ(count({"--mode", "eval", "--step", "0"}), 2);
  EXPECT_EQ(count({"--step", "5", "--regex", "loss"}), 1);
  EXPECT_EQ(count({"--worker", "worker_0"}), 12);
  EXPECT_EQ(count({"--reduction", "mean,abs_max"}), 2 * (6 + 4 + 6));
}

TEST_F(ExportTest, SeveralWorkersAreToldApart) {
  const std::string both = dir_ / "both";
  for (const int64_t rank : {0, 1}) {
    WriteSmallRun(both, {}, Worker::OfRank(rank, 2));
  }
  ASSERT_EQ(CallCli({"export", both, "--npz", npz_}).code, kExitOk);
  EXPECT_THAT(ReadFile(npz_), HasSubstr("fc.weight/TRAIN/0/worker_1.npy"));
  ASSERT_EQ(CallCli({"export", both, "--npz", npz_, "--force", "--worker",
                     "worker_1"})
                .code,
            kExitOk);
  EXPECT_THAT(ReadFile(npz_), HasSubstr("fc.weight/TRAIN/0.npy"));
}

TEST_F(ExportTest, CsvHasOneNumberPerLine) {
  const CliOutcome outcome =
      Export({"--csv", "-", "--regex", "loss", "--mode", "eval"});
  EXPECT_EQ(outcome.code, kExitOk) << outcome.err;
  EXPECT_EQ(outcome.out,
            "step,mode,mode_step,worker,tensor,value\n"
            "4,EVAL,0,worker_0,scalar/loss,0.2\n"
            "5,EVAL,1,worker_0,scalar/loss,0.16666666666666666\n");
}

TEST_F(ExportTest, CsvHasReductionsOfWhatIsNoNumber) {
  EXPECT_EQ(Export({"--csv", "-", "--step", "1", "--reduction", "max"}).out,
            "step,mode,mode_step,worker,tensor,value\n"
            "1,TRAIN,1,worker_0,fc.weight:max,2.25\n"
            "1,TRAIN,1,worker_0,scalar/loss,0.5\n");
  EXPECT_EQ(Export({"--csv", "-", "--step", "1", "--regex", "grad"}).out,
            "step,mode,mode_step,worker,tensor,value\n"
            "1,TRAIN,1,worker_0,gradient/fc.weight:mean,0\n"
            "1,TRAIN,1,worker_0,gradient/fc.weight:abs_max,2\n");
}

TEST_F(ExportTest, AReductionThatIsNotSavedIsNamed) {
  for (const std::string option : {"--csv", "--npz"}) {
    const CliOutcome outcome =
        Export({option, dir_ / "out/some", "--force", "--json", "--step", "1",
                "--regex", "grad", "--reduction", "mean,std"});
    EXPECT_EQ(outcome.code, kExitOk);
    EXPECT_THAT(outcome.err,
                HasSubstr("left out: 1 reduction that is not saved at some "
                          "step: gradient/fc.weight:std\n"));
    EXPECT_EQ(outcome.json()["entries"], 1);
    EXPECT_EQ(outcome.json()["left_out"],
              nlohmann::json({"gradient/fc.weight:std"}));
  }
  EXPECT_THAT(
      Export({"--csv", "-", "--regex", "grad", "--reduction", "std,l2"}).err,
      HasSubstr("nothing to export: 2 reductions that are not saved at some "
                "step: gradient/fc.weight:l2, gradient/fc.weight:std"));
}

TEST_F(ExportTest, CsvRefusesWholeTensorsBeforeItWrites) {
  const CliOutcome outcome = Export({"--csv", "-"});
  EXPECT_EQ(outcome.code, kExitError);
  EXPECT_THAT(outcome.out, IsEmpty());
  EXPECT_THAT(outcome.err, HasSubstr("'fc.weight' has 6 elements at step 0"));
  EXPECT_THAT(outcome.err, HasSubstr("a reduction, such as mean"));
  EXPECT_EQ(Export({"--csv", csv_}).code, kExitError);
  EXPECT_THAT(Written(), IsEmpty());
}

TEST_F(ExportTest, ScalarsOfStepsWithoutFilesKeepTheirStep) {
  const std::string sparse = dir_ / "sparse";
  {
    HookConfig config = testing::SaveEverything(sparse);
    config.save_config = SaveConfig::Every({.save_interval = 3});
    Hook hook(config);
    for (int step = 0; step < 4; ++step) {
      hook.BeginStep();
      testing::SaveFloats(hook, "w", {1});
      hook.SaveScalar("loss", step);
    }
  }
  EXPECT_EQ(CallCli({"export", sparse, "--csv", "-", "--regex", "loss"}).out,
            "step,mode,mode_step,worker,tensor,value\n"
            "0,GLOBAL,0,worker_0,scalar/loss,0\n"
            "1,GLOBAL,1,worker_0,scalar/loss,1\n"
            "2,GLOBAL,2,worker_0,scalar/loss,2\n"
            "3,GLOBAL,3,worker_0,scalar/loss,3\n");
}

TEST_F(ExportTest, NothingIsReplacedUnasked) {
  WriteFile(npz_, "mine");
  const CliOutcome outcome = Export({"--npz", npz_});
  EXPECT_EQ(outcome.code, kExitError);
  EXPECT_THAT(outcome.err, HasSubstr("--force"));
  EXPECT_EQ(ReadFile(npz_), "mine");
  EXPECT_EQ(Export({"--npz", npz_, "--force"}).code, kExitOk);
}

TEST_F(ExportTest, AnArchiveGoesToStandardOutput) {
  EXPECT_EQ(Export({"--npz", npz_}).code, kExitOk);
  for (const std::string name : {"-", "/dev/stdout"}) {
    const CliOutcome outcome = Export({"--npz", name});
    EXPECT_EQ(outcome.code, kExitOk) << outcome.err;
    EXPECT_EQ(outcome.out, ReadFile(npz_));
    EXPECT_THAT(Export({"--csv", name, "--regex", "loss"}).out,
                StartsWith("step,mode,"));
  }
  const CliOutcome refused =
      CallCli({"export", run_, "--npz", "-"}, {.is_terminal = true});
  EXPECT_EQ(refused.code, kExitError);
  EXPECT_THAT(refused.err, HasSubstr("standard output is a terminal"));
}

TEST_F(ExportTest, ARunWithoutTensorsGivesNothing) {
  const std::string empty = dir_ / "empty";
  {
    Hook hook(testing::SaveEverything(empty));
    hook.BeginStep();
    hook.Close();
  }
  for (const std::string option : {"--csv", "--npz"}) {
    const CliOutcome outcome = CallCli({"export", empty, option, "-"});
    EXPECT_EQ(outcome.code, kExitError);
    EXPECT_EQ(outcome.out, "");
    EXPECT_EQ(outcome.err,
              "smdebug: nothing to export: the run has no tensors\n");
  }
}

TEST_F(ExportTest, DamageCostsItsStepAlone) {
  for (const std::string& key :
       {run::EventFileKey(3, "worker_0"), run::IndexFileKey(3, "worker_0")}) {
    const std::string whole = ReadFile(run_ + "/" + key);
    std::string file = whole;
    for (char& byte : file) byte = static_cast<char>(byte ^ 1);
    WriteFile(run_ + "/" + key, file);
    const CliOutcome outcome = Export({"--csv", "-", "--regex", "loss"});
    EXPECT_EQ(outcome.code, kExitFound) << outcome.err;
    EXPECT_THAT(outcome.err,
                HasSubstr("smdebug: damaged: " + run_ + "/" + key));
    EXPECT_THAT(outcome.out, HasSubstr("\n2,"));
    EXPECT_THAT(outcome.out, Not(HasSubstr("\n3,")));
    EXPECT_THAT(outcome.out, HasSubstr("\n4,"));
    EXPECT_EQ(Export({"--npz", npz_, "--force"}).code, kExitFound);
    EXPECT_THAT(Written(), Not(IsEmpty()));
    WriteFile(run_ + "/" + key, whole);
  }
}

TEST_F(ExportTest, DamageOfEverythingLeavesNoFile) {
  for (int64_t step = 0; step < 6; ++step) {
    WriteFile(run_ + "/" + run::EventFileKey(step, "worker_0"), "");
  }
  const CliOutcome outcome = Export({"--npz", npz_});
  EXPECT_EQ(outcome.code, kExitError);
  EXPECT_THAT(outcome.err, HasSubstr("what there is is damaged"));
  EXPECT_THAT(Written(), IsEmpty());
}

TEST_F(ExportTest, TheTargetIsCheckedBeforeTheRunIsOpened) {
  const CliOutcome outcome =
      CallCli({"export", dir_ / "absent", "--npz", dir_ / "none/run.npz"});
  EXPECT_EQ(outcome.code, kExitError);
  EXPECT_THAT(outcome.err, HasSubstr("there is no folder " + dir_ / "none"));
}

TEST_F(ExportTest, WrongCallsAreRefused) {
  const struct {
    std::vector<std::string> options;
    std::string message;
  } cases[] = {
      {{}, "give --npz FILE or --csv FILE"},
      {{"--npz", npz_, "--csv", csv_}, "do not go together"},
      {{"--csv", "-", "--json"}, "--json needs a FILE"},
      {{"--npz", npz_, "--regex", "momentum"}, "the tensors are fc.weight, "},
      {{"--npz", npz_, "--mode", "predict"}, "steps of TRAIN and EVAL"},
      {{"--npz", npz_, "--regex", "grad"},
       "of 1 tensor (gradient/fc.weight) no value was saved (--reduction "
       "exports reductions)"},
      {{"--npz", npz_, "--step", "99"}, "no saved step 99"},
      {{"--npz", npz_, "--worker", "worker_9"}, "no worker 'worker_9'"},
      {{"--npz", dir_.path().string()}, "is a folder"},
  };
  for (const auto& test : cases) {
    const CliOutcome outcome = Export(test.options);
    EXPECT_EQ(outcome.code, kExitError) << test.message;
    EXPECT_THAT(outcome.err, HasSubstr(test.message));
    EXPECT_THAT(Written(), IsEmpty());
  }
}

}  // namespace
}  // namespace smdebug::cli
