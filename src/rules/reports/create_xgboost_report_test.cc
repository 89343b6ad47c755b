#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "smdebug/invoker.h"
#include "src/rules/builtin/testing.h"
#include "src/rules/reports/svg_chart.h"
#include "src/rules/reports/xgboost_report_page.h"
#include "tests/testing/trial_run.h"

namespace smdebug::rules {
namespace {

using Json = nlohmann::json;
using ::testing::AllOf;
using testing::GetFile;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using testing::TestTrial;

// What is wrong with the tags of a page; empty if each is closed in its place.
std::string TagTrouble(std::string_view page) {
  std::vector<std::string> open;
  for (size_t at = page.find('<'); at != std::string_view::npos;
       at = page.find('<', at + 1)) {
    const size_t end = page.find('>', at);
    if (end == std::string_view::npos) return "an open bracket";
    const std::string_view tag = page.substr(at + 1, end - at - 1);
    if (tag.starts_with("!") || tag.ends_with("/")) continue;
    const std::string name(
        tag.substr(tag.starts_with("/") ? 1 : 0).substr(0, tag.find(' ')));
    if (!tag.starts_with("/")) {
      open.push_back(name);
    } else if (open.empty() || open.back() != name) {
      return "</" + name + "> closes " + (open.empty() ? "-" : open.back());
    } else {
      open.pop_back();
    }
  }
  return open.empty() ? "" : "<" + open.back() + "> stays open";
}

// A run in XGBoost's naming and the report about it.
class XgboostReportTest : public ::testing::Test {
 protected:
  XgboostReportTest() {
    run_.Collect("metrics", "^[^/]+-[^/]+$")
        .Collect("hyperparameters", "^hyperparameters/")
        .Collect("feature_importance", "^feature_importance/");
  }

  void Start(const std::string& objective) {
    run_.At(0).PutTexts("hyperparameters/objective", {objective});
    run_.Put("hyperparameters/max_depth", {6});
  }

  // The page and the JSON.
  std::pair<std::string, Json> Report() {
    const auto rule = MakeRule(ParseRuleSpec("CreateXgboostReport"));
    EXPECT_THAT(run_.JudgeWith(*rule), IsEmpty());
    const auto files = rule->Files();
    EXPECT_EQ(files.size(), 2u);
    EXPECT_THAT(rule->Files(), IsEmpty()) << "nothing has changed";
    if (files.size() != 2) return {};
    EXPECT_EQ(files[0].name, "xgboost_report.html");
    EXPECT_EQ(files[1].name, "xgboost_report.json");
    EXPECT_EQ(TagTrouble(files[0].content), "");
    EXPECT_THAT(files[0].content,
                AllOf(Not(HasSubstr("http")), Not(HasSubstr("<script")),
                      Not(HasSubstr("nan")), Not(HasSubstr("src="))));
    return {files[0].content, Json::parse(files[1].content)};
  }

