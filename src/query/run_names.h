#pragma once

#include <string>
#include <vector>

namespace smdebug::query {

// What to call the runs at `paths`: the last component of each, or the whole
// path of those that share it.
std::vector<std::string> NamesOfRuns(const std::vector<std::string>& paths);

}  // namespace smdebug::query
