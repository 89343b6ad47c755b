#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace smdebug::rules {

// Whether a noisy loss falls, in the whole of what was seen of it: what robust
// rules ask in place of comparing two losses. Medians keep single outliers out,
// and differences from one loss to the next tell the noise. Numbers that are
// not finite are passed over.
//
// A loss that has once surely fallen is never said not to fall; then it is
// asked whether it rises: two windows in a row surely above the best one.
//
// Of a loss that does not fall kMostKept are remembered at most: of more, every
// second, fourth and so on from the first one on. One thread at a time.
class LossTrend {
 public:
  static constexpr size_t kMostKept = 65'536;

  struct Options {
    int64_t window_steps = 10;  // A window spans so many steps, at least.
    double least_fall = 0.001;  // Part of the loss.
    double least_rise = 0.05;   // Part of the best window's loss.
  };

  explicit LossTrend(const Options& options) : options_(options) {}

  // What is wrong: medians that were compared.
  struct Trouble {
    double before = 0;
    double now = 0;
    bool rises = false;
  };

  std::optional<Trouble> Add(int64_t step, double loss);

  // The verdict over everything, at the end of a run.
  std::optional<Trouble> Finish() const;

  // How many losses are remembered.
  size_t kept() const noexcept { return all_.size(); }

 private:
  // The first half of the losses against the second.
  struct Halves {
    double first = 0;
    double second = 0;
    double error = 0;  // Of their difference.
    bool has_fallen = false;
  };

  struct Window {
    double median = 0;
    double size = 0;
    double noise = 0;
  };

  void Keep(double loss);
  Halves Split() const;
  std::optional<Trouble> CheckFall();
  std::optional<Trouble> CheckRise(const Window& window);

  const Options options_;
  std::vector<double> all_;  // Every stride_-th, until it has fallen.
  size_t seen_ = 0;          // Likewise, how many there were.
  size_t stride_ = 1;
  std::vector<double> window_;  // Since window_start_.
  int64_t window_start_ = 0;
  size_t next_check_ = 100;  // How many losses to have seen then.
  bool has_fallen_ = false;
  std::optional<double> last_;
  double noise_ = 0;             // Standard deviation, lately.
  std::optional<double> first_;  // Median of the first window.
  std::optional<Window> best_;
  int64_t windows_above_ = 0;  // In a row.
};

}  // namespace smdebug::rules
