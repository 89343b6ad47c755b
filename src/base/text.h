#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace smdebug::base {

// `text` without blanks at either end.
inline std::string_view Trim(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  const size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

// ASCII's letters in lower case, whatever the locale is.
inline char Lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}
inline std::string Lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = Lower(c);
  return lower;
}

// "1 step", "2 steps", "0 steps".
inline std::string Counted(int64_t count, std::string_view noun) {
  std::string text = std::to_string(count) + ' ';
  text.append(noun);
  return count == 1 ? text : text + 's';
}

// The verb for so many.
inline std::string_view IsOrAre(int64_t count) {
  return count == 1 ? "is" : "are";
}

// The parts between commas, as they are; one if there is no comma.
inline std::vector<std::string_view> SplitAtCommas(std::string_view text) {
  std::vector<std::string_view> parts;
  while (true) {
    const size_t comma = text.find(',');
    parts.push_back(text.substr(0, comma));
    if (comma == std::string_view::npos) return parts;
    text.remove_prefix(comma + 1);
  }
}

// The whole of `text`, trimmed, as a decimal number with an optional sign;
// nullopt for anything else or out of range.
inline std::optional<int64_t> ParseInt(std::string_view text) {
  text = Trim(text);
  if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
  int64_t value = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) {
    return std::nullopt;
  }
  return value;
}

}  // namespace smdebug::base
