#pragma once

#include <cmath>
#include <cstdint>

namespace smdebug::rules {

// Mean and spread of numbers that come one by one. One thread at a time.
class RunningMean {
 public:
  void Add(double x) {
    ++count_;
    const double before = x - mean_;
    mean_ += before / static_cast<double>(count_);
    squares_ += before * (x - mean_);
  }

  int64_t count() const noexcept { return count_; }
  double mean() const noexcept { return mean_; }
  // Of the population.
  double variance() const noexcept {
    return count_ == 0 ? 0 : squares_ / static_cast<double>(count_);
  }
  // How far the mean may be off; 0 for less than two numbers.
  double standard_error() const noexcept {
    return count_ < 2 ? 0
                      : std::sqrt(variance() / static_cast<double>(count_ - 1));
  }

 private:
  int64_t count_ = 0;
  double mean_ = 0;
  double squares_ = 0;
};

}  // namespace smdebug::rules
