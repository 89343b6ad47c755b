#pragma once

#include <chrono>

namespace smdebug::base {

// Seconds since the epoch, as event files store wall time.
inline double WallSeconds() {
  return std::chrono::duration<double>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

}  // namespace smdebug::base
