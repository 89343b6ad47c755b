// What `smdebug check` and `smdebug watch` do when a rule fires.
#include <signal.h>

#include <filesystem>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/actions/child_for_test.h"
#include "tests/integration/cli/live_call.h"
#include "tests/integration/cli/runs.h"
#include "tests/testing/cli.h"
#include "tests/testing/environment.h"
#include "tests/testing/files.h"
#include "tests/testing/temp_dir.h"

namespace smdebug::cli {
namespace {

using actions::Child;
using testing::CallCli;
using testing::CliOutcome;
using testing::CountLines;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::LiveCall;
using ::testing::Not;
using testing::ReadFile;
using testing::SaveEverything;
using testing::SaveFloats;
using testing::TempDir;
using testing::WriteFile;

constexpr float kInfinity = std::numeric_limits<float>::infinity();

void SaveStep(Hook& hook, float value) {
  hook.BeginStep();
  SaveFloats(hook, "w", {value});
}

// A run whose tensor is infinite at steps 1 and 2.
std::string ExplodedRun(const TempDir& dir) {
  std::string run = dir / "run";
  Hook hook(SaveEverything(run));
  SaveStep(hook, 1);
  SaveStep(hook, kInfinity);
  SaveStep(hook, kInfinity);
  hook.Close();
  return run;
}

std::string Stop(const Child& child) {
  return "stop:" + std::to_string(child.pid());
}

TEST(ActionOptionTest, WatchStopsAProcessWhileTheJobRuns) {
  const TempDir dir;
  Child child;
  LiveCall watch({"watch", dir / "run", "--rule", "ExplodingTensor", "--action",
                  Stop(child)});
  Hook hook(SaveEverything(dir / "run"));
  SaveStep(hook, 1);
  EXPECT_TRUE(child.IsAlive());
  SaveStep(hook, kInfinity);
  SaveStep(hook, 2);  // Ends the step before.
  EXPECT_EQ(child.EndedBy(), SIGTERM);
  hook.Close();
  EXPECT_EQ(watch.Join(), kExitFound);
  EXPECT_THAT(watch.out(), HasSubstr("ExplodingTensor: stop "));
  EXPECT_THAT(watch.out(), HasSubstr(": done"));
}

TEST(ActionOptionTest, CheckStopsAProcessAndLeavesATrail) {
  const TempDir dir;
  const std::string run = ExplodedRun(dir);
  Child child;
  const CliOutcome outcome =
      CallCli({"check", run, "--json", "--rule", "ExplodingTensor", "--action",
               Stop(child)});
  EXPECT_EQ(outcome.code, kExitFound);
  EXPECT_EQ(outcome.json()[0]["status"], "IssuesFound");
  EXPECT_EQ(child.EndedBy(), SIGTERM);
  EXPECT_EQ(CountLines(outcome.err), 2u) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("ExplodingTensor: stop "));
  EXPECT_THAT(outcome.err, HasSubstr(": suppressed: done at most once in"));
  EXPECT_THAT(ReadFile(run + "/rules/actions.jsonl"),
              HasSubstr(R"("outcome": "done")"));
}

TEST(ActionOptionTest, WhatHasFailedIsNotCalledDone) {
  const TempDir dir;
  const CliOutcome outcome =
      CallCli({"check", ExplodedRun(dir), "--rule", "ExplodingTensor",
               "--action", "exec:false"});
  EXPECT_EQ(outcome.code, kExitFound);
  EXPECT_THAT(outcome.err, HasSubstr(": failed: "));
  EXPECT_THAT(outcome.err,
              HasSubstr(": suppressed: it has just failed, and is tried at "
                        "most once in"));
}

TEST(ActionOptionTest, WhatCannotBeKeptIsToldOnce) {
  const TempDir dir;
  const std::string run = ExplodedRun(dir);
  WriteFile(run + "/rules", "a file");
  const CliOutcome outcome =
      CallCli({"check", run, "--rule", "ExplodingTensor", "--rule", "Overfit",
               "--action", "exec:true"});
  EXPECT_EQ(outcome.code, kExitFound);
  const auto count = [&](const std::string& words) {
    size_t times = 0;
    for (size_t at = outcome.err.find(words); at != std::string::npos;
         at = outcome.err.find(words, at + 1)) {
      ++times;
    }
    return times;
  };
  EXPECT_EQ(count("smdebug: reports of rules are not kept: "), 1u)
      << outcome.err;
  EXPECT_EQ(count("smdebug: the audit trail of actions is not written: "), 1u)
      << outcome.err;
}

TEST(ActionOptionTest, ASecondCheckDoesNothingAgain) {
  const TempDir dir;
  const std::string run = ExplodedRun(dir);
  const std::vector<std::string> args = {
      "check",           run,        "--rule",
      "ExplodingTensor", "--action", "exec:touch " + (dir / "done")};
  EXPECT_THAT(CallCli(args).err, HasSubstr("exec"));
  EXPECT_EQ(CallCli(args).err,
            "smdebug: ExplodingTensor: no action was done: an earlier call has "
            "already acted on what it found\n");
}

TEST(ActionOptionTest, WhatHasFailedIsTriedAgainByTheNextCall) {
  const TempDir dir;
  const std::string run = ExplodedRun(dir);
  for (const char* command : {"check", "watch"}) {
    // Succeeds once it may.
    const std::string allowed = dir / (std::string("allowed-by-") + command);
    const auto call = [&] {
      const CliOutcome outcome =
          CallCli({command, run, "--rule", "ExplodingTensor", "--action",
                   "exec:cat " + allowed});
      return outcome.out + outcome.err;
    };
    for (int i = 0; i < 2; ++i) {
      EXPECT_THAT(call(), HasSubstr("exec cat: failed"));
    }
    WriteFile(allowed, "yes");
    EXPECT_THAT(call(), HasSubstr("exec cat: done"));
    EXPECT_THAT(call(), HasSubstr("an earlier call has already acted"));
  }
}

TEST(ActionOptionTest, WhereNoRuleFiresItIsSaidThatNothingWasDone) {
  const TempDir dir;
  const std::string run = ExplodedRun(dir);
  for (const char* command : {"check", "watch"}) {
    EXPECT_EQ(CallCli({command, run, "--rule",
                       "ExplodingTensor:tensor_regex=w:only_nan=true",
                       "--action", "exec:true"})
                  .err,
              "smdebug: no action was done: no rule fired\n");
  }
}

TEST(ActionOptionTest, WhatCannotBeDoneIsRefusedBeforeAnythingIsWaitedFor) {
  const testing::ScopedEnvironment no_url("SMDEBUG_SMTP_URL", std::nullopt);
  const testing::ScopedEnvironment no_sms("SMDEBUG_SMS_URL", std::nullopt);
  const TempDir dir;
  for (const auto& [action, named] :
       {std::pair("email:me@example.com", "SMDEBUG_SMTP_URL is not set"),
        std::pair("sms:+1", "SMDEBUG_SMS_URL is not set"),
        std::pair("exec:./no-such-program", "./no-such-program")}) {
    const CliOutcome outcome = CallCli({"watch", dir / "none", "--rule",
                                        "ExplodingTensor", "--action", action});
    EXPECT_EQ(outcome.code, kExitError);
    EXPECT_THAT(outcome.err, HasSubstr(named));
    EXPECT_EQ(CountLines(outcome.err), 1u) << outcome.err;
  }
}

TEST(ActionOptionTest, AJunitFileInNoFolderIsRefusedBeforeAnythingIsDone) {
  const TempDir dir;
  const std::string run = ExplodedRun(dir);
  const CliOutcome outcome = CallCli(
      {"check", run, "--rule", "ExplodingTensor", "--action",
       "exec:touch " + (dir / "done"), "--junit", dir / "none/rules.xml"});
  EXPECT_EQ(outcome.code, kExitError);
  EXPECT_THAT(outcome.err, HasSubstr("there is no folder " + (dir / "none")));
  EXPECT_FALSE(std::filesystem::exists(dir / "done"));
  EXPECT_FALSE(std::filesystem::exists(run + "/rules"));
}

TEST(ActionOptionTest, ADryRunOnlyTells) {
  const TempDir dir;
  const std::string run = ExplodedRun(dir);
  const Child child;
  const CliOutcome outcome =
      CallCli({"watch", run, "--json", "--rule", "ExplodingTensor", "--action",
               Stop(child), "--dry-run"});
  EXPECT_EQ(outcome.code, kExitFound);
  EXPECT_TRUE(child.IsAlive());
  EXPECT_THAT(outcome.out, HasSubstr(R"("event":"action")"));
  EXPECT_THAT(outcome.out, HasSubstr(R"("outcome":"dry run")"));
}

TEST(ActionOptionTest, ARunThatTakesThePlaceOfTheJudgedOneIsNotStopped) {
  const TempDir dir;
  const std::string run = ExplodedRun(dir);
  Hook next(SaveEverything(dir / "next"));
  SaveStep(next, 1);
  SaveStep(next, 1);
  const std::string swap = fmt::format(
      R"(exec:["sh", "-c", "mv '{0}' '{0}.before'; mv '{1}' '{0}'"])", run,
      dir / "next");
  const CliOutcome outcome = CallCli({"check", run, "--rule", "ExplodingTensor",
                                      "--action", swap, "--action", "stop"});
  EXPECT_EQ(outcome.code, kExitFound);
  EXPECT_THAT(outcome.err,
              HasSubstr("stop the job of the run: failed: " + run +
                        " holds another run than the one that the rule fired "
                        "on; nothing was stopped"));
  next.Close();
}

// Whether the call, which touches dir/done if its action is done, did so.
bool Acts(const TempDir& dir, const std::vector<std::string>& args) {
  std::filesystem::remove(dir / "done");
  EXPECT_EQ(CallCli(args).code, kExitFound);
  return std::filesystem::exists(dir / "done");
}

TEST(ActionOptionTest, ADryRunDoesNotSilenceACallThatActs) {
  const TempDir dir;
  const std::string run = ExplodedRun(dir);
  const std::vector<std::string> real = {
      "check",           run,        "--rule",
      "ExplodingTensor", "--action", "exec:touch " + (dir / "done")};
  std::vector<std::string> dry = real;
  dry.emplace_back("--dry-run");
  EXPECT_FALSE(Acts(dir, dry));
  {
    const testing::ScopedEnvironment set("SMDEBUG_ACTION_DRY_RUN", "1");
    EXPECT_FALSE(Acts(dir, real));
  }
  EXPECT_TRUE(Acts(dir, real));
  EXPECT_FALSE(Acts(dir, real));
}

TEST(ActionOptionTest, ARuleThatGetsAnActionLaterActs) {
  const TempDir dir;
  const std::string run = ExplodedRun(dir);
  const auto write = [&](const std::string& action) {
    WriteFile(dir / "rules.json",
              R"([{"RuleConfigurationName": "Loud", "RuleParameters": )"
              R"({"rule_to_invoke": "ExplodingTensor")" +
                  action + "}}]");
  };
  const std::string touch = "touch " + (dir / "done");
  const std::vector<std::string> real = {"check", run, "--config",
                                         dir / "rules.json"};
  std::vector<std::string> dry = real;
  dry.emplace_back("--dry-run");
  write("");
  EXPECT_FALSE(Acts(dir, real));
  write(R"(, "action_json": "{\"name\": \"exec\", \"command\": \")" + touch +
        R"(\"}")");
  EXPECT_FALSE(Acts(dir, dry));
  EXPECT_TRUE(Acts(dir, real));
  EXPECT_FALSE(Acts(dir, real));
}

TEST(ActionOptionTest, TheActionOfARuleIsForThatRuleAlone) {
  const testing::ScopedEnvironment url("SMDEBUG_SMTP_URL", "smtp://host");
  const testing::ScopedEnvironment from("SMDEBUG_SMTP_FROM", "a@b");
  const TempDir dir;
  const std::string run = ExplodedRun(dir);
  WriteFile(dir / "rules.json", R"([
    {"RuleConfigurationName": "Quiet",
     "RuleParameters": {"rule_to_invoke": "ExplodingTensor"}},
    {"RuleConfigurationName": "Loud",
     "RuleParameters": {"rule_to_invoke": "ExplodingTensor",
       "action_json":
         "{\"name\": \"email\", \"endpoint\": \"me@example.com\"}"}}])");
  const CliOutcome outcome =
      CallCli({"check", run, "--config", dir / "rules.json", "--dry-run"});
  EXPECT_EQ(outcome.code, kExitFound);
  EXPECT_THAT(outcome.err, HasSubstr("Loud: email me@example.com: dry run"));
  EXPECT_THAT(outcome.err, Not(HasSubstr("Quiet")));
}

TEST(ActionOptionTest, AnActionOfARuleThatCannotBeDoneIsRefused) {
  const testing::ScopedEnvironment no_url("SMDEBUG_SMTP_URL", std::nullopt);
  const TempDir dir;
  const std::string run = ExplodedRun(dir);
  const auto refusal = [&](const std::string& action) {
    WriteFile(dir / "rules.json", R"([{"RuleConfigurationName": "my",
      "RuleParameters": {"rule_to_invoke": "ExplodingTensor",
        "action_json": ")" + action + R"("}}])");
    const CliOutcome outcome =
        CallCli({"check", run, "--config", dir / "rules.json"});
    EXPECT_EQ(outcome.code, kExitError);
    EXPECT_THAT(outcome.out, IsEmpty());
    return outcome.err;
  };
  EXPECT_EQ(refusal(R"({\"name\": \"email\", \"endpoint\": \"me@b.com\"})"),
            "smdebug: my: action_json: action email: SMDEBUG_SMTP_URL is not "
            "set; expected smtp://host:port or smtps://host:port\n");
  EXPECT_THAT(
      refusal(R"([{\"name\": \"stoptraining\"}, {\"name\": \"dance\"}])"),
      HasSubstr("my: action_json: "));
  EXPECT_THAT(refusal("dance"), HasSubstr("it is not a JSON object"));
  EXPECT_FALSE(std::filesystem::exists(run + "/rules"));
}

TEST(ActionOptionTest, AnUnknownActionIsRefusedBeforeAnythingIsJudged) {
  const TempDir dir;
  const std::string run = ExplodedRun(dir);
  const CliOutcome outcome = CallCli(
      {"check", run, "--rule", "ExplodingTensor", "--action", "dance:now"});
  EXPECT_EQ(outcome.code, kExitError);
  EXPECT_THAT(outcome.out, IsEmpty());
  EXPECT_THAT(outcome.err, HasSubstr("dance"));
}

}  // namespace
}  // namespace smdebug::cli
