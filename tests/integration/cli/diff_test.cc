// `smdebug diff`, over runs that the hook wrote.
#include <cmath>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/integration/cli/runs.h"
#include "tests/testing/cli.h"
#include "tests/testing/temp_dir.h"

namespace smdebug::cli {
namespace {

using testing::CallCli;
using testing::CliOutcome;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::SaveEverything;
using testing::SaveFloats;
using ::testing::StartsWith;
using testing::TempDir;
using testing::WriteSmallRun;

class DiffTest : public ::testing::Test {
 protected:
  void SetUp() override { WriteSmallRun(a_); }

  CliOutcome Diff(std::vector<std::string> options = {}) const {
    options.insert(options.begin(), {"diff", a_, b_});
    return CallCli(options);
  }
  nlohmann::json DiffJson(std::vector<std::string> options = {}) const {
    options.emplace_back("--json");
    return Diff(options).json();
  }

  const TempDir dir_;
  const std::string a_ = dir_ / "a";
  const std::string b_ = dir_ / "b";
};

TEST_F(DiffTest, ARunEqualsItsTwin) {
  WriteSmallRun(b_);
  const CliOutcome outcome = Diff({"--rtol", "0", "--atol", "0"});
  EXPECT_EQ(outcome.code, kExitOk) << outcome.out << outcome.err;
  EXPECT_EQ(outcome.out,
            "compared         16 tensors at their steps\n"
            "different        none\n");
  EXPECT_EQ(DiffJson()["equal"], true);
}

TEST_F(DiffTest, NamesTheFirstStepAndTensorThatDiffer) {
  WriteSmallRun(b_, [](int64_t step, std::vector<float>& weight) {
    if (step >= 2) weight[4] += static_cast<float>(step);
  });
  const CliOutcome outcome = Diff();
  EXPECT_EQ(outcome.code, kExitFound);
  EXPECT_THAT(outcome.out,
              StartsWith("first difference step 2, 'fc.weight' of worker_0, "
                         "value: 1 of 6 values, most at [4]: 3 against 5\n"));
  EXPECT_THAT(outcome.out,
              HasSubstr("different        4 (1 tensor by name)\n"));
  const auto json = DiffJson({"--limit", "2"});
  EXPECT_EQ(json["first"]["step"], 2);
  EXPECT_EQ(json["different"], 4);
  ASSERT_EQ(json["largest"].size(), 2u);
  EXPECT_EQ(json["largest"][0]["step"], 5);
  EXPECT_EQ(json["largest"][0]["largest"], 5.0);
  EXPECT_EQ(json["largest"][1]["step"], 4);
  EXPECT_EQ(json["largest"][0]["where"], 4);
}

TEST_F(DiffTest, TolerancesAndFiltersNarrowIt) {
  WriteSmallRun(b_, [](int64_t step, std::vector<float>& weight) {
    if (step < 4) weight[0] += 0.001f;
  });
  EXPECT_EQ(Diff().code, kExitFound);
  EXPECT_EQ(Diff({"--atol", "0.01"}).code, kExitOk);
  EXPECT_EQ(Diff({"--rtol", "0.01"}).code, kExitFound);  // 0 has no relatives.
  EXPECT_EQ(Diff({"--regex", "loss"}).code, kExitOk);
  EXPECT_EQ(Diff({"--mode", "eval"}).code, kExitOk);
  EXPECT_EQ(Diff({"--mode", "train"}).code, kExitFound);
}

TEST_F(DiffTest, NaNEqualsNaNAndNothingElse) {
  const auto with_nan = [](int64_t, std::vector<float>& weight) {
    weight[1] = NAN;
  };
  const std::string c = dir_ / "c";
  WriteSmallRun(b_, with_nan);
  WriteSmallRun(c, with_nan);
  EXPECT_EQ(CallCli({"diff", b_, c}).code, kExitOk);
  EXPECT_EQ(Diff().code, kExitFound);
  EXPECT_EQ(DiffJson()["largest"][0]["largest"], "Infinity");
}

TEST_F(DiffTest, ReductionsAreComparedWhereThereIsNoValue) {
  {
    HookConfig config = testing::SmallRunConfig(b_);
    config.reduction_config =
        ReductionConfig{.reductions = {{ReductionOp::kMax}}};
    Hook hook(config);
    hook.SetMode(Mode::kTrain);
    hook.BeginStep();
    std::vector<float> weight = testing::WeightAt(0);
    weight[5] = 7;
    testing::SaveMatrix(hook, "fc.weight", weight);
  }
  const auto json = DiffJson({"--regex", "^fc"});
  EXPECT_EQ(json["first"]["what"], "max");
  EXPECT_EQ(json["first"]["a"], "1.25");
  EXPECT_EQ(json["first"]["b"], "7");
}

TEST_F(DiffTest, ShapesMustBeEqual) {
  {
    Hook hook(SaveEverything(b_));
    hook.SetMode(Mode::kTrain);
    hook.BeginStep();
    SaveFloats(hook, "fc.weight", {0, 0.25f, 0.5f, 0.75f, 1, 1.25f});
  }
  EXPECT_THAT(Diff().out, HasSubstr("shape (2, 3) against (6,)"));
}

TEST_F(DiffTest, WhatOnlyOneRunHasMakesThemDiffer) {
  {
    Hook hook(testing::SmallRunConfig(b_));
    for (int64_t step = 0; step < 4; ++step) {
      hook.SetMode(Mode::kTrain);
      hook.BeginStep();
      testing::SaveMatrix(hook, "fc.weight", testing::WeightAt(step));
      SaveFloats(hook, "extra.weight", {1});
      if (step == 0) hook.SaveScalar("loss", 1);
    }
  }
  const auto json = DiffJson();
  EXPECT_EQ(json["equal"], false);
  EXPECT_EQ(json["first"], nullptr);
  EXPECT_EQ(json["different"], 0);
  EXPECT_EQ(json["steps_only_a"], nlohmann::json({4, 5}));
  EXPECT_THAT(json["steps_only_b"], IsEmpty());
  EXPECT_EQ(json["tensors_only_a"], nlohmann::json({"gradient/fc.weight"}));
  EXPECT_EQ(json["tensors_only_b"], nlohmann::json({"extra.weight"}));
  EXPECT_EQ(json["entries_only_a"], 3);  // The losses of steps 1 to 3.
  const CliOutcome outcome = Diff();
  EXPECT_EQ(outcome.code, kExitFound);
  EXPECT_THAT(outcome.out, HasSubstr("steps only in A  2 (4, 5)\n"));
  EXPECT_THAT(outcome.out, HasSubstr("names only in B  1 (extra.weight)\n"));
}

TEST_F(DiffTest, WorkersArePairedByName) {
  const std::string c = dir_ / "c";
  for (const int64_t rank : {0, 1}) {
    WriteSmallRun(b_, {}, Worker::OfRank(rank, 2));
    WriteSmallRun(
        c,
        [&](int64_t step, std::vector<float>& weight) {
          if (rank == 1 && step == 3) weight[0] = -1;
        },
        Worker::OfRank(rank, 2));
  }
  const auto json = CallCli({"diff", b_, c, "--json"}).json();
  EXPECT_EQ(json["different"], 1);
  EXPECT_EQ(json["first"]["worker"], "worker_1");
  EXPECT_EQ(json["first"]["step"], 3);
  EXPECT_GT(DiffJson()["entries_only_b"], 0);
}

TEST_F(DiffTest, ADamagedValueHidesNoOther) {
  WriteSmallRun(b_);
  const std::string event = b_ + "/" + run::EventFileKey(2, "worker_0");
  std::string bytes = ReadFile(event);
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
  WriteFile(event, bytes);
  const CliOutcome same = Diff();
  EXPECT_EQ(same.code, kExitError);
  EXPECT_THAT(same.out, HasSubstr("not compared     1 tensor at a step"));
  EXPECT_THAT(same.err, HasSubstr("damaged: "));
  EXPECT_THAT(same.err, HasSubstr("; damaged: step 2\n"));
  const auto json = DiffJson();
  EXPECT_EQ(json["equal"], false);
  EXPECT_EQ(json["damaged"], 1);
  EXPECT_EQ(json["different"], 0);
  EXPECT_GT(json["compared"], 1);
}

TEST_F(DiffTest, NothingToCompareIsNoEquality) {
  WriteSmallRun(b_);
  const CliOutcome regex = Diff({"--regex", "zzz"});
  EXPECT_EQ(regex.code, kExitError);
  EXPECT_THAT(regex.err, HasSubstr("no tensor matches 'zzz'; the tensors are "
                                   "fc.weight, gradient/fc.weight"));
  const CliOutcome mode = Diff({"--mode", "predict"});
  EXPECT_EQ(mode.code, kExitError);
  EXPECT_THAT(mode.err, HasSubstr("there is no saved step of PREDICT; there "
                                  "are steps of TRAIN and EVAL"));
  EXPECT_EQ(Diff({"--mode", "predict", "--json"}).code, kExitError);
}

TEST_F(DiffTest, WhatOneRunAloneHasIsADifference) {
  {
    Hook hook(testing::SmallRunConfig(b_));
    hook.SetMode(Mode::kTrain);
    hook.BeginStep();
    SaveFloats(hook, "extra.weight", {1});
  }
  EXPECT_EQ(Diff({"--regex", "extra"}).code, kExitFound);
  EXPECT_EQ(Diff({"--mode", "eval"}).code, kExitFound);
}

TEST_F(DiffTest, BothRunsMustBeThere) {
  EXPECT_EQ(Diff().code, kExitError);
  EXPECT_EQ(CallCli({"diff", a_}).code, kExitError);
  EXPECT_EQ(CallCli({"diff", a_, a_, "--rtol", "-1"}).code, kExitError);
}

}  // namespace
}  // namespace smdebug::cli
