#include <unistd.h>

#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "smdebug/action.h"
#include "smdebug/log.h"
#include "src/run/claim.h"
#include "src/run/keys.h"
#include "tests/testing/environment.h"
#include "tests/testing/files.h"
#include "tests/testing/temp_dir.h"

namespace smdebug {
namespace {

using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::SizeIs;
using Json = nlohmann::json;
using Result = ActionOutcome::Result;

// Remembers what it was asked to do, or fails.
class Recorded final : public Action {
 public:
  Recorded(std::vector<Firing>* firings, bool fails)
      : firings_(firings), fails_(fails) {}

  std::string_view kind() const noexcept override { return "exec"; }
  std::string target() const override { return "here"; }
  std::string Do(const Firing& firing) override {
    firings_->push_back(firing);
    if (fails_) throw ActionError("exec", "no luck");
    return "well done";
  }

 private:
  std::vector<Firing>* const firings_;
  const bool fails_;
};

class ActionSetTest : public ::testing::Test {
 protected:
  ActionOptions Options() {
    ActionOptions options;
    options.interval = std::chrono::seconds(60);
    options.now = [this] { return now_; };
    return options;
  }

  std::unique_ptr<Action> NewAction(bool fails = false) {
    return std::make_unique<Recorded>(&firings_, fails);
  }

  Firing FiringOf(const std::string& rule, int64_t step) {
    return {.rule = rule,
            .run = dir_.path().string(),
            .step = step,
            .message = "m"};
  }

  std::vector<Json> Trail() {
    std::ifstream file(dir_ / "rules/actions.jsonl");
    std::vector<Json> lines;
    for (std::string line; std::getline(file, line);) {
      lines.push_back(Json::parse(line));
    }
    return lines;
  }

