#include "src/rules/reports/xgboost_report_statistics.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace smdebug::rules {
namespace {

double Ratio(double part, double whole) {
  return whole == 0 ? 0 : part / whole;
}

double Harmonic(double a, double b) { return Ratio(2 * a * b, a + b); }

// Adds `weight` times the scores.
void Accumulate(Scores& sum, const Scores& scores, double weight) {
  sum.precision += weight * scores.precision;
  sum.recall += weight * scores.recall;
  sum.f1 += weight * scores.f1;
}

}  // namespace

Classification Classify(std::span<const int64_t> labels,
                        std::span<const int64_t> predictions) {
  Classification result;
  ConfusionMatrix& matrix = result.matrix;
  for (size_t i = 0; i < std::min(labels.size(), predictions.size()); ++i) {
    if (labels[i] >= 0 && predictions[i] >= 0) {
      matrix.Add(labels[i], predictions[i]);
    }
  }
  if (matrix.pairs() == 0) return result;
  for (const int64_t number : matrix.Classes()) {
    const auto right = static_cast<double>(matrix.Right(number));
    ClassScores one = {.number = number,
                       .labels = matrix.Labelled(number),
                       .predictions = matrix.Predicted(number)};
    one.scores.precision = Ratio(right, static_cast<double>(one.predictions));
    one.scores.recall = Ratio(right, static_cast<double>(one.labels));
    one.scores.f1 = Harmonic(one.scores.precision, one.scores.recall);
    result.classes.push_back(one);
  }
  const auto classes = static_cast<double>(result.classes.size());
  for (const ClassScores& one : result.classes) {
    Accumulate(result.macro, one.scores, 1 / classes);
    Accumulate(
        result.weighted, one.scores,
        static_cast<double>(one.labels) / static_cast<double>(matrix.pairs()));
  }
  // With one label for each sample the three are the same.
  result.accuracy = matrix.Accuracy();
  result.micro = {result.accuracy, result.accuracy, result.accuracy};
  return result;
}

std::optional<RocCurve> MakeRocCurve(std::span<const int64_t> labels,
                                     std::span<const double> scores) {
  if (labels.size() != scores.size()) return std::nullopt;
  if (std::ranges::any_of(scores, [](double x) { return std::isnan(x); })) {
    return std::nullopt;
  }
  const auto positives = std::ranges::count(labels, 1);
  const auto negatives = std::ranges::count(labels, 0);
  if (positives == 0 || negatives == 0) return std::nullopt;
  std::vector<size_t> order(scores.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(
      order, [&](size_t a, size_t b) { return scores[a] > scores[b]; });

  RocCurve curve;
  curve.points.emplace_back(0, 0);
  double found = 0;
  double mistaken = 0;
  for (size_t i = 0; i < order.size(); ++i) {
    found += labels[order[i]] == 1 ? 1 : 0;
    mistaken += labels[order[i]] == 0 ? 1 : 0;
    // Equal scores are on the same side of every threshold.
    if (i + 1 < order.size() && scores[order[i]] == scores[order[i + 1]]) {
      continue;
    }
    const std::pair<double, double> point = {
        mistaken / static_cast<double>(negatives),
        found / static_cast<double>(positives)};
    const auto& last = curve.points.back();
    curve.area += (point.first - last.first) * (point.second + last.second) / 2;
    curve.points.push_back(point);
  }
  return curve;
}

size_t Bins::Of(double value) const {
  if (!(value > low) || high <= low) return 0;
  const double place = (value - low) / (high - low);
  return std::min(count - 1, static_cast<size_t>(std::min(place, 1.0) *
                                                 static_cast<double>(count)));
}

std::optional<Bins> BinsOver(std::span<const double> values, size_t count) {
  std::optional<Bins> bins;
  for (const double value : values) {
    if (!std::isfinite(value)) continue;
    if (!bins) bins = Bins{.low = value, .high = value, .count = count};
    bins->low = std::min(bins->low, value);
    bins->high = std::max(bins->high, value);
  }
  if (bins && bins->low == bins->high) bins->count = 1;
  return bins;
}

std::vector<int64_t> CountIn(const Bins& bins, std::span<const double> values) {
  std::vector<int64_t> counts(bins.count);
  for (const double value : values) {
    if (std::isfinite(value)) ++counts[bins.Of(value)];
  }
  return counts;
}

std::vector<std::optional<double>> ErrorIn(
    const Bins& bins, std::span<const double> labels,
    std::span<const double> predictions) {
  std::vector<double> sums(bins.count);
  std::vector<int64_t> counts(bins.count);
  for (size_t i = 0; i < std::min(labels.size(), predictions.size()); ++i) {
    const double error = std::abs(predictions[i] - labels[i]);
    if (!std::isfinite(labels[i]) || !std::isfinite(error)) continue;
    sums[bins.Of(labels[i])] += error;
    ++counts[bins.Of(labels[i])];
  }
  std::vector<std::optional<double>> errors(bins.count);
  for (size_t bin = 0; bin < bins.count; ++bin) {
    if (counts[bin] > 0) {
      errors[bin] = sums[bin] / static_cast<double>(counts[bin]);
    }
  }
  return errors;
}

}  // namespace smdebug::rules
