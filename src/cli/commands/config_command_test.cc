#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "src/cli/command.h"
#include "src/config/temp_file_for_test.h"
#include "tests/testing/cli.h"
#include "tests/testing/environment.h"

namespace smdebug::cli {
namespace {

using testing::CallCli;
using testing::CliOutcome;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// Runs outside SageMaker, on one configuration file.
class ConfigCommandTest : public ::testing::Test {
 protected:
  // Returns the file's path.
  std::string Write(const std::string& json) const {
    file_.Write(json);
    return path_;
  }

  const config::TempFile file_;
  const std::string path_ = file_.path();
  const smdebug::testing::ScopedEnvironment job_{"TRAINING_JOB_NAME",
                                                 std::nullopt};
};

TEST_F(ConfigCommandTest, ShowsThePlan) {
  const CliOutcome outcome =
      CallCli({"config", "--framework", "pytorch", Write(R"({
          "LocalPath": "/run",
          "HookParameters": {"train.save_interval": "100"},
          "CollectionConfigurations": [{"CollectionName": "gradients",
            "CollectionParameters": {"reductions": "mean,abs_max"}}]})")});
  EXPECT_EQ(outcome.code, kExitOk);
  EXPECT_EQ(outcome.err, "");
  EXPECT_THAT(outcome.out, StartsWith("framework    pytorch\n"
                                      "out_dir      /run\n"
                                      "workers      one\n"
                                      "tensorboard  off\n"));
  EXPECT_THAT(outcome.out, HasSubstr("train: every 100 steps"));
  EXPECT_THAT(outcome.out, HasSubstr("mean, abs_max"));
}

TEST_F(ConfigCommandTest, PrintsJsonThatPeopleCanRead) {
  const CliOutcome outcome =
      CallCli({"config", Write("{}"), "--json", "--framework", "xgboost"});
  EXPECT_EQ(outcome.code, kExitOk);
  const auto plan = nlohmann::json::parse(outcome.out);
  EXPECT_EQ(plan["collections"]["metrics"]["when"]["GLOBAL"], "every 10 steps");
  EXPECT_THAT(outcome.out, StartsWith("{\n  \""));
}

TEST_F(ConfigCommandTest, FollowsNativeConventionsUnlessTold) {
  EXPECT_THAT(CallCli({"config", Write("{}")}).out,
              StartsWith("framework    native\n"));
}

TEST_F(ConfigCommandTest, TakesTheFileOfTheEnvironment) {
  Write(R"({"LocalPath": "/from/environment"})");
  const smdebug::testing::ScopedEnvironment path("SMDEBUG_CONFIG_FILE_PATH",
                                                 path_);
  EXPECT_THAT(CallCli({"config"}).out, HasSubstr("/from/environment"));
}

TEST_F(ConfigCommandTest, RefusesABadConfigurationByFileKeyAndValue) {
  Write(R"({"HookParameters": {"save_interval": "0"}})");
  const CliOutcome outcome = CallCli({"config", path_});
  EXPECT_EQ(outcome.code, kExitError);
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(outcome.err,
            "smdebug: " + path_ +
                ": HookParameters: save_interval: '0' is not allowed; expected "
                "a whole number of at least 1\n");
}

TEST_F(ConfigCommandTest, RefusesACollectionThatCouldNeverMatch) {
  Write(R"({"CollectionConfigurations": [{"CollectionName": "relu"}]})");
  const CliOutcome outcome = CallCli({"config", path_});
  EXPECT_EQ(outcome.code, kExitError);
  EXPECT_THAT(outcome.err, StartsWith("smdebug: " + path_ + ": "));
  EXPECT_THAT(outcome.err, HasSubstr("'relu'"));
}

TEST_F(ConfigCommandTest, NamesAFileThatIsWrongAsAWholeOnce) {
  Write("[]");
  EXPECT_THAT(CallCli({"config", path_}).err,
              StartsWith("smdebug: " + path_ + ": '[]' is not allowed"));
}

TEST_F(ConfigCommandTest, NamesThePlaceOfASyntaxErrorOnce) {
  Write("{\n  \"LocalPath\": }");
  const CliOutcome outcome = CallCli({"config", path_});
  EXPECT_EQ(outcome.code, kExitError);
  EXPECT_THAT(outcome.err, StartsWith("smdebug: " + path_ + ":2:16: "));
}

TEST_F(ConfigCommandTest, RefusesAMissingFileAndAWrongCall) {
  EXPECT_EQ(CallCli({"config", path_ + ".missing"}).code, kExitError);
  EXPECT_EQ(CallCli({"config", "--framework", "jax", Write("{}")}).code,
            kExitError);
  EXPECT_EQ(CallCli({"config", "one", "two"}).code, kExitError);
}

TEST_F(ConfigCommandTest, HelpShowsAnExample) {
  const CliOutcome outcome = CallCli({"config", "--help"});
  EXPECT_EQ(outcome.code, kExitOk);
  EXPECT_THAT(outcome.out, HasSubstr("smdebug config debughookconfig.json"));
}

}  // namespace
}  // namespace smdebug::cli
