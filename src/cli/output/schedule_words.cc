#include "src/cli/output/schedule_words.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace smdebug::cli {
namespace {

// Whether the interval hits any step between start and end.
bool IntervalSaves(const SaveConfigMode& schedule) {
  if (!schedule.end_step) return true;
  const int64_t interval = std::max<int64_t>(1, schedule.save_interval);
  const int64_t past = schedule.start_step % interval;
  const int64_t until_first = past == 0 ? 0 : interval - past;
  return schedule.start_step < *schedule.end_step &&
         until_first < *schedule.end_step - schedule.start_step;
}

std::string IntervalInWords(const SaveConfigMode& schedule) {
  std::string words =
      schedule.save_interval == 1
          ? "every step"
          : fmt::format("every {} steps", schedule.save_interval);
  if (schedule.start_step > 0) {
    words += fmt::format(" from {}", schedule.start_step);
  }
  if (schedule.end_step) words += fmt::format(" before {}", *schedule.end_step);
  return words;
}

}  // namespace

std::string InWords(const SaveConfigMode& schedule) {
  const bool by_interval = IntervalSaves(schedule);
  if (schedule.save_steps.empty()) {
    return by_interval ? IntervalInWords(schedule) : "never";
  }
  std::vector<int64_t> steps = schedule.save_steps;
  std::ranges::sort(steps);
  steps.erase(std::unique(steps.begin(), steps.end()), steps.end());
  std::string words = fmt::format("at {}", fmt::join(steps, ", "));
  if (by_interval) words += " and " + IntervalInWords(schedule);
  return words;
}

}  // namespace smdebug::cli
