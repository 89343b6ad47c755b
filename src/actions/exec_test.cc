#include <sys/wait.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "smdebug/action.h"
#include "tests/testing/files.h"
#include "tests/testing/temp_dir.h"

namespace smdebug::actions {
namespace {

using ::testing::HasSubstr;

constexpr std::chrono::milliseconds kLong = std::chrono::minutes(5);

class ExecTest : public ::testing::Test {
 protected:
  // Runs a script of the shell, which is a command like any other.
  std::string Do(const std::string& script,
                 std::chrono::milliseconds timeout = kLong) {
    return MakeAction({.kind = "exec",
                       .target = nlohmann::json({"sh", "-c", script, "sh",
                                                 dir_.path().string()})
                                     .dump()},
                      {.exec_timeout = timeout})
        ->Do(firing_);
  }

  std::string Reason(const std::string& script,
                     std::chrono::milliseconds timeout = kLong) {
    try {
      return "did not fail: " + Do(script, timeout);
    } catch (const ActionError& error) {
      return error.reason();
    }
  }

  std::string Read(const std::string& name) {
    std::ifstream file(dir_ / name);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  testing::TempDir dir_;
  Firing firing_{
      .rule = "Vanishing",
      .run = "/runs/a b",
      .step = 12,
      .message = "too small",
      .findings = {{.step = 12,
                    .tensor = "g",
                    .value = std::numeric_limits<double>::quiet_NaN(),
                    .threshold = 0.5,
                    .message = "m"}}};
};

TEST_F(ExecTest, TheCommandIsToldWhatHappened) {
  EXPECT_EQ(Do(R"(cat > "$1/in"
                  echo "$SMDEBUG_RULE|$SMDEBUG_STEP|$SMDEBUG_RUN|$SMDEBUG_MESSAGE" > "$1/env")"),
            "exit code 0");
  EXPECT_EQ(Read("env"), "Vanishing|12|/runs/a b|too small\n");
  const auto input = nlohmann::json::parse(Read("in"));
  EXPECT_EQ(input["rule"], "Vanishing");
  EXPECT_EQ(input["step"], 12);
  EXPECT_EQ(input["findings"][0]["tensor"], "g");
  EXPECT_EQ(input["findings"][0]["value"], "NaN");
  EXPECT_EQ(input["findings"][0]["threshold"], 0.5);
}

TEST_F(ExecTest, ACommandThatReadsNothingIsFine) {
  firing_.findings.assign(10000, firing_.findings[0]);
  EXPECT_EQ(Do("exit 0"), "exit code 0");
}

TEST_F(ExecTest, AFailureTellsItsCodeAndTheEndOfWhatWasPrinted) {
  EXPECT_EQ(Reason("echo out; echo error >&2; exit 3"),
            "exit code 3: out\nerror");
  EXPECT_THAT(Reason("seq 100000; exit 3"), ::testing::EndsWith("\n100000"));
  EXPECT_EQ(Reason("kill -9 $$"), "ended by signal 9");
}

TEST_F(ExecTest, ACommandThatDoesNotEndIsKilledWithItsChildren) {
  // The child keeps the pipe of the test open as long as it lives.
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe(ends.data()), 0);
  EXPECT_THAT(
      Reason("sleep 1000 & echo begun; wait", std::chrono::milliseconds(100)),
      HasSubstr("killed after 0.1 s"));
  close(ends[1]);
  char byte = 0;
  EXPECT_EQ(read(ends[0], &byte, 1), 0);
  close(ends[0]);
}

TEST_F(ExecTest, ACommandThatLeavesAChildBehindIsNotWaitedFor) {
  EXPECT_EQ(Do(R"(sleep 1000 & echo $! > "$1/pid")"), "exit code 0");
  kill(std::stoi(Read("pid")), SIGKILL);
}

TEST_F(ExecTest, AMissingCommandIsNamed) {
  testing::WriteFile(dir_ / "no-program", "");
  for (const std::string& command :
       {std::string("no-such-command"), std::string("./no-such-command"),
        std::string("/no/such-command"), dir_ / "no-program",
        dir_.path().string()}) {
    try {
      MakeAction({.kind = "exec", .target = command + " --now"}, {});
      ADD_FAILURE() << command;
    } catch (const ConfigError& error) {
      EXPECT_EQ(error.key(), "action exec");
      EXPECT_EQ(error.value(), command);
    }
  }
  EXPECT_EQ(MakeAction({.kind = "exec", .target = "sh -c x"}, {})->target(),
            "sh");
}

TEST_F(ExecTest, AProgramThatIsRemovedLaterIsNamed) {
  std::filesystem::copy_file("/bin/sh", dir_ / "program");
  const auto exec = MakeAction({.kind = "exec", .target = dir_ / "program"},
                               {.exec_timeout = kLong});
  std::filesystem::remove(dir_ / "program");
  try {
    exec->Do(firing_);
    ADD_FAILURE();
  } catch (const ActionError& error) {
    EXPECT_THAT(error.reason(), HasSubstr(dir_ / "program"));
  }
}

TEST_F(ExecTest, NoChildIsLeftInTheTableOfProcesses) {
  Do("exit 0");
  Reason("exit 1");
  Reason("sleep 1000", std::chrono::milliseconds(1));
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1);
  EXPECT_EQ(errno, ECHILD);
}

}  // namespace
}  // namespace smdebug::actions
