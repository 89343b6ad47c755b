#include "src/rules/reports/xgboost_report_page.h"

#include <algorithm>

#include <fmt/format.h>

#include "src/rules/reports/html_parts.h"
#include "src/rules/reports/svg_chart.h"

namespace smdebug::rules {
namespace {

using Data = XgboostReportData;

constexpr size_t kMostBars = 20;     // Features in a chart.
constexpr size_t kMostClasses = 30;  // In the confusion matrix.
constexpr size_t kShownResidualBins = 20;

// First, last, least and most of each line.
std::string SeriesTable(std::string_view caption,
                        const std::vector<ChartLine>& lines) {
  std::vector<Row> rows;
  for (const ChartLine& line : lines) {
    if (line.points.empty()) continue;
    const auto [least, most] = std::ranges::minmax(
        line.points, {}, &std::pair<double, double>::second);
    rows.push_back({line.name, NumberText(line.points.front().second),
                    NumberText(line.points.back().second),
                    NumberText(least.second), NumberText(most.second)});
  }
  return Table(caption, {"", "First", "Last", "Least", "Most"}, rows);
}

std::string Metrics(const Data& data) {
  // "train-rmse" and "validation-rmse" belong in one chart.
  std::map<std::string, std::vector<ChartLine>> charts;
  for (const auto& [name, series] : data.metrics) {
    const size_t place = name.find('-');
    charts[place == std::string::npos ? name : name.substr(place + 1)]
        .push_back({name, series});
  }
  std::string body;
  for (const auto& [metric, lines] : charts) {
    body += Pair(LineChart({metric + " over the steps", "Step", metric}, lines),
                 SeriesTable(metric, lines));
  }
  return body.empty() ? "" : Section("Metrics", body);
}

std::string Importance(const Data& data) {
  std::string body;
  for (const auto& [type, features] : data.importance) {
    std::vector<Row> rows;
    std::vector<std::pair<std::string, double>> bars;
    for (const auto& [feature, value] : features) {
      rows.push_back({feature, NumberText(value)});
      if (bars.size() < kMostBars) bars.emplace_back(feature, value);
    }
    body += Pair(
        BarChart({"Feature importance by " + type, "Feature", "Part of all"},
                 bars),
        Table("By " + type, {"Feature", "Part of all"}, rows));
  }
  return body.empty() ? "" : Section("Feature importance", body);
}

std::string Distribution(std::string_view title, std::string_view what,
                         const Bins& bins, const std::vector<double>& values) {
  std::vector<Row> rows;
  std::vector<std::pair<std::string, double>> bars;
  const std::vector<int64_t> counts = CountIn(bins, values);
  for (size_t bin = 0; bin < counts.size(); ++bin) {
    const std::string name = NumberText(bins.Edge(bin));
    bars.emplace_back(name, static_cast<double>(counts[bin]));
    rows.push_back(
        {fmt::format("{} to {}", name, NumberText(bins.Edge(bin + 1))),
         std::to_string(counts[bin])});
  }
  return Section(
      title, Pair(BarChart({std::string(title), std::string(what) + ", from",
                            "Samples"},
                           bars),
                  Table(title, {std::string(what), "Samples"}, rows)));
}

std::string Labels(const Data& data) {
  if (data.labels.empty()) return "";
  constexpr std::string_view kTitle = "Distribution of labels";
  if (!data.classification) {
    const auto bins = BinsOver(data.labels, 10);
    return bins ? Distribution(kTitle, "Label", *bins, data.labels) : "";
  }
  std::vector<Row> rows;
  std::vector<std::pair<std::string, double>> bars;
  for (const ClassScores& one : data.classification->classes) {
    bars.emplace_back(std::to_string(one.number),
                      static_cast<double>(one.labels));
    rows.push_back({std::to_string(one.number), std::to_string(one.labels)});
  }
  return Section(kTitle,
                 Pair(BarChart({std::string(kTitle), "Class", "Samples"}, bars),
                      Table(kTitle, {"Class", "Samples"}, rows)));
}

// A cell is the darker the larger its part of the row.
std::string ConfusionSection(const Classification& result) {
  std::vector<int64_t> classes;
  for (const ClassScores& one : result.classes) {
    if (classes.size() < kMostClasses) classes.push_back(one.number);
  }
  std::string html =
      "<div class=\"scroll\" tabindex=\"0\"><table><caption>Rows are labels, "
      "columns are predictions</caption>\n<thead><tr><th scope=\"col\">"
      "Label</th>";
  for (const int64_t number : classes) {
    html += fmt::format("<th scope=\"col\">{}</th>", number);
  }
  html += "</tr></thead>\n<tbody>\n";
  for (const int64_t label : classes) {
    html += fmt::format("<tr><th scope=\"row\">{}</th>", label);
    const auto all = static_cast<double>(
        std::max<int64_t>(result.matrix.Labelled(label), 1));
    for (const int64_t prediction : classes) {
      const auto it = result.matrix.cells().find({label, prediction});
      const int64_t count = it == result.matrix.cells().end() ? 0 : it->second;
      html += fmt::format(
          "<td style=\"background: rgba(var(--mark), {:.2f})\">{}</td>",
          0.5 * static_cast<double>(count) / all, count);
    }
    html += "</tr>\n";
  }
  html += "</tbody></table>";
  if (result.classes.size() > classes.size()) {
    html += fmt::format("<p>The first {} of {} classes.</p>", classes.size(),
                        result.classes.size());
  }
  return Section("Confusion matrix", html + "</div>\n");
}

Row ScoreRow(std::string name, const Scores& scores, int64_t labels) {
  return {std::move(name), NumberText(scores.precision),
          NumberText(scores.recall), NumberText(scores.f1),
          std::to_string(labels)};
}

std::string ClassSections(const Data& data) {
  if (!data.classification) return "";
  const Classification& result = *data.classification;
  std::vector<Row> rows = {
      ScoreRow("micro mean", result.micro, result.matrix.pairs()),
      ScoreRow("macro mean", result.macro, result.matrix.pairs()),
      ScoreRow("weighted mean", result.weighted, result.matrix.pairs())};
  for (const ClassScores& one : result.classes) {
    rows.push_back(
        ScoreRow(fmt::format("class {}", one.number), one.scores, one.labels));
  }
  std::string html = ConfusionSection(result);
  html += Section(
      "Precision, recall and F1",
      fmt::format("<p>Accuracy: {}</p>\n", NumberText(result.accuracy)) +
          Table("At the last step",
                {"", "Precision", "Recall", "F1", "Samples"}, rows));
  std::vector<ChartLine> lines;
  for (const auto& [number, series] : data.class_accuracy) {
    lines.push_back({fmt::format("class {}", number), series});
  }
  std::vector<ChartLine> worst = lines;
  std::ranges::stable_sort(worst, {}, [](const ChartLine& line) {
    return line.points.back().second;
  });
  const std::string_view which =
      lines.size() > kMostLines ? ", the eight worst" : "";
  html +=
      Section("Accuracy of each class over the steps",
              Pair(LineChart({fmt::format("Accuracy of each class{}", which),
                              "Step", "Part of the labels"},
                             worst),
                   SeriesTable("Accuracy", lines)));
  if (!data.roc) return html;
  const std::string area = NumberText(data.roc->area);
  return html +
         Section("ROC curve",
                 Pair(LineChart({"ROC curve, area " + area,
                                 "False positives, part of all negatives",
                                 "True positives, part of all positives"},
                                {{"model", data.roc->points},
                                 {"chance", {{0, 0}, {1, 1}}}}),
                      Table("ROC curve", {"", "Area"},
                            {{"model", area}, {"chance", "0.5"}})));
}

std::string RegressionSections(const Data& data) {
  if (data.problem() != Problem::kRegression || data.predictions.empty()) {
    return "";
  }
  std::string html;
  const std::vector<double> residuals = data.Residuals();
  if (const auto bins = BinsOver(residuals, kShownResidualBins)) {
    html += Distribution("Residuals at the last step", "Prediction - label",
                         *bins, residuals);
  }
  std::vector<ChartLine> lines;
  for (const auto& [bin, series] : data.bin_error) {
    lines.push_back(
        {fmt::format("{} to {}", NumberText(data.label_bins->Edge(bin)),
                     NumberText(data.label_bins->Edge(bin + 1))),
         series});
  }
  std::vector<ChartLine> worst = lines;
  std::ranges::stable_sort(worst, std::greater(), [](const ChartLine& line) {
    return line.points.back().second;
  });
  const std::string_view which =
      lines.size() > kMostLines ? ", the eight worst" : "";
  return html +
         Section(
             "Absolute error by label over the steps",
             Pair(LineChart({fmt::format("Absolute error by label{}", which),
                             "Step", "Mean absolute error"},
                            worst),
                  SeriesTable("Labels", lines)));
}

std::string Hyperparameters(const Data& data) {
  std::vector<Row> rows;
  for (const auto& [name, value] : data.hyperparameters) {
    rows.push_back({name, value});
  }
  return rows.empty() ? ""
                      : Section("Hyperparameters",
                                Table("As given", {"Name", "Value"}, rows));
}

}  // namespace

std::string XgboostReportPage(const XgboostReportData& data) {
  std::string html = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
      "<meta name=\"viewport\" content=\"width=device-width\"/>\n"
      "<title>XGBoost report</title>\n<style>\n{}{}</style>\n</head>\n<body>\n"
      "<h1>XGBoost report</h1>\n<p>Up to step {}. Problem: {}{}.</p>\n",
      PageStyle(), ChartStyle(), data.last_step, ProblemName(data.problem()),
      data.is_problem_guessed() ? ", as labels and predictions look" : "");
  for (const auto section : {Labels, Metrics, Importance, ClassSections,
                             RegressionSections, Hyperparameters}) {
    html += section(data);
  }
  return html + "</body>\n</html>\n";
}

}  // namespace smdebug::rules
