#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "smdebug/rule.h"
#include "src/rules/reports/xgboost_report_statistics.h"

namespace smdebug::rules {

// What a model of XGBoost is for.
enum class Problem : uint8_t { kUnknown, kBinary, kMulticlass, kRegression };

std::string_view ProblemName(Problem problem) noexcept;

// The problem that an objective is for; kUnknown for ranking and the like.
Problem ProblemOf(std::string_view objective) noexcept;

// What is known about a run of XGBoost up to a step; bounded, however many
// steps there are. One thread at a time.
class XgboostReportData {
 public:
  using Series = std::vector<std::pair<double, double>>;  // Step and value.
  static constexpr size_t kMostPoints = 10'000;

  // Adds a point to what is shown over the steps. If there are too many, six
  // neighbours become the least and the greatest of them, and one that is not
  // finite if there is any; the first and the last point stay.
  static void AddPoint(Series& series, double step, double value);

  // Takes what the step has; whether that is anything.
  bool Take(StepView& view);

  // By hyperparameters/objective; without it by what labels and predictions
  // look like.
  Problem problem() const;
  bool is_problem_guessed() const { return !objective_.has_value(); }

  int64_t last_step = -1;
  std::map<std::string, std::string> hyperparameters;
  std::map<std::string, Series> metrics;
  // The latest, by type and feature, largest first.
  std::map<std::string, std::vector<std::pair<std::string, double>>> importance;

  // Of the latest step with labels and predictions of as many samples.
  std::vector<double> labels;
  std::vector<double> predictions;  // One for each sample: score or value.
  std::optional<Classification> classification;
  std::optional<RocCurve> roc;
  std::optional<Bins> label_bins;  // Over the first labels.

  // Part of each class's labels that is predicted right, by class.
  std::map<int64_t, Series> class_accuracy;
  // Mean absolute error for the labels of each bin.
  std::map<size_t, Series> bin_error;

  // predictions - labels.
  std::vector<double> Residuals() const;

 private:
  bool TakeHyperparameters(StepView& view);
  bool TakeMetrics(StepView& view);
  bool TakeImportance(StepView& view);
  bool TakePredictions(StepView& view);
  void Judge(const Value& predicted, double step);
  Problem Guess(const Value& predicted) const;

  std::optional<std::string> objective_;
  Problem guess_ = Problem::kUnknown;
};

}  // namespace smdebug::rules
