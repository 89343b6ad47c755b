#include "src/rules/builtin/loss_trend.h"

#include <algorithm>
#include <cmath>

namespace smdebug::rules {
namespace {

constexpr size_t kWindowLosses = 5;
constexpr size_t kLeastLosses = 10;

// A fall of so much of the loss would be progress.
constexpr double kProgress = 0.1;
// A loss this small has converged.
constexpr double kConverged = 0.05;
// Part of the first window's loss that a rise has, at least.
constexpr double kLeastRise = 0.1;

// Standard errors: of a sure fall or rise, of the first loss over the later
// ones, of a difference that would show, and of none.
constexpr double kSureOfTrend = 4;
constexpr double kSureOfFirst = 5;
constexpr double kLikely = 2;
constexpr double kFlat = 0.25;

constexpr double kMedianError = 1.2533;  // Of a normal distribution's median.

double MedianOf(std::vector<double> numbers) {
  const auto middle =
      numbers.begin() + static_cast<int64_t>(numbers.size() / 2);
  std::ranges::nth_element(numbers, middle);
  if (numbers.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(numbers.begin(), middle)) / 2;
}

// The standard deviation of the noise: from differences, so a trend is none.
double NoiseOf(const std::vector<double>& losses) {
  std::vector<double> differences;
  for (size_t i = 1; i < losses.size(); ++i) {
    differences.push_back(losses[i] - losses[i - 1]);
  }
  const double middle = MedianOf(differences);
  for (double& x : differences) x = std::abs(x - middle);
  return 1.4826 / std::sqrt(2.0) * MedianOf(std::move(differences));
}

}  // namespace

LossTrend::Halves LossTrend::Split() const {
  const auto half = static_cast<int64_t>(all_.size() / 2);
  const double noise = NoiseOf(all_);
  Halves halves{
      .first = MedianOf({all_.begin(), all_.begin() + half}),
      .second = MedianOf({all_.begin() + half, all_.end()}),
      .error = kMedianError * noise * std::sqrt(2 / static_cast<double>(half))};
  const double fall = halves.first - halves.second;
  const double fall_of_first = all_.front() - halves.second;
  const double least = options_.least_fall * std::abs(halves.first);
  halves.has_fallen = (fall > kSureOfTrend * halves.error && fall > least) ||
                      (fall_of_first > kSureOfFirst * noise &&
                       fall_of_first > kProgress * std::abs(all_.front()));
  return halves;
}

std::optional<LossTrend::Trouble> LossTrend::Add(int64_t step, double loss) {
  if (!std::isfinite(loss)) return std::nullopt;
  constexpr double kNewest = 0.1;
  constexpr double kDifferenceToNoise = 0.8862;
  if (last_) {
    const double noise = kDifferenceToNoise * std::abs(loss - *last_);
    noise_ = noise_ == 0 ? noise : noise_ + kNewest * (noise - noise_);
  }
  last_ = loss;
  if (window_.empty()) window_start_ = step;
  window_.push_back(loss);
  std::optional<Trouble> trouble;
  if (!has_fallen_) {
    Keep(loss);
    if (seen_ >= next_check_) trouble = CheckFall();
  }
  if (window_.size() >= kWindowLosses &&
      step - window_start_ + 1 >= options_.window_steps) {
    const Window window{.median = MedianOf(window_),
                        .size = static_cast<double>(window_.size()),
                        .noise = noise_};
    window_.clear();
    if (!first_) first_ = window.median;
    if (auto rise = CheckRise(window); rise && !trouble) trouble = rise;
  }
  return trouble;
}

void LossTrend::Keep(double loss) {
  if (seen_++ % stride_ != 0) return;
  all_.push_back(loss);
  if (all_.size() <= kMostKept) return;
  for (size_t i = 1; 2 * i < all_.size(); ++i) all_[i] = all_[2 * i];
  all_.resize((all_.size() + 1) / 2);
  stride_ *= 2;
}

std::optional<LossTrend::Trouble> LossTrend::CheckFall() {
  next_check_ = seen_ + seen_ / 2;
  const Halves halves = Split();
  if (halves.has_fallen) {
    has_fallen_ = true;
    all_.clear();
    return std::nullopt;
  }
  const double fall = halves.first - halves.second;
  const bool flat =
      fall <= kFlat * halves.error &&
      kLikely * halves.error <= kProgress * std::abs(halves.first);
  if (!flat || std::abs(halves.second) < kConverged) return std::nullopt;
  return Trouble{.before = halves.first, .now = halves.second};
}

std::optional<LossTrend::Trouble> LossTrend::CheckRise(const Window& window) {
  if (!best_ || window.median < best_->median) {
    best_ = window;
    windows_above_ = 0;
    return std::nullopt;
  }
  const double rise = window.median - best_->median;
  const double error = kMedianError * best_->noise *
                       std::sqrt(1 / window.size + 1 / best_->size);
  const bool above = window.median >= kConverged &&
                     rise > kSureOfTrend * error &&
                     rise > options_.least_rise * std::abs(best_->median) &&
                     rise > kLeastRise * std::abs(*first_);
  windows_above_ = above ? windows_above_ + 1 : 0;
  if (windows_above_ < 2) return std::nullopt;
  return Trouble{.before = best_->median, .now = window.median, .rises = true};
}

std::optional<LossTrend::Trouble> LossTrend::Finish() const {
  if (has_fallen_ || all_.size() < kLeastLosses) return std::nullopt;
  const Halves halves = Split();
  if (halves.has_fallen || std::abs(halves.second) < kConverged ||
      halves.first - halves.second > kLikely * halves.error) {
    return std::nullopt;
  }
  return Trouble{.before = halves.first, .now = halves.second};
}

}  // namespace smdebug::rules
