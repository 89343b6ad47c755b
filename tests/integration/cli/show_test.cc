// `smdebug show`, over runs that the hook wrote.
#include <cmath>
#include <limits>
#include <string>
#include <utility>
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
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;
using testing::TempDir;
using testing::WriteSmallRun;

class ShowTest : public testing::SmallRunFixture {
 protected:
  static CliOutcome Call(std::vector<std::string> args) {
    return CallOnRun("show", std::move(args));
  }
};

TEST_F(ShowTest, ShowsFactsHistogramAndValues) {
  const CliOutcome outcome = Call({"fc.weight", "--step", "1", "--ascii"});
  EXPECT_EQ(outcome.code, kExitOk) << outcome.err;
  EXPECT_THAT(outcome.out, StartsWith("tensor      fc.weight\n"
                                      "step        1 (TRAIN 1)\n"
                                      "worker      worker_0\n"
                                      "dtype       float32\n"
                                      "shape       (2, 3)\n"
                                      "count       6\n"
                                      "zero        0\n"
                                      "nan         0\n"
                                      "inf         0\n"
                                      "min         1\n"
                                      "max         2.25\n"
                                      "mean        1.625\n"
                                      "std         0.426956\n"));
  EXPECT_THAT(outcome.out, HasSubstr("\n        1 .. 1.07812  1  ####"));
  EXPECT_THAT(outcome.out, EndsWith("\n[[   1 1.25  1.5]\n"
                                    " [1.75    2 2.25]]\n"));
}

TEST_F(ShowTest, TheLastStepIsTheDefault) {
  EXPECT_THAT(Call({"fc.weight"}).out, HasSubstr("step        5 (EVAL 1)\n"));
  EXPECT_THAT(Call({"fc.weight", "--step", "last"}).out,
              HasSubstr("step        5 (EVAL 1)\n"));
  EXPECT_THAT(Call({"fc.weight", "--mode", "train"}).out,
              HasSubstr("step        3 (TRAIN 3)\n"));
}

TEST_F(ShowTest, ReductionsAreShownWithTheirCounts) {
  const CliOutcome outcome = Call({"gradient/fc.weight"});
  EXPECT_EQ(outcome.code, kExitOk) << outcome.err;
  EXPECT_EQ(outcome.out,
            "tensor      gradient/fc.weight\n"
            "step        3 (TRAIN 3)\n"
            "worker      worker_0\n"
            "dtype       float32\n"
            "count       4\n"
            "zero        1 (25 %)\n"
            "nan         0\n"
            "inf         0\n"
            "\n"
            "saved reductions:\n"
            "abs_max     3\n"
            "mean        0.5\n");
}

TEST_F(ShowTest, JsonHasNestedValues) {
  const auto json = Call({"fc.weight", "--step", "0", "--json"}).json();
  EXPECT_EQ(json["mode"], "TRAIN");
  EXPECT_EQ(json["shape"], nlohmann::json({2, 3}));
  EXPECT_EQ(json["values"],
            nlohmann::json({{0.0, 0.25, 0.5}, {0.75, 1.0, 1.25}}));
  EXPECT_EQ(json["statistics"]["zero"], 1);
  EXPECT_EQ(json["histogram"].size(), 16u);
  EXPECT_EQ(Call({"fc.weight", "--values", "5", "--json"}).json()["values"],
            nullptr);
}

TEST_F(ShowTest, ValuesAreAbbreviatedAsAsked) {
  EXPECT_THAT(Call({"fc.weight", "--step", "0", "--values", "2"}).out,
              EndsWith("[[   0 ...  0.5]\n [0.75 ... 1.25]]\n"));
  EXPECT_THAT(Call({"fc.weight", "--values", "0"}).out, Not(HasSubstr("[[")));
  EXPECT_THAT(Call({"fc.weight", "--values", "all"}).out, HasSubstr("[["));
}

