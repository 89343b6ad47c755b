#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <limits>
#include <memory>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "smdebug/invoker.h"
#include "smdebug/storage.h"
#include "src/rules/reports/report_files.h"
#include "src/run/claim.h"
#include "src/run/keys.h"
#include "tests/testing/files.h"

namespace smdebug::rules {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

TEST(ReportTest, StepsFireOnceAndTheFirstFindingsAreKept) {
  RuleReport report{.name = "R"};
  for (int64_t step = 0; step < 60; ++step) {
    report.Add({{.step = step, .tensor = "a"}, {.step = step, .tensor = "b"}});
  }
  EXPECT_EQ(report.fired_total, 60);
  EXPECT_EQ(report.fired_steps.size(), 60u);
  EXPECT_EQ(report.findings_total, 120);
  ASSERT_EQ(report.findings.size(), RuleReport::kMostFindings);
  EXPECT_EQ(report.findings.back().step, 49);
}

// Judges so many steps, every `interval`-th of the run, and fires where asked.
RuleReport FireAt(int64_t steps, int64_t interval,
                  const std::function<bool(int64_t)>& fires) {
  RuleReport report{.name = "R"};
  for (int64_t i = 0; i < steps; ++i) {
    ++report.steps_judged;
    report.last_step = i * interval;
    if (fires(i)) report.Add({{.step = i * interval, .tensor = "a"}});
  }
  return report;
}

TEST(ReportTest, ARowOfJudgedStepsIsOneRange) {
  const RuleReport report =
      FireAt(100, 10, [](int64_t i) { return i < 20 || i == 50 || i >= 98; });
  EXPECT_EQ(report.fired_total, 23);
  EXPECT_THAT(report.fired_ranges, ElementsAre(FiredRange{0, 190, 20, 20},
                                               FiredRange{500, 500, 1, 51},
                                               FiredRange{980, 990, 2, 100}));
}

TEST(ReportTest, IsBoundedHoweverOftenARuleFires) {
  const RuleReport report =
      FireAt(100'000, 1, [](int64_t i) { return i % 2 == 0; });
  EXPECT_EQ(report.fired_total, 50'000);
  EXPECT_EQ(report.findings.size(), RuleReport::kMostFindings);
  ASSERT_EQ(report.fired_steps.size(), RuleReport::kMostSteps);
  EXPECT_EQ(report.fired_steps.back(), 1998);
  ASSERT_EQ(report.fired_ranges.size(), RuleReport::kMostRanges);
  int64_t count = 0;
  int64_t last = -1;
  for (const FiredRange& range : report.fired_ranges) {
    EXPECT_GT(range.first, last);
    EXPECT_GE(range.last, range.first);
    last = range.last;
    count += range.count;
  }
  EXPECT_EQ(count, report.fired_total);
  EXPECT_EQ(report.fired_ranges.front().first, 0);
  EXPECT_EQ(last, 99'998);
}

TEST(ReportTest, TheWidestGapsStayWhenRangesAreJoined) {
  // Two phases, each of too many fires that stand alone.
  const RuleReport report = FireAt(
      2000, 1, [](int64_t i) { return i % 3 == 0 && (i < 600 || i >= 1400); });
  const auto second =
      std::ranges::find(report.fired_ranges, 1401, &FiredRange::first);
  ASSERT_NE(second, report.fired_ranges.end());
  EXPECT_EQ(std::prev(second)->last, 597);
}

TEST(ReportTest, ACopyCatchesUp) {
  const auto fires = [](int64_t i) { return i % 7 < 3; };
  RuleReport copy{.name = "R"};
  for (const int64_t steps : {0, 5, 5, 40, 5000}) {
    const RuleReport report = FireAt(steps, 1, fires);
    copy.CatchUpWith(report);
    EXPECT_EQ(ToJson(copy), ToJson(report)) << steps;
    EXPECT_EQ(copy.fired_ranges, report.fired_ranges) << steps;
  }
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
  EXPECT_EQ(json["fired_total"], 1);
  EXPECT_THAT(json["fired_steps"].get<std::vector<int64_t>>(), ElementsAre(4));
  EXPECT_EQ(json["fired_ranges"], nlohmann::json::parse("[[4, 4, 1]]"));
  const auto& finding = json["findings"][0];
  EXPECT_EQ(finding["step"], 4);
  EXPECT_EQ(finding["mode"], ModeName(Mode::kTrain));
  EXPECT_EQ(finding["tensor"], "w");
  EXPECT_EQ(finding["worker"], "worker_1");
  EXPECT_EQ(finding["value"], "NaN");
  EXPECT_EQ(finding["threshold"], "-Infinity");
}

// The store of a run that has no identity.
std::shared_ptr<Storage> StoreOfRun() {
  std::shared_ptr<Storage> storage = OpenMemoryStorage();
  testing::PutFile(*storage, run::kEndMarkerKey, "");
  return storage;
}

// Keeps a report of rule R, all of which was told.
void SaveTold(ReportFiles& files, const ReportFiles::Told& told,
              const ReportFiles::Question& question, std::string_view told_to) {
  files.Save({.name = "R", .last_step = told.last_step, .ended = told.ended},
             question, told_to, told);
}

TEST(ReportFilesTest, WhatWasToldIsKnownToWhoAsksTheSame) {
  const auto storage = StoreOfRun();
  const ReportFiles::Question question = {"R", "0..", ""};
  {
    ReportFiles files(storage);
    EXPECT_EQ(files.WhatWasTold("R", question, "").last_step, -1);
    SaveTold(files, {.last_step = 7, .ended = true}, question, "");
  }
  ReportFiles files(storage);
  EXPECT_EQ(files.WhatWasTold("R", question, "").last_step, 7);
  EXPECT_TRUE(files.WhatWasTold("R", question, "").ended);
  EXPECT_EQ(files.WhatWasTold("R", {"R:x", "0..", ""}, "").last_step, -1);
  EXPECT_EQ(files.WhatWasTold("R", {"R", "5..", ""}, "").last_step, -1);
  EXPECT_EQ(files.WhatWasTold("S", question, "").last_step, -1);
}

TEST(ReportFilesTest, WhoOnlyLooksDoesNotSilenceWhoActs) {
  const auto storage = StoreOfRun();
  const ReportFiles::Question question = {"R", "0..", ""};
  ReportFiles files(storage);
  SaveTold(files, {.last_step = 7}, question, "");
  SaveTold(files, {.last_step = 9}, question, "dry run stop");
  EXPECT_EQ(files.WhatWasTold("R", question, "stop").last_step, -1);
  SaveTold(files, {.last_step = 5}, question, "stop");
  SaveTold(files, {.last_step = 2}, question, "");
  EXPECT_EQ(files.WhatWasTold("R", question, "stop").last_step, 5);
  EXPECT_EQ(files.WhatWasTold("R", question, "").last_step, 7);
}

TEST(ReportFilesTest, WhatWasNotToldIsNotTakenForTold) {
  ReportFiles files(StoreOfRun());
  const ReportFiles::Question question = {"R", "0..", ""};
  files.Save({.name = "R", .last_step = 7, .ended = true}, question, "stop",
             {.last_step = 3});
  EXPECT_EQ(files.WhatWasTold("R", question, "stop").last_step, 3);
  EXPECT_FALSE(files.WhatWasTold("R", question, "stop").ended);
}

TEST(ReportFilesTest, WhomItToldIsNotForEverybodyToRead) {
  const auto storage = StoreOfRun();
  ReportFiles files(storage);
  SaveTold(files, {.last_step = 7}, {"R", "0..", ""},
           "webhook:https://host/token");
  const auto report = testing::GetFile(*storage, run::RuleReportKey("R"));
  ASSERT_TRUE(report);
  EXPECT_THAT(*report, Not(HasSubstr("token")));
}

TEST(ReportFilesTest, WhatWasToldBelongsToOneRun) {
  const auto storage = OpenMemoryStorage();
  const ReportFiles::Question question = {"R", "0..", ""};
  const auto begin = [&](const char* id) {
    testing::PutFile(*storage, run::kClaimKey,
                     run::ToJson(run::Claim{.run = id, .host = "h"}));
  };
  begin("first");
  ReportFiles first(storage, "first");
  SaveTold(first, {.last_step = 7}, question, "");
  EXPECT_EQ(first.WhatWasTold("R", question, "").last_step, 7);
  begin("second");
  ReportFiles second(storage, "second");
  EXPECT_EQ(second.WhatWasTold("R", question, "").last_step, -1);
}

TEST(ReportFilesTest, NothingIsWrittenIntoARunThatTookThePlace) {
  const auto storage = OpenMemoryStorage();
  const ReportFiles::Question question = {"R", "0..", ""};
  testing::PutFile(*storage, run::kClaimKey,
                   run::ToJson(run::Claim{.run = "second", .host = "h"}));
  for (const char* judged : {"first", ""}) {
    ReportFiles files(storage, judged);
    files.SaveFile("R", {"page.html", "about the first"});
    EXPECT_FALSE(files.keeps());
    SaveTold(files, {.last_step = 7}, question, "");
  }
  for (const char* judged : {"first", ""}) {
    ReportFiles files(storage, judged);
    SaveTold(files, {.last_step = 7}, question, "");
    EXPECT_FALSE(files.keeps());
  }
  EXPECT_THAT(storage->List(run::kRulesPrefix), IsEmpty());
}

TEST(ReportFilesTest, ARunThatIsGoneIsNotMadeAnew) {
  const std::shared_ptr<Storage> storage = OpenMemoryStorage();
  for (const char* judged : {"first", ""}) {
    ReportFiles files(storage, judged);
    SaveTold(files, {.last_step = 7}, {"R", "0..", ""}, "");
    EXPECT_FALSE(files.keeps());
  }
  EXPECT_THAT(storage->List(""), IsEmpty());
}

TEST(ReportFilesTest, AFileThatIsNoReportTellsNothing) {
  const auto storage = OpenMemoryStorage();
  ReportFiles files(storage);
  const std::string question =
      R"("question": {"rule": "R", "steps": "0..", "worker": "", "run": ""})";
  for (const std::string& text :
       {std::string(), std::string("[]"), std::string("{}"),
        std::string(R"({"question": 1})"), "{" + question + "}",
        "{" + question + R"(, "told": 1})",
        "{" + question + R"(, "told": [1, {}, {"to": 1}, {"to": ""}]})"}) {
    testing::PutFile(*storage, "rules/R.json", text);
    EXPECT_EQ(files.WhatWasTold("R", {"R", "0..", ""}, "").last_step, -1)
        << text;
  }
}

}  // namespace
}  // namespace smdebug::rules
