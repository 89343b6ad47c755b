// `smdebug rules` and `smdebug check`, over runs that the hook wrote.
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
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::ReadFile;
using testing::SaveEverything;
using testing::SaveFloats;
using ::testing::StartsWith;
using testing::TempDir;
using testing::WriteFile;
using testing::WriteSmallRun;

// Gradients, of which that of "a" is tiny from step 2 on.
void WriteGradients(const std::string& run, int64_t steps) {
  HookConfig config = SaveEverything(run);
  EditCollection(config, "gradients").include_regex = {"^gradient/"};
  Hook hook(config);
  for (int64_t step = 0; step < steps; ++step) {
    hook.SetMode(Mode::kTrain);
    hook.BeginStep();
    SaveFloats(hook, "gradient/a", {step < 2 ? 1.0F : 1e-9F, 0});
    SaveFloats(hook, "gradient/b", {1, 2});
  }
  hook.Close();
}

TEST(RulesCommandTest, ListsTheRulesAndTellsAboutOne) {
  CliOutcome outcome = CallCli({"rules"});
  EXPECT_EQ(outcome.code, kExitOk);
  EXPECT_THAT(outcome.out, HasSubstr("VanishingGradient"));
  EXPECT_THAT(outcome.out, HasSubstr("StalledTrainingRule"));
  outcome = CallCli({"rules", "vanishinggradient"});
  EXPECT_EQ(outcome.code, kExitOk);
  EXPECT_THAT(outcome.out, StartsWith("VanishingGradient\n"));
  EXPECT_THAT(outcome.out, HasSubstr("threshold"));
  EXPECT_THAT(outcome.out, HasSubstr("gradients  save_interval=500"));
}

TEST(RulesCommandTest, JsonAndHookConfigurationAreDocuments) {
  const auto all = CallCli({"rules", "--json"}).json();
  ASSERT_GT(all.size(), 6u);
  const auto one = CallCli({"rules", "--json", "VanishingGradient"}).json();
  EXPECT_EQ(one["parameters"][0]["name"], "threshold");
  EXPECT_EQ(one["parameters"][0]["default"], "0.0000001");
  const auto hook =
      CallCli({"rules", "--hook-config", "VanishingGradient"}).json();
  EXPECT_EQ(hook["CollectionConfigurations"][0]["CollectionName"], "gradients");
}

TEST(RulesCommandTest, TheHookConfigurationIsAccepted) {
  const TempDir dir;
  WriteFile(dir / "hook.json", CallCli({"rules", "--hook-config"}).out);
  const CliOutcome outcome = CallCli({"config", dir / "hook.json"});
  EXPECT_EQ(outcome.code, kExitOk) << outcome.err;
}

TEST(RulesCommandTest, AnUnknownRuleIsRefusedWithThoseThereAre) {
  const CliOutcome outcome = CallCli({"rules", "Vanishing"});
  EXPECT_EQ(outcome.code, kExitError);
  EXPECT_THAT(outcome.err, HasSubstr("VanishingGradient"));
}

TEST(CheckCommandTest, AFaultIsFoundAndReported) {
  const TempDir dir;
  const std::string run = dir / "run";
  WriteGradients(run, 4);
  const CliOutcome outcome =
      CallCli({"check", run, "--json", "--rule", "VanishingGradient", "--rule",
               "ExplodingTensor"});
  EXPECT_EQ(outcome.code, kExitFound) << outcome.err;
  const auto json = outcome.json();
  ASSERT_EQ(json.size(), 2u);
  EXPECT_EQ(json[0]["name"], "VanishingGradient");
  EXPECT_EQ(json[0]["status"], "IssuesFound");
  EXPECT_THAT(json[0]["fired_steps"].get<std::vector<int64_t>>(),
              ElementsAre(2, 3));
  EXPECT_EQ(json[0]["findings_total"], 2);
  EXPECT_EQ(json[0]["findings"][0]["tensor"], "gradient/a");
  EXPECT_EQ(json[0]["findings"][0]["mode"], "TRAIN");
  EXPECT_EQ(json[0]["findings"][0]["worker"], "worker_0");
  EXPECT_EQ(json[1]["status"], "NoIssuesFound");
  const auto kept =
      nlohmann::json::parse(ReadFile(run + "/rules/VanishingGradient.json"));
  EXPECT_EQ(kept["fired_steps"], json[0]["fired_steps"]);
}

