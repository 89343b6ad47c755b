#include "src/rules/reports/xgboost_report_data.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "src/rules/builtin/classes.h"
#include "src/rules/builtin/elements.h"

namespace smdebug::rules {
namespace {

constexpr size_t kLabelBins = 10;
constexpr std::string_view kObjective = "hyperparameters/objective";

// A saved hyperparameter as text.
std::string TextOf(const Value& value) {
  if (value.dtype() == DType::kString) {
    return fmt::format("{}", fmt::join(value.strings(), ", "));
  }
  std::vector<std::string> numbers;
  ForEach(value, [&](double x) { numbers.push_back(fmt::format("{:g}", x)); });
  return fmt::format("{}", fmt::join(numbers, ", "));
}

bool AllWhole(const std::vector<double>& values) {
  return std::ranges::all_of(
      values, [](double x) { return x >= 0 && x == std::floor(x); });
}

std::vector<int64_t> Whole(const std::vector<double>& values) {
  std::vector<int64_t> classes;
  classes.reserve(values.size());
  for (const double value : values) {
    classes.push_back(value >= 0 && value < 1e9 ? static_cast<int64_t>(value)
                                                : kNoClass);
  }
  return classes;
}

// The value of the tensor of that name, else of the first of that collection.
std::optional<Value> FirstOf(StepView& view, const std::string& name) {
  const std::vector<std::string> found =
      view.Select({.collections = {name}, .regexes = {"^" + name + "$"}});
  if (found.empty()) return std::nullopt;
  return view.At(std::ranges::find(found, name) != found.end() ? name
                                                               : found.front());
}

}  // namespace

std::string_view ProblemName(Problem problem) noexcept {
  switch (problem) {
    case Problem::kBinary:
      return "binary";
    case Problem::kMulticlass:
      return "multiclass";
    case Problem::kRegression:
      return "regression";
    case Problem::kUnknown:
      break;
  }
  return "unknown";
}

Problem ProblemOf(std::string_view objective) noexcept {
  if (objective.starts_with("binary:")) return Problem::kBinary;
  if (objective.starts_with("multi:")) return Problem::kMulticlass;
  for (const std::string_view family : {"reg:", "count:", "survival:"}) {
    if (objective.starts_with(family)) return Problem::kRegression;
  }
  return Problem::kUnknown;
}

void XgboostReportData::AddPoint(Series& series, double step, double value) {
  series.emplace_back(step, value);
  if (series.size() <= kMostPoints) return;
  constexpr size_t kGroup = 6;
  const size_t last = series.size() - 1;
  size_t kept = 1;
  for (size_t begin = 1; begin < last; begin += kGroup) {
    const size_t end = std::min(begin + kGroup, last);
    std::optional<size_t> least;
    std::optional<size_t> greatest;
    std::optional<size_t> lost;
    for (size_t i = begin; i < end; ++i) {
      const double one = series[i].second;
      if (!std::isfinite(one)) {
        lost = lost.value_or(i);
        continue;
      }
      if (!least || one < series[*least].second) least = i;
      if (!greatest || one > series[*greatest].second) greatest = i;
    }
    // They are moved forwards, so none is overwritten before it is read.
    for (size_t i = begin; i < end; ++i) {
      if (i == least || i == greatest || i == lost) series[kept++] = series[i];
    }
  }
  series[kept++] = series[last];
  series.resize(kept);
}

bool XgboostReportData::Take(StepView& view) {
  bool any = TakeHyperparameters(view);
  any |= TakeMetrics(view);
  any |= TakeImportance(view);
  any |= TakePredictions(view);
  if (any) last_step = view.step();
  return any;
}

bool XgboostReportData::TakeHyperparameters(StepView& view) {
  bool any = false;
  for (const std::string& name :
       view.Select({.collections = {"hyperparameters"},
       .regexes = {"^hyperparameters/"}})) {
    const auto value = view.At(name);
    if (!value) continue;
    any = true;
    hyperparameters[name.substr(name.find('/') + 1)] = TextOf(*value);
    if (name == kObjective) objective_ = TextOf(*value);
  }
  if (!objective_) {
    // They are saved once, perhaps before the first step that is judged.
    if (const auto place = view.Before(kObjective, view.step())) {
      if (const auto value = view.ValueAt(kObjective, place->step)) {
        objective_ = TextOf(*value);
        hyperparameters["objective"] = *objective_;
      }
    }
  }
  return any;
}

bool XgboostReportData::TakeMetrics(StepView& view) {
  bool any = false;
  for (const std::string& name :
       view.Select({.collections = {"metrics", "losses"}})) {
    const auto value = view.Reduce(name, {ReductionOp::kMean});
    if (!value) continue;
    any = true;
    AddPoint(metrics[name], static_cast<double>(view.step()), *value);
  }
  return any;
}

bool XgboostReportData::TakeImportance(StepView& view) {
  decltype(importance) now;
  for (const std::string& name :
       view.Select({.collections = {"feature_importance"},
       .regexes = {"^feature_importance/"}})) {
    const size_t type = name.find('/');
    const size_t feature = name.find('/', type + 1);
    const auto value = view.Reduce(name, {ReductionOp::kMean});
    if (type == std::string::npos || feature == std::string::npos || !value) {
      continue;
    }
    now[name.substr(type + 1, feature - type - 1)].emplace_back(
        name.substr(feature + 1), *value);
  }
  for (auto& [type, features] : now) {
    std::ranges::stable_sort(features, [](const auto& a, const auto& b) {
      return a.second > b.second;
    });
    importance[type] = std::move(features);
  }
  return !now.empty();
}

bool XgboostReportData::TakePredictions(StepView& view) {
  if (const auto value = FirstOf(view, "labels")) {
    std::vector<double> numbers = Numbers(*value);
    if (!numbers.empty()) labels = std::move(numbers);
  }
  const auto predicted = FirstOf(view, "predictions");
  if (!predicted || labels.empty()) return false;
  const auto samples = static_cast<size_t>(BatchOf(*predicted).samples);
  if (samples != labels.size()) return false;
  Judge(*predicted, static_cast<double>(view.step()));
  return true;
}

void XgboostReportData::Judge(const Value& predicted, double step) {
  guess_ = Guess(predicted);
  const std::vector<double> numbers = Numbers(predicted);
  predictions =
      numbers.size() == labels.size() ? numbers : std::vector<double>();
  if (!label_bins) label_bins = BinsOver(labels, kLabelBins);
  const Problem kind = problem();
  classification.reset();
  roc.reset();
  if (kind == Problem::kBinary && !predictions.empty()) {
    // Margins are above 0 for class 1, probabilities above a half.
    const double limit = objective_ == "binary:logitraw" ? 0 : 0.5;
    std::vector<int64_t> classes;
    for (const double score : predictions) classes.push_back(score >= limit);
    classification = Classify(Whole(labels), classes);
    roc = MakeRocCurve(Whole(labels), predictions);
  } else if (kind == Problem::kMulticlass) {
    classification = Classify(Whole(labels), HasClassAxis(predicted)
                                                 ? LargestOfLastAxis(predicted)
                                                 : NearestClasses(predicted));
  } else if (kind == Problem::kRegression && label_bins &&
             !predictions.empty()) {
    const auto errors = ErrorIn(*label_bins, labels, predictions);
    for (size_t bin = 0; bin < errors.size(); ++bin) {
      if (errors[bin]) AddPoint(bin_error[bin], step, *errors[bin]);
    }
  }
  if (!classification) return;
  for (const ClassScores& one : classification->classes) {
    if (one.labels == 0) continue;
    AddPoint(class_accuracy[one.number], step, one.scores.recall);
  }
}

Problem XgboostReportData::Guess(const Value& predicted) const {
  if (HasClassAxis(predicted)) return Problem::kMulticlass;
  if (!AllWhole(labels)) return Problem::kRegression;
  const std::vector<double> numbers = Numbers(predicted);
  const bool are_parts =
      std::ranges::all_of(numbers, [](double x) { return x >= 0 && x <= 1; });
  if (std::ranges::max(labels) <= 1 && are_parts) return Problem::kBinary;
  return AllWhole(numbers) ? Problem::kMulticlass : Problem::kRegression;
}

Problem XgboostReportData::problem() const {
  return objective_ ? ProblemOf(*objective_) : guess_;
}

std::vector<double> XgboostReportData::Residuals() const {
  std::vector<double> residuals;
  for (size_t i = 0; i < std::min(labels.size(), predictions.size()); ++i) {
    residuals.push_back(predictions[i] - labels[i]);
  }
  return residuals;
}

}  // namespace smdebug::rules
