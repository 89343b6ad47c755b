// `smdebug plot`, over runs that the hook wrote.
#include <cmath>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
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
using ::testing::Not;
using ::testing::StartsWith;
using testing::TempDir;

class PlotTest : public testing::SmallRunFixture {
 protected:
  static CliOutcome Call(std::vector<std::string> args) {
    return CallOnRun("plot", std::move(args));
  }
};

TEST_F(PlotTest, PlotsScalarsAsTheyAre) {
  const CliOutcome outcome = Call({"scalar/loss", "--ascii", "--width", "40"});
  EXPECT_EQ(outcome.code, kExitOk) << outcome.err;
  EXPECT_THAT(outcome.out, StartsWith("scalar/loss\n\n     1 +*"));
  const auto json = Call({"scalar/loss", "--json"}).json();
  EXPECT_EQ(json, Call({"loss", "--json"}).json());
  EXPECT_EQ(json["reduction"], nullptr);
  EXPECT_EQ(json["steps"], nlohmann::json({0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(json["values"][1], 0.5);
}

TEST_F(PlotTest, MoreLinesThanSignsAreRefused) {
  // Two modes of the run each time.
  std::vector<std::string> args = {"plot"};
  for (int i = 0; i < 16; ++i) args.push_back(Run());
  args.emplace_back("loss");
  const CliOutcome outcome = CallCli(args);
  EXPECT_EQ(outcome.code, kExitError);
  EXPECT_THAT(outcome.err, HasSubstr("signs for 31 lines in one picture, and "
                                     "these are 32"));
  args.emplace_back("--json");
  EXPECT_EQ(CallCli(args).code, kExitOk);
}

TEST_F(PlotTest, PlotsReductionsOfOtherTensors) {
  const auto values = [](const std::vector<std::string>& args) {
    std::vector<std::string> all = args;
    all.emplace_back("--json");
    return Call(all).json();
  };
  const auto mean = values({"fc.weight"});
  EXPECT_EQ(mean["reduction"], "mean");
  EXPECT_EQ(mean["values"],
            nlohmann::json({0.625, 1.625, 2.625, 3.625, 4.625, 5.625}));
  EXPECT_EQ(values({"fc.weight:max"})["values"][0], 1.25);
  EXPECT_EQ(values({"fc.weight", "--reduction", "max"}),
            values({"fc.weight:max"}));
  EXPECT_EQ(values({"gradient/fc.weight:abs_max"})["values"],
            nlohmann::json({2.0, 2.0, 2.0, 3.0}));
  EXPECT_EQ(values({"fc.weight", "--mode", "eval"})["steps"],
            nlohmann::json({0, 1}));
}

TEST_F(PlotTest, ModesAreLinesOfTheirOwn) {
  const CliOutcome both = Call({"loss", "--ascii", "--width", "40"});
  EXPECT_THAT(both.out, HasSubstr("\n* TRAIN: 4 steps, last 0.25\n"
                                  "o EVAL: 2 steps, last 0.166667\n"));
  EXPECT_THAT(both.out, HasSubstr("ooo"));
  const CliOutcome one =
      Call({"loss", "--mode", "eval", "--ascii", "--width", "40"});
  EXPECT_THAT(one.out,
              StartsWith("scalar/loss, EVAL: 2 steps, last 0.166667\n\n"));
  EXPECT_THAT(one.out, Not(HasSubstr("o EVAL")));
}

TEST_F(PlotTest, SeveralRunsShareAPicture) {
  testing::WriteSmallRun(Beside("other"));
  const CliOutcome outcome = CallCli(
      {"plot", Run(), Beside("other"), "loss", "--mode", "train", "--ascii"});
  EXPECT_EQ(outcome.code, kExitOk) << outcome.err;
  EXPECT_THAT(outcome.out, StartsWith("scalar/loss, TRAIN\n\n"));
  EXPECT_THAT(outcome.out, HasSubstr("\n* run: 4 steps, last 0.25\n"
                                     "o other: 4 steps, last 0.25\n"
                                     "= several of them in one place\n"));
  EXPECT_THAT(outcome.out, HasSubstr("===="));
  EXPECT_THAT(CallCli({"plot", Run(), Beside("other"), "--tensor", "loss"}).out,
              HasSubstr("\no run EVAL: 2 steps, last 0.166667\n"));

  const auto json =
      CallCli({"plot", Run(), Beside("other"), "--tensor", "loss", "--json"})
          .json();
  ASSERT_EQ(json["runs"].size(), 2u);
  auto second = json["runs"][1];
  EXPECT_EQ(second["run"], Beside("other"));
  second.erase("run");
  EXPECT_EQ(second, Call({"loss", "--json"}).json());

  {
    Hook hook(testing::SaveEverything(Beside("bare")));
    hook.BeginStep();
    testing::SaveFloats(hook, "x", {1});
  }
  const CliOutcome lacking = CallCli({"plot", Run(), Beside("bare"), "loss"});
  EXPECT_EQ(lacking.code, kExitOk);
  EXPECT_THAT(lacking.err, HasSubstr("left out: " + Beside("bare") +
                                     ": there is no tensor 'loss'; the only "
                                     "tensor is x\n"));
  EXPECT_THAT(lacking.out, HasSubstr("TRAIN: 4 steps, last 0.25\n"));
  const CliOutcome absent = CallCli({"plot", Run(), Beside("absent"), "loss"});
  EXPECT_EQ(absent.err,
            "smdebug: left out: " + Beside("absent") + ": no such folder\n");
  const CliOutcome nowhere =
      CallCli({"plot", Run(), Beside("other"), "momentum"});
  EXPECT_EQ(nowhere.code, kExitError);
  EXPECT_EQ(nowhere.out, "");
  EXPECT_THAT(nowhere.err, HasSubstr("none of the 2 runs has it"));
}

TEST_F(PlotTest, AForgottenTensorIsNamedAsSuch) {
  testing::WriteSmallRun(Beside("second"));
  EXPECT_THAT(CallCli({"plot", Run()}).err, HasSubstr("<tensor> is missing"));
  const CliOutcome outcome = CallCli({"plot", Run(), Beside("second")});
  EXPECT_EQ(outcome.code, kExitError);
  EXPECT_THAT(outcome.err, HasSubstr("<tensor> is missing: '" +
                                     Beside("second") + "' is a run"));
}

TEST_F(PlotTest, ADamagedStepCostsItsPointAlone) {
  const TempDir dir;
  const std::string run = dir / "run";
  const auto points = [&] {
    return CallCli({"plot", run, "loss", "--json"}).json()["steps"];
  };
  for (const std::string& key :
       {run::EventFileKey(2, "worker_0"), run::IndexFileKey(2, "worker_0")}) {
    std::filesystem::remove_all(run);
    testing::WriteSmallRun(run);
    const std::string file = fmt::format("{}/{}", run, key);
    testing::WriteFile(file, testing::ReadFile(file).substr(0, 30));
    const CliOutcome outcome = CallCli({"plot", run, "loss"});
    EXPECT_EQ(outcome.code, kExitOk) << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr("smdebug: damaged: " + file));
    EXPECT_THAT(outcome.err, HasSubstr("; damaged: step 2\n"));
    EXPECT_EQ(points(), nlohmann::json({0, 1, 3, 4, 5})) << key;
  }
  std::filesystem::remove_all(run);
  testing::WriteSmallRun(run);
  std::filesystem::remove(run + "/" + run::EventFileKey(2, "worker_0"));
  EXPECT_EQ(points(), nlohmann::json({0, 1, 3, 4, 5}));
  EXPECT_THAT(CallCli({"plot", run, "loss"}).err,
              HasSubstr("'scalar/loss' is damaged at step 2\n"));
  EXPECT_EQ(CallCli({"plot", run, "loss", "--json"}).json()["damaged"],
            nlohmann::json({2}));
  for (int64_t step = 0; step < 6; ++step) {
    testing::WriteFile(run + "/" + run::EventFileKey(step, "worker_0"), "");
  }
  EXPECT_EQ(CallCli({"plot", run, "loss"}).code, kExitError);
}

TEST_F(PlotTest, FewBucketsHoldEveryExtreme) {
  const auto json = Call({"loss", "--json", "--points", "2"}).json();
  EXPECT_FALSE(json.contains("values"));
  ASSERT_EQ(json["buckets"].size(), 2u);
  EXPECT_EQ(json["buckets"][0]["max"], 1.0);
  EXPECT_EQ(json["buckets"][1]["last_step"], 5);
  EXPECT_EQ(json["buckets"][1]["min"], json["buckets"][1]["last"]);
  EXPECT_EQ(Call({"loss", "--points", "2"}).code, kExitError);
}

TEST_F(PlotTest, PlotsWhatIsNotFinite) {
  const TempDir dir;
  {
    Hook hook(testing::SaveEverything(dir / "run"));
    for (const double loss : {1.0, double{NAN}, 0.5}) {
      hook.BeginStep();
      hook.SaveScalar("loss", loss);
    }
  }
  const CliOutcome outcome = CallCli({"plot", dir / "run", "scalar/loss"});
  EXPECT_THAT(outcome.out, HasSubstr("NaN at 1 step, first at step 1\n"));
  EXPECT_THAT(CallCli({"plot", dir / "run", "scalar/loss"},
                      {.is_terminal = true, .colour = true})
                  .out,
              HasSubstr("NaN at 1 step, first at step 1\x1B[0m\n"));
  EXPECT_EQ(
      CallCli({"plot", dir / "run", "scalar/loss", "--json"}).json()["values"],
      nlohmann::json({1.0, "NaN", 0.5}));
}

TEST_F(PlotTest, PlotRefusesWhatIsNotThere) {
  const struct {
    std::vector<std::string> args;
    std::string message;
  } cases[] = {
      {{"gradient/fc.weight:l2"},
       "no l2 of 'gradient/fc.weight' to plot; saved were mean, abs_max"},
      {{"fc.weight:meann"},
       "there is no reduction 'meann' of 'fc.weight'; expected min, max, mean"},
      {{"fc.weight:meann"}, "did you mean 'mean'"},
      {{"losss"}, "there is no tensor 'losss'; did you mean 'loss'?"},
      {{"fc.weight", "--reduction", "average"}, "expected min, max, mean"},
      {{"fc.weight", "--reduction", "min,max"}, "one is plotted at a time"},
      {{"fc.weight", "--width", "2"}, "--width"},
      {{"fc.weight", "--mode", "predict"}, "no saved step of PREDICT"},
  };
  for (const auto& test : cases) {
    const CliOutcome outcome = Call(test.args);
    EXPECT_EQ(outcome.code, kExitError) << test.message;
    EXPECT_THAT(outcome.err, HasSubstr(test.message));
  }
}

}  // namespace
}  // namespace smdebug::cli
