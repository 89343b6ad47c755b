#include "src/query/run_names.h"

#include <algorithm>
#include <string_view>

namespace smdebug::query {

std::vector<std::string> NamesOfRuns(const std::vector<std::string>& paths) {
  std::vector<std::string> names;
  for (const std::string& path : paths) {
    const std::string_view whole =
        std::string_view(path).substr(0, path.find_last_not_of('/') + 1);
    names.emplace_back(whole.substr(whole.find_last_of('/') + 1));
  }
  std::vector<std::string> different = names;
  for (size_t i = 0; i < names.size(); ++i) {
    if (std::ranges::count(names, names[i]) > 1) different[i] = paths[i];
  }
  return different;
}

}  // namespace smdebug::query
