#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "smdebug/config.h"
#include "smdebug/error.h"
#include "src/base/regex.h"
#include "src/base/text.h"
#include "src/config/json_text.h"

namespace smdebug::config {
namespace {

// The value as a whole number: 100, "100" and 100.0, but not true or 2.5.
std::optional<int64_t> AsInt(const Json& value) {
  if (value.is_string()) {
    return base::ParseInt(value.get_ref<const std::string&>());
  }
  if (value.is_number_unsigned()) {
    const auto number = value.get<uint64_t>();
    if (std::in_range<int64_t>(number)) return static_cast<int64_t>(number);
    return std::nullopt;
  }
  if (value.is_number_integer()) return value.get<int64_t>();
  if (value.is_number_float()) {
    constexpr double kExact = 9007199254740992.0;  // 2^53
    const double number = value.get<double>();
    if (std::abs(number) <= kExact && number == std::trunc(number)) {
      return static_cast<int64_t>(number);
    }
  }
  return std::nullopt;
}

// The length of the set "[...]" that starts `text`; all of it if it never
// ends. A "]" right after "[" or "[^" is a member of the set.
size_t SetLength(std::string_view text) {
  size_t at = 1;
  if (at < text.size() && text[at] == '^') ++at;
  if (at < text.size() && text[at] == ']') ++at;
  while (at < text.size() && text[at] != ']') at += text[at] == '\\' ? 2 : 1;
  return std::min(at + 1, text.size());
}

// The length of the quantifier "{m,n}" that starts `text`; 1 if there is none,
// as the brace then stands for itself.
size_t QuantifierLength(std::string_view text) {
  const size_t end = text.find_first_not_of("0123456789,", 1);
  return end != std::string_view::npos && text[end] == '}' ? end + 1 : 1;
}

// Splits a list of regular expressions at the commas between them.
std::vector<std::string_view> SplitRegexes(std::string_view text) {
  std::vector<std::string_view> items;
  size_t start = 0;
  size_t open_groups = 0;
  for (size_t at = 0; at < text.size();) {
    size_t length = 1;
    switch (text[at]) {
      case '\\':
        length = 2;
        break;
      case '[':
        length = SetLength(text.substr(at));
        break;
      case '{':
        length = QuantifierLength(text.substr(at));
        break;
      case '(':
        ++open_groups;
        break;
      case ')':
        if (open_groups > 0) --open_groups;
        break;
      case ',':
        if (open_groups == 0) {
          items.push_back(text.substr(start, at - start));
          start = at + 1;
        }
        break;
      default:
        break;
    }
    at += length;
  }
  items.push_back(text.substr(start));
  return items;
}

// The items of an array of strings, or of a string that `split` takes apart;
// trimmed, without the blank ones.
template <typename Split>
std::vector<std::string> ReadItems(const Json& value, std::string_view key,
                                   std::string_view allowed, Split split) {
  std::vector<std::string> items;
  const auto add = [&items](std::string_view item) {
    item = base::Trim(item);
    if (!item.empty()) items.emplace_back(item);
  };
  if (value.is_string()) {
    for (const auto item : split(value.get_ref<const std::string&>())) {
      add(item);
    }
    return items;
  }
  if (!value.is_array()) throw ConfigError(key, ShowJson(value), allowed);
  for (const Json& item : value) {
    if (!item.is_string()) throw ConfigError(key, ShowJson(item), allowed);
    add(item.get_ref<const std::string&>());
  }
  return items;
}

}  // namespace

bool ReadBool(const Json& value, std::string_view key) {
  if (value.is_boolean()) return value.get<bool>();
  if (value.is_number_integer() && value == 0) return false;
  if (value.is_number_integer() && value == 1) return true;
  if (value.is_string()) {
    const std::string text = base::Lower(base::Trim(value.get<std::string>()));
    if (text == "true" || text == "1") return true;
    if (text == "false" || text == "0") return false;
  }
  throw ConfigError(key, ShowJson(value), "true or false");
}

int64_t ReadInt(const Json& value, std::string_view key, int64_t least) {
  const std::optional<int64_t> number = AsInt(value);
  if (!number || *number < least) {
    throw ConfigError(key, ShowJson(value),
                      fmt::format("a whole number of at least {}", least));
  }
  return *number;
}

std::vector<int64_t> ReadSteps(const Json& value, std::string_view key) {
  constexpr std::string_view kAllowed =
      "steps of at least 0, as an array or separated by commas";
  std::vector<int64_t> steps;
  const auto add = [&](const std::optional<int64_t>& step,
                       const std::string& shown) {
    if (!step || *step < 0) throw ConfigError(key, shown, kAllowed);
    steps.push_back(*step);
  };
  if (value.is_string()) {
    for (const auto item :
         base::SplitAtCommas(value.get_ref<const std::string&>())) {
      add(base::ParseInt(item), ShowJson(value));
    }
  } else if (value.is_array()) {
    for (const Json& item : value) add(AsInt(item), ShowJson(item));
  } else {
    add(AsInt(value), ShowJson(value));
  }
  return steps;
}

std::string ReadString(const Json& value, std::string_view key,
                       std::string_view allowed) {
  if (!value.is_string() || value.get_ref<const std::string&>().empty()) {
    throw ConfigError(key, ShowJson(value), allowed);
  }
  return value.get<std::string>();
}

std::vector<std::string> ReadNames(const Json& value, std::string_view key) {
  return ReadItems(value, key,
                   "names, as an array of strings or separated by commas",
                   base::SplitAtCommas);
}

std::vector<std::string> ReadRegexes(const Json& value, std::string_view key) {
  std::vector<std::string> patterns =
      ReadItems(value, key,
                "regular expressions, as an array of strings or separated by "
                "commas",
                SplitRegexes);
  for (const std::string& pattern : patterns) {
    const base::Regex compiles(pattern, key);
  }
  return patterns;
}

}  // namespace smdebug::config

namespace smdebug {

int64_t RequireWholeNumber(std::string_view key, std::string_view text,
                           std::optional<int64_t> least) {
  const std::optional<int64_t> number = base::ParseInt(text);
  if (number && number >= least) return *number;
  std::string allowed = "a whole number";
  if (least) allowed += fmt::format(" of at least {}", *least);
  const std::string_view digits = base::Trim(text);
  if (digits.find_first_not_of("0123456789") == std::string_view::npos &&
      !digits.empty() && !number) {
    allowed +=
        fmt::format(" and at most {}", std::numeric_limits<int64_t>::max());
  }
  throw ConfigError(key, text, allowed);
}

std::vector<int64_t> StepsFromJson(std::string_view key,
                                   std::string_view json) {
  return config::ReadSteps(config::ParseJsonValue(json, key), key);
}

}  // namespace smdebug
