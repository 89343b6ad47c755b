#include "src/query/name_match.h"

#include <algorithm>

#include "src/base/regex.h"

namespace smdebug::query {
namespace {

// Backtracks to the last '*' only, which is enough for patterns of this kind.
bool MatchesGlob(std::string_view name, std::string_view pattern) {
  size_t n = 0;
  size_t p = 0;
  size_t star = std::string_view::npos;
  size_t resume = 0;
  while (n < name.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      resume = n;
    } else if (p < pattern.size() &&
               (pattern[p] == '?' || pattern[p] == name[n])) {
      ++p;
      ++n;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      n = ++resume;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', p) == std::string_view::npos;
}

}  // namespace

bool MatchesPattern(std::string_view name, std::string_view pattern) {
  if (pattern.find_first_of("*?") == std::string_view::npos) {
    return name.find(pattern) != std::string_view::npos;
  }
  return MatchesGlob(name, pattern);
}

std::vector<std::string> KeepMatching(std::vector<std::string> names,
                                      std::span<const std::string> regexes) {
  if (regexes.empty()) return names;
  std::vector<base::Regex> compiled;
  compiled.reserve(regexes.size());
  for (const std::string& regex : regexes) {
    compiled.emplace_back(regex, "regex");
  }
  std::erase_if(names, [&](const std::string& name) {
    return std::ranges::none_of(
        compiled, [&](const auto& regex) { return regex.Search(name); });
  });
  return names;
}

}  // namespace smdebug::query
