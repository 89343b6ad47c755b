#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace smdebug::query {

// Whether `name` is what `pattern` asks for: with '*' (any text) or '?' (any
// character) in it, the whole name must match; without, the name must hold it.
bool MatchesPattern(std::string_view name, std::string_view pattern);

// The names in which any of `regexes` (Python's dialect) matches somewhere; all
// names if there is no regex. Throws ConfigError for a bad one.
std::vector<std::string> KeepMatching(std::vector<std::string> names,
                                      std::span<const std::string> regexes);

}  // namespace smdebug::query
