#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

namespace smdebug::config {

using Json = nlohmann::json;

// Parses `text`. Throws ConfigFileError, naming `source`, line and column, if
// it is not JSON or nested beyond reason, and ConfigError if an object gives a
// key twice.
Json ParseJson(std::string_view text, std::string_view source);

// The same for a value that is not a file: what is not JSON is a ConfigError of
// the key `key`.
Json ParseJsonValue(std::string_view text, std::string_view key);

// The content of the file at `path`. Throws ConfigFileError.
std::string ReadConfigFile(const std::string& path);

// How `value` reads in an error: strings without quotes, long ones cut.
std::string ShowJson(const Json& value);

// The Read functions convert a value in any of its accepted spellings and
// throw ConfigError, whose key is `key`, for everything else. `value` is not
// null.

// true, false, 0, 1, and the strings "true", "false", "0", "1" in any case.
bool ReadBool(const Json& value, std::string_view key);

// A whole number of at least `least`, as a number or as a string.
int64_t ReadInt(const Json& value, std::string_view key, int64_t least);

// Steps: a number, an array of numbers, or a comma-separated string.
std::vector<int64_t> ReadSteps(const Json& value, std::string_view key);

std::string ReadString(const Json& value, std::string_view key,
                       std::string_view allowed);

// Names: an array of strings or a comma-separated string. Blank items are
// skipped.
std::vector<std::string> ReadNames(const Json& value, std::string_view key);

// The same for regular expressions: a comma inside (), [], {m,n} or after a
// backslash belongs to its expression. Each one is compiled to check it.
std::vector<std::string> ReadRegexes(const Json& value, std::string_view key);

}  // namespace smdebug::config
