#include <string>
#include <utility>
#include <vector>

#include "smdebug/rule_parameters.h"
#include "src/rules/builtin/built_in.h"
#include "src/rules/reports/xgboost_report_data.h"
#include "src/rules/reports/xgboost_report_page.h"

namespace smdebug::rules {
namespace {

// Finds nothing: it gathers, and makes the report.
class CreateXgboostReport final : public Rule {
 public:
  explicit CreateXgboostReport(const RuleParameters& /*parameters*/) {}

  std::vector<Finding> Check(StepView& view) override {
    has_news_ |= data_.Take(view);
    return {};
  }

  std::vector<RuleFile> Files() override {
    if (!std::exchange(has_news_, false)) return {};
    return {{"xgboost_report.html", XgboostReportPage(data_)},
            {"xgboost_report.json", XgboostReportJson(data_)}};
  }

 private:
  XgboostReportData data_;
  bool has_news_ = false;
};

RuleNeed Need(const std::string& collection, const std::string& regex,
              const std::string& schedule, const std::string& value) {
  return {collection, {{"include_regex", regex}, {schedule, value}}};
}

}  // namespace

RuleType CreateXgboostReportType() {
  return {
      .name = "CreateXgboostReport",
      .summary = "Never; it writes a report about an XGBoost model.",
      .parameters = {Robust()},
      .needs = {Need("hyperparameters", "^hyperparameters/", "save_steps", "0"),
                Need("metrics", "^[^/]+-[^/]+$", "save_interval", "5"),
                Need("feature_importance", "^feature_importance/",
                     "save_interval", "5"),
                Need("predictions", "^predictions$", "save_interval", "5"),
                Need("labels", "^labels$", "save_interval", "5")},
      .meaning =
          "XGBoost only. It finds nothing, and ends with NoIssuesFound unless "
          "the run has none of the collections. It writes "
          "`xgboost_report.html` and `xgboost_report.json` to "
          "`rules/CreateXgboostReport/` of the run, every few seconds while "
          "the job runs and at its end.\n\n"
          "Every report has the metrics over the steps, the feature "
          "importance, the distribution of labels and the hyperparameters. "
          "With labels and predictions, classification has the confusion "
          "matrix, precision, recall and F1 of each class and their micro, "
          "macro and weighted means, and the accuracy of each class over the "
          "steps; with two classes also the ROC curve and its area. "
          "Regression has the residuals, and the absolute error over the "
          "steps for ten bins of labels. Of more than 10,000 points over the "
          "steps the report has fewer, with the least and the greatest of "
          "neighbours.\n\n"
          "The kind of model is taken from `hyperparameters/objective` or, in "
          "a run without it, from what labels and predictions look like. "
          "Robust changes nothing.",
      .make = Make<CreateXgboostReport>};
}

}  // namespace smdebug::rules