TEST(CheckCommandTest, ARuleThatWasAskedAmissIsNoVerdictOnTheRun) {
  const TempDir dir;
  WriteGradients(dir / "runs/a", 4);
  for (const std::string rule :
       {"AllZero:collection_names=wieghts", "AllZero:tensor_regex=nothing,a"}) {
    const CliOutcome outcome =
        CallCli({"check", dir / "runs/a", "--json", "--rule", rule});
    EXPECT_EQ(outcome.code, kExitError);
    EXPECT_EQ(outcome.json()[0]["status"], "Error");
    EXPECT_EQ(outcome.json()[0]["refused"], true);
    const auto listed = CallCli({"ls", dir / "runs", "--json"}).json();
    EXPECT_TRUE(listed["runs"][0]["failed"].empty()) << listed;
  }
  // The run lacks what the rule needs, whoever asks.
  const CliOutcome lacking =
      CallCli({"check", dir / "runs/a", "--json", "--rule", "Overfit"});
  EXPECT_EQ(lacking.json()[0]["status"], "Error");
  EXPECT_EQ(lacking.json()[0]["refused"], false);
  const auto listed = CallCli({"ls", dir / "runs", "--json"}).json();
  EXPECT_EQ(listed["runs"][0]["failed"], nlohmann::json({"Overfit"}));
}

TEST(CheckCommandTest, TextNamesRuleStatusAndEvidence) {
  const TempDir dir;
  WriteGradients(dir / "run", 9);
  const CliOutcome outcome =
      CallCli({"check", dir / "run", "--rule", "VanishingGradient"});
  EXPECT_THAT(outcome.out,
              StartsWith("VanishingGradient  IssuesFound  7 findings at 7 of 9 "
                         "steps\n  step 2 (TRAIN), gradient/a: "));
  EXPECT_THAT(outcome.out, HasSubstr("  ... and 2 more\n"));
}

TEST(CheckCommandTest, WhatARuleHasWrittenIsNamed) {
  const TempDir dir;
  const std::string run = dir / "run";
  {
    HookConfig config = SaveEverything(run);
    EditCollection(config, "metrics").include_regex = {"^train-"};
    Hook hook(config);
    for (const float loss : {1.0F, 0.5F}) {
      hook.BeginStep();
      SaveFloats(hook, "train-rmse", {loss});
    }
    hook.Close();
  }
  const std::string page = "rules/CreateXgboostReport/xgboost_report.html";
  const std::vector<std::string> rule = {"--rule", "CreateXgboostReport"};
  EXPECT_THAT(CallCli({"check", run, rule[0], rule[1]}).out,
              HasSubstr("  see " + run + "/" + page + "\n"));
  EXPECT_TRUE(std::filesystem::exists(run + "/" + page));
  EXPECT_THAT(CallCli({"watch", run, rule[0], rule[1]}).out,
              HasSubstr("CreateXgboostReport: see " + run + "/" + page + "\n"));
  EXPECT_THAT(
      CallCli({"check", run, "--json", rule[0], rule[1]}).json()[0]["files"],
      Contains(page));
  EXPECT_THAT(CallCli({"check", run, "--no-reports", rule[0], rule[1]}).out,
              Not(HasSubstr("see ")));
}

TEST(CheckCommandTest, AHealthyRunIsWell) {
  const TempDir dir;
  WriteGradients(dir / "run", 2);
  const CliOutcome outcome =
      CallCli({"check", dir / "run", "--rule", "VanishingGradient"});
  EXPECT_EQ(outcome.code, kExitOk) << outcome.err;
  EXPECT_EQ(outcome.out, "VanishingGradient  NoIssuesFound\n");
}

TEST(CheckCommandTest, StepsWorkersAndReportsCanBeChosen) {
  const TempDir dir;
  const std::string run = dir / "run";
  WriteGradients(run, 6);
  const auto json =
      CallCli({"check", run, "--json", "--no-reports", "--rule",
               "VanishingGradient", "--start-step", "3", "--end-step", "5"})
          .json();
  EXPECT_THAT(json[0]["fired_steps"].get<std::vector<int64_t>>(),
              ElementsAre(3, 4));
  EXPECT_FALSE(std::filesystem::exists(run + "/rules"));
  EXPECT_EQ(
      CallCli({"check", run, "--rule", "VanishingGradient", "--all-workers"})
          .code,
      kExitFound);
  EXPECT_EQ(CallCli({"check", run, "--rule", "VanishingGradient", "--worker",
                     "nobody"})
                .code,
            kExitError);
}

