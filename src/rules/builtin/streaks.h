#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace smdebug::rules {

// How often in a row something was seen, by name. One thread at a time.
class Streaks {
 public:
  // Notes whether it was seen this time; returns the length of the row.
  int64_t Note(std::string_view name, bool seen) {
    auto it = lengths_.find(name);
    if (it == lengths_.end()) it = lengths_.emplace(name, 0).first;
    it->second = seen ? it->second + 1 : 0;
    return it->second;
  }

 private:
  std::map<std::string, int64_t, std::less<>> lengths_;
};

// What robust rules ask for in place of a single observation.
inline constexpr int64_t kRobustStreak = 3;

}  // namespace smdebug::rules
