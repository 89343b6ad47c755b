#pragma once

#include <algorithm>
#include <chrono>

namespace smdebug::base {

// Seconds since the epoch, as event files store wall time.
inline double WallSeconds() {
  return std::chrono::duration<double>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

// `timeout` from now. Below zero counts as zero, and beyond a year as a year,
// so that the largest timeouts do not overflow.
inline std::chrono::steady_clock::time_point DeadlineAfter(
    std::chrono::milliseconds timeout) {
  using std::chrono::milliseconds;
  constexpr milliseconds kYear = std::chrono::hours(24 * 365);
  return std::chrono::steady_clock::now() +
         std::clamp(timeout, milliseconds::zero(), kYear);
}

}  // namespace smdebug::base