TEST(CheckCommandTest, WantOfTensorsIsAnErrorThatIsExplained) {
  const TempDir dir;
  WriteSmallRun(dir / "run");
  const auto call = [&](const std::string& rule) {
    return CallCli({"check", dir / "run", "--rule", rule});
  };
  CliOutcome outcome = call("AllZero:collection_names=activations");
  EXPECT_EQ(outcome.code, kExitError);
  EXPECT_THAT(outcome.out, HasSubstr("needs collection activations, which this "
                                     "run does not save"));
  // Saved is the mean, not that of the magnitudes.
  outcome = call("VanishingGradient");
  EXPECT_EQ(outcome.code, kExitError);
  EXPECT_THAT(outcome.out, HasSubstr("gradient/fc.weight"));
}

TEST(CheckCommandTest, RulesComeFromAFileToo) {
  const TempDir dir;
  WriteGradients(dir / "run", 4);
  WriteFile(dir / "rules.json", R"({"DebugRuleConfigurations": [
    {"RuleConfigurationName": "mine",
     "RuleParameters": {"rule_to_invoke": "VanishingGradient",
                        "threshold": "0", "start_step": "1"}}]})");
  const CliOutcome outcome =
      CallCli({"check", dir / "run", "--json", "--config", dir / "rules.json"});
  EXPECT_EQ(outcome.code, kExitOk) << outcome.err;
  EXPECT_EQ(outcome.json()[0]["name"], "mine");
  EXPECT_EQ(outcome.json()[0]["steps_judged"], 3);
}

TEST(CheckCommandTest, JunitHasACaseForEachRule) {
  const TempDir dir;
  WriteGradients(dir / "run", 4);
  CallCli({"check", dir / "run", "--junit", dir / "out.xml", "--rule",
           "VanishingGradient", "--rule", "ExplodingTensor", "--rule",
           "AllZero:collection_names=nothing"});
  const std::string xml = ReadFile(dir / "out.xml");
  EXPECT_THAT(xml, HasSubstr(R"(tests="3" failures="1" errors="1")"));
  EXPECT_THAT(xml, HasSubstr(R"(name="ExplodingTensor"/>)"));
  EXPECT_THAT(xml, HasSubstr("gradient/a"));
}

TEST(CheckCommandTest, WrongCallsGetOneClearSentence) {
  const TempDir dir;
  WriteGradients(dir / "run", 1);
  const struct {
    std::vector<std::string> args;
    std::string message;
  } cases[] = {
      {{}, "no rule is given"},
      {{"--rule", "Vanishing"}, "VanishingGradient"},
      {{"--rule", "VanishingGradient:threshold=-1"}, "at least 0"},
      {{"--rule", "VanishingGradient:treshold=1"}, "threshold"},
      {{"--rule", "AllZero"}, "collection_names"},
      {{"--config", dir / "absent.json"}, "no such file"},
      {{"--config", dir.path().string()}, "is a folder; expected a JSON file"},
      {{"--rule", "ExplodingTensor", "--other-trial", dir / "absent"},
       "no such folder"},
  };
  for (const auto& test : cases) {
    std::vector<std::string> args = {"check", dir / "run"};
    args.insert(args.end(), test.args.begin(), test.args.end());
    const CliOutcome outcome = CallCli(args);
    EXPECT_EQ(outcome.code, kExitError);
    EXPECT_THAT(outcome.err, HasSubstr(test.message));
  }
}

TEST(CheckCommandTest, AStallIsSeenByTheAgeOfTheNewestFile) {
  const TempDir dir;
  const std::string run = dir / "run";
  WriteGradients(run, 2);
  const std::string rule = "StalledTrainingRule:threshold=0.000001";
  EXPECT_EQ(CallCli({"check", run, "--rule", rule}).code, kExitOk);
  std::filesystem::remove(run + "/" + std::string(run::kEndMarkerKey));
  EXPECT_EQ(CallCli({"check", run, "--rule", rule}).code, kExitFound);
  EXPECT_EQ(CallCli({"check", run, "--rule", "StalledTrainingRule"}).code,
            kExitOk);
}

}  // namespace
}  // namespace smdebug::cli
