#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "smdebug/version.h"
#include "src/base/variables.h"
#include "src/cli/command.h"
#include "src/cli/doctor/installation.h"
#include "src/cli/doctor/python_probe.h"
#include "src/cli/doctor/variables.h"
#include "src/config/framework.h"
#include "tests/testing/cli.h"
#include "tests/testing/environment.h"
#include "tests/testing/files.h"
#include "tests/testing/temp_dir.h"

namespace smdebug::cli {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using testing::CallCli;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using testing::ScopedEnvironment;
using testing::TempDir;

class DoctorTest : public ::testing::Test {
 protected:
  // A program that is called as a Python, and is a script of the shell.
  std::string FakePython(const std::string& script) const {
    std::string path = dir_ / "python";
    testing::WriteFile(path, "#!/bin/sh\n" + script);
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    return path;
  }

  // One that has torch of `version`.
  std::string PythonWithTorch(const std::string& version) const {
    return FakePython(
        fmt::format("echo '{{\"version\": \"3.11.7\", \"place\": \"/py\"}}'\n"
                    "echo 'a package printed this'\n"
                    "echo '{{\"framework\": \"torch\", \"version\": \"{}\", "
                    "\"place\": \"/torch\", \"error\": \"\"}}'\n"
                    "echo '{{\"smdebug\": true, \"version\": \"{}\", "
                    "\"place\": \"/s\"}}'\n",
                    version, kVersion));
  }

