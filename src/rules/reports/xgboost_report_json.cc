#include <cmath>

#include <nlohmann/json.hpp>

#include "src/rules/reports/xgboost_report_page.h"

namespace smdebug::rules {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kResidualBins = 20;

Json Number(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "Infinity" : "-Infinity";
  return value;
}

Json ToJson(const XgboostReportData::Series& series) {
  Json json = Json::array();
  for (const auto& [x, y] : series) json.push_back({Number(x), Number(y)});
  return json;
}

Json ToJson(const Scores& scores) {
  return {{"precision", scores.precision},
          {"recall", scores.recall},
          {"f1", scores.f1}};
}

Json ToJson(const Bins& bins, const std::vector<double>& values) {
  Json json = Json::array();
  const std::vector<int64_t> counts = CountIn(bins, values);
  for (size_t bin = 0; bin < counts.size(); ++bin) {
    json.push_back({{"from", bins.Edge(bin)},
                    {"to", bins.Edge(bin + 1)},
                    {"samples", counts[bin]}});
  }
  return json;
}

Json ToJson(const Classification& result) {
  Json cells = Json::array();
  for (const auto& [cell, count] : result.matrix.cells()) {
    cells.push_back({{"label", cell.first},
                     {"prediction", cell.second},
                     {"samples", count}});
  }
  Json classes = Json::array();
  for (const ClassScores& one : result.classes) {
    Json json = {{"class", one.number},
                 {"labels", one.labels},
                 {"predictions", one.predictions}};
    json.update(ToJson(one.scores));
    classes.push_back(std::move(json));
  }
  return {
      {"accuracy", result.accuracy},   {"micro", ToJson(result.micro)},
      {"macro", ToJson(result.macro)}, {"weighted", ToJson(result.weighted)},
      {"classes", std::move(classes)}, {"confusion", std::move(cells)}};
}

}  // namespace

std::string XgboostReportJson(const XgboostReportData& data) {
  Json json = {{"last_step", data.last_step},
               {"problem", ProblemName(data.problem())},
               {"problem_guessed", data.is_problem_guessed()}};
  json["hyperparameters"] = data.hyperparameters;
  json["metrics"] = Json::object();
  for (const auto& [name, series] : data.metrics) {
    json["metrics"][name] = ToJson(series);
  }
  json["feature_importance"] = Json::object();
  for (const auto& [type, features] : data.importance) {
    Json& all = json["feature_importance"][type] = Json::object();
    for (const auto& [feature, value] : features) all[feature] = Number(value);
  }
  if (const auto bins = BinsOver(data.labels, 10)) {
    json["labels"] = ToJson(*bins, data.labels);
  }
  if (data.classification) {
    json["classification"] = ToJson(*data.classification);
    for (const auto& [number, series] : data.class_accuracy) {
      json["class_accuracy"][std::to_string(number)] = ToJson(series);
    }
  }
  if (data.roc) {
    json["roc"] = {{"area", data.roc->area},
                   {"points", ToJson(data.roc->points)}};
  }
  if (data.problem() == Problem::kRegression && !data.predictions.empty()) {
    const std::vector<double> residuals = data.Residuals();
    if (const auto bins = BinsOver(residuals, kResidualBins)) {
      json["residuals"] = ToJson(*bins, residuals);
    }
    json["absolute_error"] = Json::array();
    for (const auto& [bin, series] : data.bin_error) {
      json["absolute_error"].push_back({{"from", data.label_bins->Edge(bin)},
                                        {"to", data.label_bins->Edge(bin + 1)},
                                        {"steps", ToJson(series)}});
    }
  }
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace smdebug::rules