  testing::TempDir dir_;
  std::vector<Firing> firings_;
  std::chrono::steady_clock::time_point now_;
};

TEST_F(ActionSetTest, EachFiringIsALineOfTheAuditTrail) {
  ActionSet set(Options());
  EXPECT_TRUE(set.empty());
  set.Add(NewAction());
  set.Add(NewAction(/*fails=*/true));
  EXPECT_FALSE(set.empty());
  EXPECT_THAT(set.Fire(FiringOf("R", 3)),
              ElementsAre(Field(&ActionOutcome::result, Result::kDone),
                          Field(&ActionOutcome::result, Result::kFailed)));
  const std::vector<Json> trail = Trail();
  ASSERT_THAT(trail, SizeIs(2));
  EXPECT_GT(trail[0]["time"], 1.6e9);
  EXPECT_EQ(trail[0]["rule"], "R");
  EXPECT_EQ(trail[0]["step"], 3);
  EXPECT_EQ(trail[0]["message"], "m");
  EXPECT_EQ(trail[0]["action"], "exec");
  EXPECT_EQ(trail[0]["target"], "here");
  EXPECT_EQ(trail[0]["outcome"], "done");
  EXPECT_EQ(trail[0]["detail"], "well done");
  EXPECT_EQ(trail[0]["dry_run"], false);
  EXPECT_EQ(trail[0]["suppressed"], false);
  EXPECT_EQ(trail[1]["outcome"], "failed");
  EXPECT_EQ(trail[1]["detail"], "no luck");
}

TEST_F(ActionSetTest, AnActionIsDoneOncePerRuleAndInterval) {
  ActionSet set(Options());
  set.Add(NewAction());
  set.Fire(FiringOf("R", 0));
  set.Fire(FiringOf("R", 1));
  set.Fire(FiringOf("S", 1));
  now_ += std::chrono::seconds(59);
  set.Fire(FiringOf("R", 2));
  now_ += std::chrono::seconds(1);
  set.Fire(FiringOf("R", 3));
  set.Fire(FiringOf("R", 4));

  std::vector<std::string> done;
  for (const Firing& firing : firings_) {
    done.push_back(firing.rule + std::to_string(*firing.step));
  }
  EXPECT_THAT(done, ElementsAre("R0", "S1", "R3"));
  EXPECT_EQ(firings_[0].suppressed, 0);
  EXPECT_EQ(firings_[2].suppressed, 2);
  EXPECT_EQ(set.counts().done, 3);
  EXPECT_EQ(set.counts().suppressed, 3);

  const std::vector<Json> trail = Trail();
  ASSERT_THAT(trail, SizeIs(6));
  EXPECT_EQ(trail[1]["outcome"], "suppressed");
  EXPECT_EQ(trail[1]["suppressed"], true);
  EXPECT_EQ(trail[4]["suppressed"], false);
  EXPECT_EQ(trail[4]["suppressed_before"], 2);
}

TEST_F(ActionSetTest, WhatIsHeldBackSaysWhy) {
  ActionSet set(Options());
  set.Add(NewAction());
  set.Fire(FiringOf("R", 0));
  EXPECT_THAT(set.Fire(FiringOf("R", 1)),
              ElementsAre(Field(&ActionOutcome::detail,
                                HasSubstr("once in 60 s for each rule"))));
  EXPECT_THAT(Trail()[1]["detail"].get<std::string>(),
              HasSubstr("SMDEBUG_ACTION_INTERVAL"));
}

TEST_F(ActionSetTest, WithoutAnIntervalEachFiringActs) {
  ActionOptions options = Options();
  options.interval = std::chrono::seconds(0);
  ActionSet set(options);
  set.Add(NewAction());
  set.Fire(FiringOf("R", 0));
  set.Fire(FiringOf("R", 1));
  EXPECT_THAT(firings_, SizeIs(2));
}

TEST_F(ActionSetTest, AFailureIsNotTriedAgainWithinTheInterval) {
  ActionSet set(Options());
  set.Add(NewAction(/*fails=*/true));
  set.Fire(FiringOf("R", 0));
  set.Fire(FiringOf("R", 1));
  EXPECT_THAT(firings_, SizeIs(1));
  EXPECT_EQ(set.counts().failed, 1);
}

TEST_F(ActionSetTest, ADryRunDoesNothingAndIsRecorded) {
  ActionOptions options = Options();
  options.dry_run = true;
  ActionSet set(options);
  set.Add(NewAction());
  set.Fire(FiringOf("R", 0));
  EXPECT_THAT(firings_, SizeIs(0));
  EXPECT_EQ(set.counts().dry_runs, 1);
  ASSERT_THAT(Trail(), SizeIs(1));
  EXPECT_EQ(Trail()[0]["outcome"], "dry run");
  EXPECT_EQ(Trail()[0]["dry_run"], true);
}

TEST_F(ActionSetTest, ATrailThatCannotBeWrittenIsSaidOnce) {
  std::vector<std::string> warnings;
  SetLogSink([&](LogLevel level, std::string_view message) {
    if (level == LogLevel::kWarning) warnings.emplace_back(message);
  });
  ActionSet set(Options());
  set.Add(NewAction());
  testing::WriteFile(dir_ / "file", "");
  Firing firing = FiringOf("R", 0);
  firing.run += "/file/run";
  EXPECT_THAT(set.Fire(firing), SizeIs(1));
  set.Fire(firing);
  SetLogSink({});
  EXPECT_THAT(firings_, SizeIs(1));
  EXPECT_THAT(warnings, ElementsAre(HasSubstr("audit trail")));
}

TEST_F(ActionSetTest, ALinkIsNotWrittenThrough) {
  const testing::TempDir elsewhere;
  std::filesystem::create_directory_symlink(elsewhere.path(), dir_ / "rules");
  ActionSet set(Options());
  set.Add(NewAction());
  EXPECT_THAT(set.Fire(FiringOf("R", 0)), SizeIs(1));
  EXPECT_TRUE(std::filesystem::is_empty(elsewhere.path()));
}

TEST_F(ActionSetTest, ARunInAnyStoreHasItsTrail) {
  const std::shared_ptr<Storage> store = OpenMemoryStorage();
  ActionSet set(Options());
  set.Add(NewAction());
  Firing firing = FiringOf("R", 3);
  firing.store = store;
  set.Fire(firing);
  const auto trail = testing::GetFile(*store, run::kAuditKey);
  ASSERT_TRUE(trail.has_value());
  EXPECT_EQ(Json::parse(*trail)["step"], 3);
  EXPECT_THAT(testing::FilesBelow(dir_.path()), SizeIs(0));
}

TEST_F(ActionSetTest, TheTrailNamesTheRunThatWasJudged) {
  testing::WriteFile(dir_ / std::string(run::kClaimKey),
                     run::ToJson(run::Claim{.run = "an-id"}));
  ActionSet set(Options());
  set.Add(NewAction());
  Firing firing = FiringOf("R", 3);
  firing.run_id = "an-id";
  set.Fire(firing);
  EXPECT_EQ(Trail().at(0)["run"], "an-id");
}

TEST_F(ActionSetTest, AnActionIsToldWhichRunItIsAboutByItsPath) {
  testing::WriteFile(dir_ / std::string(run::kClaimKey),
                     run::ToJson(run::Claim{.run = "an-id"}));
  ActionSet set(Options());
  set.Add(NewAction());
  set.Fire(FiringOf("R", 3));
  EXPECT_EQ(firings_.at(0).run_id, "an-id");
  ASSERT_NE(firings_.at(0).store, nullptr);
  EXPECT_EQ(firings_.at(0).store->root(), dir_.path());
}

TEST_F(ActionSetTest, TheTrailOfARunIsNotThatOfTheNextNorOfNone) {
  const auto store = OpenLocalStorage(dir_.path().string());
  ActionSet set(Options());
  set.Add(NewAction());
  Firing firing = FiringOf("R", 3);
  firing.store = store;
  firing.run_id = "the-run-before";
  set.Fire(firing);  // The folder holds no run.
  EXPECT_FALSE(store->Stat(run::kAuditKey));
  testing::WriteFile(dir_ / std::string(run::kClaimKey),
                     run::ToJson(run::Claim{.run = "an-id"}));
  firing.rule = "S";
  set.Fire(firing);
  EXPECT_FALSE(store->Stat(run::kAuditKey));
  firing.rule = "T";
  firing.run_id = "an-id";
  set.Fire(firing);
  EXPECT_TRUE(store->Stat(run::kAuditKey));
  EXPECT_EQ(firings_.size(), 3u);
}

TEST_F(ActionSetTest, AnActionThatIsNotAllowedIsRefusedWhenItIsAdded) {
  ActionSet set(Options());
  EXPECT_THROW(set.Add(ActionSpec{.kind = "sms", .target = "1"}), ConfigError);
  EXPECT_TRUE(set.empty());
}

TEST_F(ActionSetTest, OfAListInJsonWhatIsAllowedIsAdded) {
  const testing::ScopedEnvironment server("SMDEBUG_SMS_URL", "http://host");
  ActionSet set(Options());
  const auto added = set.AddJson(
      R"([{"name": "stop", "pid": 1}, {"name": "sms", "endpoint": "+1"},
          {"name": "stop", "pid": )" +
          std::to_string(getpid()) + "}]",
      "R");
  EXPECT_THAT(added, ElementsAre(ActionSpec{.kind = "sms", .target = "+1"}));
}

TEST(ActionOptionsTest, TheEnvironmentSetsThem) {
  const testing::ScopedEnvironment dry_run("SMDEBUG_ACTION_DRY_RUN", "1");
  const testing::ScopedEnvironment interval("SMDEBUG_ACTION_INTERVAL", "0.5");
  const testing::ScopedEnvironment timeout("SMDEBUG_ACTION_TIMEOUT", "2");
  const testing::ScopedEnvironment grace("SMDEBUG_STOP_GRACE", "0");
  const ActionOptions options = ActionOptions::FromEnvironment();
  EXPECT_TRUE(options.dry_run);
  EXPECT_EQ(options.interval, std::chrono::milliseconds(500));
  EXPECT_EQ(options.timeout, std::chrono::seconds(2));
  EXPECT_EQ(options.grace, std::chrono::seconds(0));
}

TEST(ActionOptionsTest, ValuesThatAreNotAllowedAreNamed) {
  for (const char* name : {"SMDEBUG_ACTION_DRY_RUN", "SMDEBUG_ACTION_INTERVAL",
                           "SMDEBUG_ACTION_TIMEOUT", "SMDEBUG_STOP_GRACE"}) {
    for (const char* value : {"often", "-1", "nan", "1e99", "1 s"}) {
      const testing::ScopedEnvironment set(name, value);
      try {
        ActionOptions::FromEnvironment();
        ADD_FAILURE() << name << "=" << value;
      } catch (const ConfigError& error) {
        EXPECT_EQ(error.key(), name);
      }
    }
  }
}

}  // namespace
}  // namespace smdebug