TEST_F(ShowTest, OneNaNDoesNotHideTheRest) {
  const TempDir dir;
  {
    Hook hook(testing::SaveEverything(dir / "run"));
    hook.BeginStep();
    testing::SaveFloats(hook, "w", {1, NAN, 3, HUGE_VALF, -HUGE_VALF});
  }
  const Terminal colour = {.is_terminal = true, .colour = true};
  const CliOutcome outcome = CallCli({"show", dir / "run", "w"}, colour);
  EXPECT_THAT(outcome.out,
              HasSubstr("nan         \x1B[31m1 (20 %)\x1B[0m\n"
                        "inf         \x1B[31m2 (40 %) (+1, -1)\x1B[0m\n"
                        "of the finite values:\n"
                        "min         1\n"
                        "max         3\n"
                        "mean        2\n"));
  const auto json = CallCli({"show", dir / "run", "w", "--json"}).json();
  EXPECT_EQ(json["values"],
            nlohmann::json({1.0, "NaN", 3.0, "Infinity", "-Infinity"}));
}

TEST_F(ShowTest, NothingFiniteIsCounted) {
  const TempDir dir;
  {
    Hook hook(testing::SaveEverything(dir / "run"));
    hook.BeginStep();
    testing::SaveFloats(hook, "w", std::vector<float>(640, NAN));
  }
  const std::string out = CallCli({"show", dir / "run", "w"}).out;
  EXPECT_THAT(out, HasSubstr("nan         640 (100 %)\n"
                             "inf         0\n"
                             "no value is finite\n"));
  EXPECT_THAT(out, Not(HasSubstr("min ")));
}

TEST_F(ShowTest, StringsHaveNoStatistics) {
  const TempDir dir;
  {
    Hook hook(testing::SaveEverything(dir / "run"));
    hook.BeginStep();
    const std::string_view words[] = {"a", "b"};
    const int64_t shape[] = {2};
    hook.Save("words", ViewOf<std::string_view>(words, shape));
  }
  const CliOutcome outcome = CallCli({"show", dir / "run", "words"});
  EXPECT_EQ(outcome.code, kExitOk) << outcome.err;
  EXPECT_THAT(outcome.out, EndsWith("shape       (2,)\n\n['a' 'b']\n"));
}

TEST_F(ShowTest, EachWorkerHasItsOwnValue) {
  const TempDir dir;
  for (const int64_t rank : {0, 1}) {
    WriteSmallRun(
        dir / "run",
        [&](int64_t, std::vector<float>& weight) {
          weight[0] = static_cast<float>(100 + rank);
        },
        Worker::OfRank(rank, 2));
  }
  const auto max_of = [&](const std::string& worker) {
    return CallCli({"show", dir / "run", "fc.weight", "--step", "0", "--json",
                    "--worker", worker})
        .json()["statistics"]["max"];
  };
  EXPECT_EQ(max_of("worker_0"), 100);
  EXPECT_EQ(max_of("worker_1"), 101);
  EXPECT_THAT(CallCli({"show", dir / "run", "fc.weight"}).out,
              HasSubstr("worker      worker_0 (of 2)\n"));
}

TEST_F(ShowTest, WrongQuestionsGetOneClearSentence) {
  const struct {
    std::vector<std::string> args;
    std::string message;
  } cases[] = {
      {{"fc.wieght"}, "no tensor 'fc.wieght'; did you mean 'fc.weight'?"},
      {{"momentum"}, "no tensor 'momentum'; the tensors are fc.weight, "},
      {{"fc.weight", "--step", "7"}, "'fc.weight' has no saved step 7;"},
      {{"gradient/fc.weight", "--mode", "eval"},
       "'gradient/fc.weight' has no saved step of EVAL"},
      {{"fc.weight", "--worker", "worker_7"},
       "no worker 'worker_7'; expected worker_0"},
      {{"fc.weight", "--step", "first"}, "or last"},
      {{"fc.weight", "--values", "-1"}, "or all"},
      {{}, "<tensor> is missing"},
  };
  for (const auto& test : cases) {
    const CliOutcome outcome = Call(test.args);
    EXPECT_EQ(outcome.code, kExitError) << test.message;
    EXPECT_THAT(outcome.out, IsEmpty());
    EXPECT_THAT(outcome.err, HasSubstr(test.message));
  }
}

