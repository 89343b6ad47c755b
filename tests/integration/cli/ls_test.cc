// `smdebug ls` and `smdebug steps`, over runs that the hook wrote.
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "smdebug/error.h"
#include "tests/integration/cli/runs.h"
#include "tests/testing/cli.h"
#include "tests/testing/files.h"
#include "tests/testing/temp_dir.h"

namespace smdebug::cli {
namespace {

using testing::CallCli;
using testing::CliOutcome;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;
using testing::TempDir;

class LsTest : public testing::SmallRunFixture {
 protected:
  static std::vector<std::string> NamesOf(const CliOutcome& outcome) {
    std::vector<std::string> names;
    const nlohmann::json json = outcome.json();
    for (const auto& tensor : json["tensors"]) {
      names.push_back(tensor["name"]);
    }
    return names;
  }
  static std::vector<std::string> Ls(std::vector<std::string> args) {
    args.emplace_back("--json");
    return NamesOf(CallOnRun("ls", std::move(args)));
  }
};

TEST_F(LsTest, ListsTensorsInAlignedColumns) {
  const CliOutcome outcome = CallCli({"ls", Run()});
  EXPECT_EQ(outcome.code, kExitOk) << outcome.err;
  EXPECT_THAT(outcome.err, IsEmpty());
  EXPECT_EQ(outcome.out,
            "name                collections  dtype    shape   saved"
            "          steps\n"
            "fc.weight           weights      float32  (2, 3)  value"
            "          6 (0..5)\n"
            "gradient/fc.weight  gradients    float32  ?       mean, abs_max"
            "  4 (0..3)\n"
            "scalar/loss         losses       float64  (1,)    value"
            "          6 (0..5)\n");
}

TEST_F(LsTest, JsonHasTheSameFacts) {
  const auto json = CallCli({"ls", "--json", Run()}).json();
  EXPECT_EQ(json["run"], Run());
  ASSERT_EQ(json["tensors"].size(), 3u);
  const auto& weight = json["tensors"][0];
  EXPECT_EQ(weight["name"], "fc.weight");
  EXPECT_EQ(weight["dtype"], "float32");
  EXPECT_EQ(weight["shape"], nlohmann::json({2, 3}));
  EXPECT_EQ(weight["saved"]["value"], true);
  EXPECT_EQ(weight["steps"], 6);
  EXPECT_EQ(weight["last_step"], 5);
  const auto& gradient = json["tensors"][1];
  EXPECT_EQ(gradient["shape"], nullptr);
  EXPECT_EQ(gradient["saved"]["value"], false);
  EXPECT_EQ(gradient["saved"]["reductions"],
            nlohmann::json({"mean", "abs_max"}));
}

TEST_F(LsTest, FiltersAddUp) {
  EXPECT_THAT(Ls({"weight"}), ElementsAre("fc.weight", "gradient/fc.weight"));
  EXPECT_THAT(Ls({"fc*"}), ElementsAre("fc.weight"));
  EXPECT_THAT(Ls({"--regex", "^grad", "--regex", "loss$"}),
              ElementsAre("gradient/fc.weight", "scalar/loss"));
  EXPECT_THAT(Ls({"--collection", "weights"}), ElementsAre("fc.weight"));
  EXPECT_THAT(Ls({"weight", "--regex", "^f", "--collection", "weights"}),
              ElementsAre("fc.weight"));
  EXPECT_THAT(Ls({"--mode", "eval"}), ElementsAre("fc.weight", "scalar/loss"));
  EXPECT_THAT(Ls({"--mode", "EVAL", "--step", "1"}),
              ElementsAre("fc.weight", "scalar/loss"));
  EXPECT_THAT(Ls({"--step", "1"}),
              ElementsAre("fc.weight", "gradient/fc.weight", "scalar/loss"));
}

TEST_F(LsTest, NothingLikeThatIsTheCommandsNo) {
  const CliOutcome outcome = CallCli({"ls", Run(), "momentum"});
  EXPECT_EQ(outcome.code, kExitFound);
  EXPECT_THAT(outcome.out, IsEmpty());
  EXPECT_THAT(outcome.err, HasSubstr("none of the 3 tensors matches"));
  EXPECT_THAT(CallCli({"ls", Run(), "--regex", "zzz"}).err,
              HasSubstr("the tensors are fc.weight, gradient/fc.weight"));
  const CliOutcome mode = CallCli({"ls", Run(), "--mode", "predict"});
  EXPECT_EQ(mode.code, kExitFound);
  EXPECT_THAT(mode.err, HasSubstr("there are steps of TRAIN and EVAL"));
  const CliOutcome steps = CallCli({"steps", Run(), "--mode", "predict"});
  EXPECT_EQ(steps.code, kExitOk);
  EXPECT_THAT(steps.err, HasSubstr("there are steps of TRAIN and EVAL"));
}

TEST_F(LsTest, ARunWithoutTensorsIsToldApartFromOneThatMayGetSome) {
  const TempDir dir;
  Hook hook(testing::SaveEverything(dir / "run"));
  const auto ls = [&] { return CallCli({"ls", dir / "run"}); };
  EXPECT_EQ(ls().code, kExitOk);
  EXPECT_EQ(ls().err, "smdebug: the run has no tensors yet\n");
  hook.Close();
  EXPECT_EQ(ls().code, kExitOk);
  EXPECT_EQ(ls().err, "smdebug: the run has no tensors\n");
}

TEST_F(LsTest, ALongNameIsNeverCut) {
  const TempDir dir;
  const std::string name = "weight." + std::string(100, 'x');
  {
    Hook hook(testing::SaveEverything(dir / "run"));
    hook.BeginStep();
    testing::SaveFloats(hook, name, {1});
  }
  EXPECT_THAT(CallCli({"ls", dir / "run"}).out, HasSubstr(name));
  const Terminal narrow = {.is_terminal = true, .width = 80};
  EXPECT_THAT(CallCli({"ls", dir / "run"}, narrow).out, HasSubstr(name));
}

TEST_F(LsTest, WrongQuestionsGetOneClearSentence) {
  const struct {
    std::vector<std::string> args;
    std::string message;
  } cases[] = {
      {{"ls", Beside("absent")}, "absent: no such folder\n"},
      {{"steps", Beside("")}, "` lists the run in it\n"},
      {{"steps", Run() + "/events"}, ": holds no run: "},
      {{"ls", Run(), "--step", "9"}, "no saved step 9; the last is 5\n"},
      {{"ls", Run(), "--mode", "train", "--step", "7"},
       "no saved step 7 of TRAIN; the last is 3\n"},
      {{"ls", Run(), "--step", "-1"}, "whole number of at least 0"},
      {{"ls", Run(), "--mode", "tarin"},
       "'tarin' is not allowed; expected one of train, eval, "
       "predict, global; did you mean 'train'?"},
      {{"ls", Run(), "--collection", "weigths"}, "no collection 'weigths'"},
      {{"ls", Run(), "--regex", "("}, "regex"},
  };
  for (const auto& test : cases) {
    const CliOutcome outcome = CallCli(test.args);
    EXPECT_EQ(outcome.code, kExitError) << test.message;
    EXPECT_THAT(outcome.out, IsEmpty());
    EXPECT_THAT(outcome.err, HasSubstr(test.message));
  }
}

TEST_F(LsTest, StepsAreOnePerLineAndNothingElse) {
  EXPECT_EQ(CallCli({"steps", Run()}).out, "0\n1\n2\n3\n4\n5\n");
  EXPECT_EQ(CallCli({"steps", Run(), "--mode", "eval"}).out, "0\n1\n");
  EXPECT_EQ(CallCli({"steps", Run(), "--mode", "predict"}).out, "");
}

TEST_F(LsTest, LongStepsTellModeAndWorkers) {
  EXPECT_EQ(CallCli({"steps", Run(), "--long", "--mode", "eval"}).out,
            "step  mode  mode step  workers\n"
            "   4  EVAL          0  worker_0\n"
            "   5  EVAL          1  worker_0\n");
  const auto json = CallCli({"steps", Run(), "--json"}).json();
  EXPECT_EQ(json["num_workers"], 1);
  ASSERT_EQ(json["steps"].size(), 6u);
  EXPECT_EQ(json["steps"][4], (nlohmann::json{{"step", 4},
                                              {"mode", "EVAL"},
                                              {"mode_step", 0},
                                              {"workers", {"worker_0"}}}));
}

TEST_F(LsTest, IncompleteStepsAreShownOnRequest) {
  const TempDir dir;
  HookConfig config = testing::SaveEverything(dir / "run");
  config.include_workers = IncludeWorkers::kAll;
  Hook first(config, Worker::OfRank(0, 2));
  Hook second(config, Worker::OfRank(1, 2));
  for (Hook* hook : {&first, &second}) {
    hook->BeginStep();
    testing::SaveFloats(*hook, "w", {1});
    hook->EndStep();
  }
  first.BeginStep();
  testing::SaveFloats(first, "w", {2});
  first.Close();
  const auto steps = [&](const std::string& option) {
    return CallCli({"steps", dir / "run", option}).out;
  };
  // The second worker is still writing: it has published its step, or will.
  EXPECT_THAT(steps("--incomplete"), HasSubstr("1\n"));
  EXPECT_THAT(CallCli({"steps", dir / "run"}).out, Not(HasSubstr("1\n")));
  second.Close();
  EXPECT_EQ(CallCli({"steps", dir / "run"}).out, "0\n1\n");
}

TEST_F(LsTest, ListsTheRunsInAFolder) {
  const TempDir dir;
  testing::WriteSmallRun(dir / "good");
  testing::WriteSmallRun(dir / "killed");
  testing::MakeKilled(dir / "killed");
  testing::WriteSmallRun(dir / "torn");
  testing::WriteFile(dir / "torn/index/000000000/000000000005_worker_0.json",
                     "{");
  testing::WriteFile(dir / "good/rules/NaN.json",
                     R"({"name": "NaN", "status": "IssuesFound"})");
  std::filesystem::create_directories(dir / "empty");
  const CliOutcome outcome = CallCli({"ls", dir.path()});
  EXPECT_EQ(outcome.code, kExitOk) << outcome.err;
  EXPECT_EQ(outcome.out,
            "run     state              steps  last loss          fired\n"
            "good    finished               6  0.166667 (step 5)  NaN\n"
            "killed  killed                 6  0.166667 (step 5)  -\n"
            "torn    finished, damaged      5  0.2 (step 4)       -\n");
  EXPECT_THAT(outcome.err, StartsWith("smdebug: damaged: torn/index/"));
  const Terminal terminal = {.is_terminal = true, .colour = true};
  const CliOutcome red = CallCli({"ls", dir.path()}, terminal);
  for (const char* bad : {"killed", "finished, damaged", "NaN"}) {
    EXPECT_THAT(red.out, HasSubstr(fmt::format("\x1B[31m{}\x1B[0m", bad)));
  }
  EXPECT_THAT(red.out, Not(HasSubstr("\x1B[31mfinished\x1B")));
  EXPECT_THAT(red.err, StartsWith("\x1B[31msmdebug: damaged: torn/index/"));
  const auto json = CallCli({"ls", dir.path(), "--json"}).json();
  EXPECT_EQ(json["others"], 1);
  EXPECT_EQ(json["runs"][0]["fired"], nlohmann::json({"NaN"}));
  EXPECT_EQ(json["runs"][0]["run"], dir / "good");
  EXPECT_EQ(json["runs"][1]["state"], "killed");
  EXPECT_EQ(json["runs"][2]["damage"].size(), 1u);
}

TEST_F(LsTest, OtherCommandsPointFromAFolderOfRunsToLs) {
  const TempDir dir;
  testing::WriteSmallRun(dir / "runs/one");
  testing::WriteSmallRun(dir / "runs/two");
  const std::string runs = dir / "runs";
  for (const std::vector<std::string>& args :
       {std::vector<std::string>{"status", runs},
        {"verify", runs},
        {"steps", runs},
        {"plot", runs, "loss"},
        {"check", runs, "--rule", "ExplodingTensor"}}) {
    const CliOutcome outcome = CallCli(args);
    EXPECT_EQ(outcome.code, kExitError) << args[0];
    EXPECT_THAT(outcome.err, HasSubstr("holds no run itself; `smdebug ls " +
                                       runs + "` lists the 2 runs in it\n"));
  }
  EXPECT_THAT(CallCli({"tail", runs, "--timeout", "0"}).err,
              HasSubstr("lists the 2 runs in it"));
}

TEST_F(LsTest, RefusesFoldersWithoutRuns) {
  const TempDir dir;
  testing::WriteSmallRun(dir / "runs/good");
  const struct {
    std::vector<std::string> args;
    int code;
    std::string message;
  } cases[] = {
      {{dir.path()}, kExitError, "and it has no folder that holds one"},
      {{dir / "runs", "x*"}, kExitFound, "none of the 1 folder"},
      {{dir / "runs", "--step", "1"}, kExitError, "is a folder of runs"},
      {{dir / "nowhere"}, kExitError, "no such folder"},
  };
  for (const auto& test : cases) {
    std::vector<std::string> args = test.args;
    args.insert(args.begin(), "ls");
    const CliOutcome outcome = CallCli(args);
    EXPECT_EQ(outcome.code, test.code) << test.message;
    EXPECT_THAT(outcome.err, HasSubstr(test.message));
  }
}

}  // namespace
}  // namespace smdebug::cli
