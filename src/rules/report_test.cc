#include <cmath>
#include <limits>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "smdebug/invoker.h"
#include "src/rules/report_files.h"
#include "tests/testing/files.h"

namespace smdebug::rules {
namespace {

using ::testing::ElementsAre;

TEST(ReportTest, StepsFireOnceAndTheFirstFindingsAreKept) {
  RuleReport report{.name = "R"};
  for (int64_t step = 0; step < 60; ++step) {
    report.Add({{.step = step, .tensor = "a"}, {.step = step, .tensor = "b"}});
  }
  EXPECT_EQ(report.fired_steps.size(), 60u);
  EXPECT_EQ(report.findings_total, 120);
  ASSERT_EQ(report.findings.size(), RuleReport::kMostFindings);
  EXPECT_EQ(report.findings.back().step, 49);
}

TEST(ReportTest, JsonHasTheFieldsByName) {
  RuleReport report{
      .name = "R", .rule = "R", .status = RuleStatus::kIssuesFound};
  report.Add({{.step = 4,
               .mode = Mode::kTrain,
               .tensor = "w",
               .worker = "worker_1",
               .value = std::nan(""),
               .threshold = -std::numeric_limits<double>::infinity(),
               .message = "it is \xFF so"}});
  const auto json = nlohmann::json::parse(ToJson(report));
  EXPECT_EQ(json["name"], "R");
  EXPECT_EQ(json["status"], "IssuesFound");
  EXPECT_EQ(json["findings_total"], 1);
  EXPECT_THAT(json["fired_steps"].get<std::vector<int64_t>>(), ElementsAre(4));
  const auto& finding = json["findings"][0];
  EXPECT_EQ(finding["step"], 4);
  EXPECT_EQ(finding["mode"], ModeName(Mode::kTrain));
  EXPECT_EQ(finding["tensor"], "w");
  EXPECT_EQ(finding["worker"], "worker_1");
  EXPECT_EQ(finding["value"], "NaN");
  EXPECT_EQ(finding["threshold"], "-Infinity");
}

TEST(ReportFilesTest, WhatWasToldIsKnownToWhoAsksTheSame) {
  const auto storage = OpenMemoryStorage();
  const ReportFiles::Question question = {"R", "0..", ""};
  {
    ReportFiles files(storage);
    EXPECT_EQ(files.WhatWasTold("R", question).last_step, -1);
    files.Save({.name = "R", .last_step = 7, .ended = true}, question);
  }
  ReportFiles files(storage);
  EXPECT_EQ(files.WhatWasTold("R", question).last_step, 7);
  EXPECT_TRUE(files.WhatWasTold("R", question).ended);
  EXPECT_EQ(files.WhatWasTold("R", {"R:x", "0..", ""}).last_step, -1);
  EXPECT_EQ(files.WhatWasTold("R", {"R", "5..", ""}).last_step, -1);
  EXPECT_EQ(files.WhatWasTold("S", question).last_step, -1);
}

TEST(ReportFilesTest, AFileThatIsNoReportTellsNothing) {
  const auto storage = OpenMemoryStorage();
  ReportFiles files(storage);
  for (const char* text : {"", "[]", "{}", R"({"question": 1})"}) {
    testing::PutFile(*storage, "rules/R.json", text);
    EXPECT_EQ(files.WhatWasTold("R", {"R", "0..", ""}).last_step, -1) << text;
  }
}

TEST(ReportFilesTest, NamesBecomeFilesOfTheFolder) {
  EXPECT_EQ(ReportFiles::KeyOf("AllZero-2"), "rules/AllZero-2.json");
  EXPECT_EQ(ReportFiles::KeyOf("../a b"), "rules/_._a_b.json");
}

}  // namespace
}  // namespace smdebug::rules