TEST_F(ShowTest, ADamagedIndexExplainsAStepThatIsMissing) {
  const TempDir dir;
  const std::string run = dir / "run";
  WriteSmallRun(run);
  const std::string key = run::IndexFileKey(2, "worker_0");
  testing::WriteFile(run + "/" + key, "{");
  const std::string notice = "smdebug: damaged: " + run + "/" + key + ": ";
  EXPECT_THAT(CallCli({"show", run, "fc.weight", "--step", "2"}).err,
              HasSubstr("step 2 was saved and cannot be read: " + key));
  const std::vector<std::vector<std::string>> calls = {
      {"show", run, "fc.weight", "--step", "2"},
      {"steps", run},
      {"ls", run},
      {"plot", run, "loss"},
      {"tail", run},
      {"diff", run, run},
      {"export", run, "--csv", "-", "--regex", "loss"},
      {"check", run, "--rule", "ExplodingTensor"},
      {"watch", run, "--rule", "ExplodingTensor"}};
  for (const auto& call : calls) {
    EXPECT_THAT(CallCli(call).err, StartsWith(notice)) << call[0];
  }
}

TEST_F(ShowTest, ADamagedValueIsNamed) {
  const TempDir dir;
  WriteSmallRun(dir / "run");
  const std::string key = run::EventFileKey(0, "worker_0");
  std::string file = testing::ReadFile(dir / ("run/" + key));
  file[file.size() / 2] ^= 1;
  testing::WriteFile(dir / ("run/" + key), file);
  int refused = 0;
  for (const std::string name :
       {"fc.weight", "gradient/fc.weight", "scalar/loss"}) {
    const CliOutcome outcome =
        CallCli({"show", dir / "run", name, "--step", "0"});
    if (outcome.code == kExitOk) continue;
    ++refused;
    EXPECT_EQ(outcome.code, kExitError);
    EXPECT_THAT(outcome.err, HasSubstr(key));
  }
  EXPECT_EQ(refused, 1);
}

TEST_F(ShowTest, SeveralRunsAreShownOneBelowTheOther) {
  testing::WriteSmallRun(Beside("other"));
  const auto one = [&](const std::string& run) {
    return CallCli({"show", run, "fc.weight", "--step", "2"}).out;
  };
  const CliOutcome both = CallCli(
      {"show", Run(), Beside("other"), "--tensor", "fc.weight", "--step", "2"});
  EXPECT_EQ(both.code, kExitOk) << both.err;
  EXPECT_EQ(both.out, Run() + "\n" + one(Run()) + "\n" + Beside("other") +
                          "\n" + one(Beside("other")));
  const auto json =
      CallCli({"show", Run(), Beside("other"), "loss", "--json"}).json();
  ASSERT_EQ(json["runs"].size(), 2u);
  EXPECT_EQ(json["runs"][1]["run"], Beside("other"));
  EXPECT_EQ(json["runs"][1]["tensor"], "scalar/loss");

  const CliOutcome lacking =
      CallCli({"show", Run(), Beside("other"), "fc.bias"});
  EXPECT_EQ(lacking.code, kExitError);
  EXPECT_EQ(lacking.out, "");
  EXPECT_THAT(lacking.err, HasSubstr(Run() + ": there is no tensor 'fc.bias'"));
  EXPECT_THAT(lacking.err, HasSubstr("none of the 2 runs has it"));
}

}  // namespace
}  // namespace smdebug::cli