  TempDir dir_;
};

TEST_F(DoctorTest, APythonThatIsNotThereIsNamed) {
  const PythonReport report = ProbePython(dir_ / "none", false, minutes(1));
  EXPECT_EQ(report.version, "");
  EXPECT_THAT(report.error, HasSubstr("none"));
  EXPECT_THAT(report.frameworks, IsEmpty());
}

TEST_F(DoctorTest, APythonThatFailsIsNamed) {
  const PythonReport report =
      ProbePython(FakePython("exit 3\n"), false, minutes(1));
  EXPECT_THAT(report.error, HasSubstr("exit code 3"));
}

TEST_F(DoctorTest, WhatWasSaidBeforeACrashCounts) {
  const PythonReport report =
      ProbePython(PythonWithTorch("2.1.0"), false, minutes(1));
  EXPECT_EQ(report.version, "3.11.7");
  ASSERT_EQ(report.frameworks.size(), 1);
  EXPECT_EQ(report.frameworks[0].version, "2.1.0");
  EXPECT_EQ(report.smdebug.version, kVersion);
  EXPECT_EQ(report.error, "");
  const PythonReport crashed =
      ProbePython(FakePython("echo '{\"version\": \"3.9.1\"}'\nkill -9 $$\n"),
                  false, minutes(1));
  EXPECT_EQ(crashed.version, "3.9.1");
  EXPECT_THAT(crashed.error, HasSubstr("signal 9"));
}

TEST_F(DoctorTest, APythonThatHangsIsEnded) {
  const PythonReport report = ProbePython(
      FakePython("sleep 1000 &\nexec sleep 1000\n"), false, milliseconds(20));
  EXPECT_THAT(report.error, HasSubstr("did not answer"));
}

TEST_F(DoctorTest, SupportedFrameworksAreNoProblem) {
  const ScopedEnvironment python("SMDEBUG_PYTHON",
                                 PythonWithTorch("2.1.0+cpu"));
  const auto done = CallCli({"doctor", "--json"});
  EXPECT_EQ(done.code, kExitOk) << done.out;
  const auto json = done.json();
  EXPECT_EQ(json["version"], kVersion);
  EXPECT_FALSE(json["simd_targets"].empty());
  const auto& torch = json["python"]["frameworks"][0];
  EXPECT_EQ(torch["version"], "2.1.0+cpu");
  EXPECT_EQ(torch["supported"], true);
  EXPECT_THAT(CallCli({"doctor"}).out, HasSubstr("2.1.0+cpu, supported"));
}

TEST_F(DoctorTest, AFrameworkThatIsTooOldIsAProblem) {
  const ScopedEnvironment python("SMDEBUG_PYTHON", PythonWithTorch("1.12.1"));
  const auto done = CallCli({"doctor"});
  EXPECT_EQ(done.code, kExitFound);
  EXPECT_THAT(done.out, HasSubstr("torch 1.12.1 is too old: 1.13 and later"));
}

TEST_F(DoctorTest, AConfigurationThatAHookWouldRefuseIsAProblem) {
  const ScopedEnvironment python("SMDEBUG_PYTHON", PythonWithTorch("2.1.0"));
  const std::string path = dir_ / "hook.json";
  const ScopedEnvironment config("SMDEBUG_CONFIG_FILE_PATH", path);
  EXPECT_EQ(CallCli({"doctor"}).code, kExitOk);
  testing::WriteFile(path, R"({"LocalPath": "/tmp/run"})");
  const auto accepted = CallCli({"doctor", "--json"});
  EXPECT_EQ(accepted.code, kExitOk);
  EXPECT_EQ(accepted.json()["configuration"]["out_dir"], "/tmp/run");
  testing::WriteFile(path, "{");
  const auto refused = CallCli({"doctor", "--json"});
  EXPECT_EQ(refused.code, kExitFound);
  EXPECT_THAT(refused.json()["configuration"]["error"].get<std::string>(),
              HasSubstr("hook.json"));
}

TEST_F(DoctorTest, NoPythonIsAProblemOnlyIfOneWasChosen) {
  Installation found = {.targets = {"SCALAR"},
                        .python = {.program = "python3", .error = "no"}};
  EXPECT_THAT(ProblemsOf(found), IsEmpty());
  EXPECT_THAT(InstallationText(found), HasSubstr("none was found that runs"));
  found.variables = {{.name = "SMDEBUG_PYTHON", .value = "/nowhere"}};
  EXPECT_THAT(ProblemsOf(found), ElementsAre("no"));
  EXPECT_THAT(InstallationText(found, {.is_terminal = true, .colour = true}),
              EndsWith("\n\x1B[31mproblems       no\x1B[0m\n"));
  EXPECT_THAT(InstallationText(found), EndsWith("\nproblems       no\n"));
}

TEST_F(DoctorTest, AnotherSmdebugInPythonIsAProblem) {
  Installation found = {.targets = {"SCALAR"},
                        .python = {.program = "python3", .version = "3.11.7"}};
  found.python.smdebug.version = "1.0.34";
  EXPECT_THAT(ProblemsOf(found),
              ElementsAre(HasSubstr("smdebug of python3 is 1.0.34")));
}

TEST(VariablesTest, SecretsAreNotShown) {
  const auto found = VariablesOf({"PATH=/bin", "SMDEBUG_SMTP_PASSWORD=secret",
                                  "SMDEBUG_STRICT=1", "SMDEBUG_BUFER_MB=2"});
  ASSERT_EQ(found.size(), 3);
  EXPECT_EQ(found[0].name, "SMDEBUG_BUFER_MB");
  EXPECT_THAT(found[0].problem, HasSubstr("'SMDEBUG_BUFFER_MB'"));
  EXPECT_EQ(found[1].value, "");
  EXPECT_TRUE(found[1].is_private);
  EXPECT_EQ(found[2].value, "1");
}

TEST(VariablesTest, AValueThatNobodyTakesIsAProblem) {
  const struct {
    std::string entry;
    std::string allowed;
  } cases[] = {
      {"SMDEBUG_BUFFER_MB=abc", "a whole number of megabytes, 1 to 16777216"},
      {"SMDEBUG_ON_FULL=dorp", "'block' or 'drop'"},
      {"SMDEBUG_FSYNC=stp", "'step' or 'off'"},
      {"SMDEBUG_STRICT=yes", "'1' or '0'"},
      {"SMDEBUG_ACTION_INTERVAL=abc", "seconds, 0 to 1e9"},
      {"SMDEBUG_INCOMPLETE_STEP_WAIT_WINDOW=0",
       "a whole number from 1 to 2147483647"},
      {"SMDEBUG_LOG_LEVEL=debgu",
       "'debug', 'info', 'warning', 'error', 'critical' or 'off'"},
      {"SMDEBUG_WATCH=pol", "'poll'"},
      {"SMDEBUG_RUN_ID=a b", "at most 128 letters"},
      {"USE_SMDEBUG=flase", "'true' or 'false'"},
  };
  for (const auto& test : cases) {
    const auto found = VariablesOf({test.entry});
    ASSERT_EQ(found.size(), 1);
    EXPECT_THAT(
        found[0].problem,
        HasSubstr(fmt::format("{}: '{}' is not allowed; expected {}",
                              found[0].name, found[0].value, test.allowed)));
  }
  for (const std::string entry :
       {"SMDEBUG_BUFFER_MB= 64 ", "SMDEBUG_ON_FULL=", "SMDEBUG_STOP_GRACE=0.5",
        "SMDEBUG_LOG_LEVEL=DEBUG", "USE_SMDEBUG=No", "SMDEBUG_STRICT=0"}) {
    EXPECT_EQ(VariablesOf({entry}).front().problem, "") << entry;
  }
}

TEST(VariablesTest, AreThoseOfTheDocument) {
  const std::string text =
      testing::ReadFile(SMDEBUG_SOURCE_DIR "/docs/reference/environment.md");
  std::set<std::string> documented;
  constexpr std::string_view kPrefix = "`SMDEBUG_";
  for (size_t at = text.find(kPrefix); at != std::string::npos;
       at = text.find(kPrefix, at + 1)) {
    const size_t end =
        text.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ_", at + 1);
    documented.insert(text.substr(at + 1, end - at - 1));
  }
  std::set<std::string> known;
  for (const base::Variable& variable : base::Variables()) {
    EXPECT_THAT(text, HasSubstr(fmt::format("`{}`", variable.name)));
    if (variable.name.starts_with("SMDEBUG_")) known.emplace(variable.name);
  }
  EXPECT_EQ(known, documented);
}

TEST(FrameworksTest, TheDocumentsNameTheVersionsThatAreSupported) {
  const std::string folder = SMDEBUG_SOURCE_DIR "/docs/frameworks/";
  for (const auto& framework : config::PythonFrameworks()) {
    if (framework.least.empty()) continue;
    const bool is_torch = framework.module == "torch";
    const std::string page =
        testing::ReadFile(folder + (is_torch ? "pytorch.md" : "xgboost.md"));
    EXPECT_THAT(page, HasSubstr(fmt::format("{} {} and later are",
                                            is_torch ? "PyTorch" : "XGBoost",
                                            framework.least)));
  }
}

}  // namespace
}  // namespace smdebug::cli