  FakeRun run_;
};

TEST_F(XgboostReportTest, BinaryHasConfusionScoresAndRoc) {
  Start("binary:logistic");
  run_.Put("labels", {0, 0, 1, 1}).Put("predictions", {0.9, 0.9, 0.1, 0.1});
  run_.Put("train-logloss", {0.7}).Put("validation-logloss", {0.8});
  run_.At(5).Put("labels", {0, 0, 1, 1});
  run_.Put("predictions", {0.1, 0.6, 0.35, 0.8});
  run_.Put("train-logloss", {0.2}).Put("validation-logloss", {0.3});
  run_.Put("feature_importance/gain/f0", {0.25});
  run_.Put("feature_importance/gain/f1", {0.75});
  const auto [page, report] = Report();
  EXPECT_EQ(report["problem"], "binary");
  EXPECT_EQ(report["problem_guessed"], false);
  EXPECT_EQ(report["last_step"], 5);
  EXPECT_EQ(report["hyperparameters"]["max_depth"], "6");
  EXPECT_EQ(report["metrics"]["train-logloss"],
            Json::parse("[[0,0.7],[5,0.2]]"));
  EXPECT_EQ(report["feature_importance"]["gain"]["f1"], 0.75);
  EXPECT_EQ(report["classification"]["accuracy"], 0.5);
  EXPECT_EQ(report["classification"]["confusion"].size(), 4u);
  EXPECT_EQ(report["classification"]["macro"]["f1"], 0.5);
  EXPECT_EQ(report["class_accuracy"]["1"], Json::parse("[[0,0.0],[5,0.5]]"));
  EXPECT_EQ(report["roc"]["area"], 0.75);
  EXPECT_FALSE(report.contains("residuals"));
  for (const char* section :
       {"Distribution of labels", "Metrics", "Feature importance",
        "Confusion matrix", "Precision, recall and F1", "ROC curve, area 0.75",
        "Accuracy of each class", "Hyperparameters"}) {
    EXPECT_THAT(page, HasSubstr(section));
  }
  EXPECT_THAT(page, Not(HasSubstr("Residuals")));
}

TEST_F(XgboostReportTest, MarginsArePositiveForTheSecondClass) {
  Start("binary:logitraw");
  run_.Put("labels", {0, 1}).Put("predictions", {-0.2, 0.2});
  EXPECT_EQ(Report().second["classification"]["accuracy"], 1.0);
}

TEST_F(XgboostReportTest, ManyClassesComeAsNumbersOrAsScores) {
  Start("multi:softmax");
  run_.Put("labels", {0, 1, 2}).Put("predictions", {0, 2, 2});
  run_.At(5).Put("labels", {0, 1, 2});
  run_.Put("predictions", {0.8, 0.1, 0.1, 0.2, 0.7, 0.1, 0.5, 0.2, 0.3},
           {3, 3});
  const auto [page, report] = Report();
  EXPECT_EQ(report["problem"], "multiclass");
  EXPECT_DOUBLE_EQ(report["classification"]["accuracy"].get<double>(), 2.0 / 3);
  EXPECT_EQ(report["class_accuracy"]["1"], Json::parse("[[0,0.0],[5,1.0]]"));
  EXPECT_EQ(report["class_accuracy"]["2"], Json::parse("[[0,1.0],[5,0.0]]"));
  EXPECT_FALSE(report.contains("roc"));
  EXPECT_THAT(page,
              AllOf(HasSubstr("Confusion matrix"), Not(HasSubstr("ROC"))));
}

TEST_F(XgboostReportTest, RegressionHasResidualsAndErrorsByLabel) {
  Start("reg:squarederror");
  run_.Put("labels", {0, 5, 10}).Put("predictions", {1, 5, 6});
  run_.At(5).Put("labels", {0, 5, 10}).Put("predictions", {0, 5, 8});
  const auto [page, report] = Report();
  EXPECT_EQ(report["problem"], "regression");
  EXPECT_EQ(report["labels"].size(), 10u);
  EXPECT_EQ(report["labels"][9]["samples"], 1);
  EXPECT_EQ(report["residuals"].front()["from"], -2.0);
  EXPECT_EQ(report["residuals"].front()["samples"], 1);
  EXPECT_EQ(report["residuals"].back()["samples"], 2);
  ASSERT_EQ(report["absolute_error"].size(), 3u);
  EXPECT_EQ(report["absolute_error"][2]["from"], 9.0);
  EXPECT_EQ(report["absolute_error"][2]["steps"],
            Json::parse("[[0,4.0],[5,2.0]]"));
  EXPECT_THAT(page, AllOf(HasSubstr("Residuals at the last step"),
                          HasSubstr("Absolute error by label"),
                          Not(HasSubstr("Confusion"))));
}

TEST_F(XgboostReportTest, WithoutAnObjectiveTheDataTells) {
  run_.At(0).Put("labels", {0, 1, 0, 1}).Put("predictions", {0.2, 0.7, 0.1, 1});
  const Json report = Report().second;
  EXPECT_EQ(report["problem"], "binary");
  EXPECT_EQ(report["problem_guessed"], true);
}

TEST_F(XgboostReportTest, RankingHasWhatEveryModelHas) {
  Start("rank:ndcg");
  run_.Put("labels", {0, 1}).Put("predictions", {0.2, 0.7});
  run_.Put("train-ndcg", {0.9});
  const auto [page, report] = Report();
  EXPECT_EQ(report["problem"], "unknown");
  EXPECT_FALSE(report.contains("classification"));
  EXPECT_THAT(page, HasSubstr("Metrics"));
}

TEST_F(XgboostReportTest, NamesCannotBreakThePage) {
  Start("<b>\"&'");
  run_.Put("feature_importance/weight/<script>alert(1)</script>", {1});
  const std::string page = Report().first;
  EXPECT_THAT(page, HasSubstr("&lt;script&gt;alert(1)&lt;/script&gt;"));
  EXPECT_THAT(page, HasSubstr("&lt;b&gt;&quot;&amp;&#39;"));
}

TEST_F(XgboostReportTest, OddNumbersGiveAPage) {
  Start("binary:logistic");
  run_.Put("labels", {0, 1, 5}).Put("predictions", {std::nan(""), 0.5, 0.5});
  run_.Put("train-error", {std::nan("")}).Put("train-x", {1e308});
  const auto rule = MakeRule(ParseRuleSpec("CreateXgboostReport"));
  EXPECT_THAT(run_.JudgeWith(*rule), IsEmpty());
  const std::vector<RuleFile> files = rule->Files();
  ASSERT_EQ(files.size(), 2u);
  EXPECT_EQ(files[0].name, "xgboost_report.html");
  EXPECT_EQ(TagTrouble(files[0].content), "");
  for (const char* odd : {"\"nan", " nan", ",nan", "\"inf", ",inf"}) {
    EXPECT_THAT(files[0].content, Not(HasSubstr(odd)));
  }
  const Json report = Json::parse(files[1].content);
  EXPECT_EQ(report["metrics"]["train-x"], Json::parse("[[0,1e308]]"));
  EXPECT_EQ(report["labels"].size(), 10u);
  EXPECT_TRUE(report.contains("classification"));
}

TEST_F(XgboostReportTest, LabelsOfAnotherLengthAreNotCompared) {
  Start("reg:squarederror");
  run_.Put("labels", {0, 5, 10}).Put("predictions", {1, 5});
  EXPECT_FALSE(Report().second.contains("residuals"));
}

TEST(SvgChartTest, LongNamesAreCutBetweenCharacters) {
  const std::string chart =
      BarChart({"t", "x", "y"},
               std::vector<std::pair<std::string, double>>(
                   20, {"\xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4", 1}));
  EXPECT_EQ(TagTrouble(chart), "");
  EXPECT_THAT(chart, Not(HasSubstr("\xC3.")));
}

// Through the invoker, into the run.
TEST(XgboostReportDataTest, ALongSeriesIsThinnedAndKeepsItsExtremes) {
  using Data = XgboostReportData;
  constexpr int kSteps = 200'000;
  Data::Series series;
  for (int step = 0; step < kSteps; ++step) {
    double value = 0.5 + 0.001 * (step % 7);
    if (step == 4'321) value = -3;
    if (step == 123'456) value = 9;
    if (step == 150'000) value = std::nan("");
    Data::AddPoint(series, step, value);
    ASSERT_LE(series.size(), Data::kMostPoints);
  }
  EXPECT_GT(series.size(), Data::kMostPoints / 4);
  EXPECT_EQ(series.front(), std::pair(0.0, 0.5));
  EXPECT_EQ(series.back().first, kSteps - 1);
  EXPECT_TRUE(
      std::ranges::is_sorted(series, {}, &std::pair<double, double>::first));
  EXPECT_TRUE(std::ranges::count(series, std::pair(4'321.0, -3.0)) == 1);
  EXPECT_TRUE(std::ranges::count(series, std::pair(123'456.0, 9.0)) == 1);
  EXPECT_TRUE(std::ranges::any_of(
      series, [](const auto& point) { return std::isnan(point.second); }));
}

TEST(XgboostReportDataTest, AShortSeriesIsKeptAsItIs) {
  XgboostReportData::Series series;
  for (size_t step = 0; step < XgboostReportData::kMostPoints; ++step) {
    XgboostReportData::AddPoint(series, static_cast<double>(step), 1);
  }
  EXPECT_EQ(series.size(), XgboostReportData::kMostPoints);
}

TEST(XgboostReportFilesTest, AreKeptBesideTheReportOfTheRule) {
  TestTrial made;
  made.run.Declare({"worker_0"}, 1, {});
  made.run.At(0, "worker_0")
      .Tensor("labels", {0, 1})
      .Tensor("predictions", {0.2F, 0.9F})
      .Publish();
  made.run.End();
  made.Open().Steps();
  const auto& reports = made.storage;
  Invoker invoker(made.trial.get(), {.reports = reports});
  RuleEvaluation evaluation =
      ToEvaluation(ParseRuleSpec("CreateXgboostReport"));
  evaluation.name = "my report";
  invoker.Add(std::move(evaluation));
  EXPECT_TRUE(invoker.Run());
  EXPECT_EQ(invoker.reports().front().status, RuleStatus::kNoIssuesFound);
  const auto kept =
      Json::parse(*GetFile(*reports, "rules/my_report/xgboost_report.json"));
  EXPECT_EQ(kept["classification"]["accuracy"], 1.0);
  EXPECT_EQ(
      TagTrouble(*GetFile(*reports, "rules/my_report/xgboost_report.html")),
      "");
}

TEST(XgboostReportFilesTest, ARunOfAnotherKindIsAnError) {
  TestTrial made;
  made.run.Declare({"worker_0"}, 1, {});
  made.run.At(0, "worker_0").Tensor("weight", {0, 1}).Publish();
  made.run.End();
  made.Open().Steps();
  Invoker invoker(made.trial.get(), {});
  invoker.Add(ToEvaluation(ParseRuleSpec("CreateXgboostReport")));
  EXPECT_TRUE(invoker.Run());
  EXPECT_EQ(invoker.reports().front().status, RuleStatus::kError);
  EXPECT_THAT(invoker.reports().front().details, HasSubstr("hyperparameters"));
}

}  // namespace
}  // namespace smdebug::rules
