#include "src/cli/output/text.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include <fmt/format.h>

namespace smdebug::cli {
namespace {

bool StartsCharacter(char c) {
  return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
}

// The byte at which character `index` begins; the size if there are fewer.
size_t ByteOfCharacter(std::string_view text, size_t index) {
  for (size_t i = 0; i < text.size(); ++i) {
    if (StartsCharacter(text[i]) && index-- == 0) return i;
  }
  return text.size();
}

// Of the characters that Paint() adds, which take no place.
size_t EscapeWidth(std::string_view text) {
  size_t width = 0;
  for (size_t at = text.find('\x1B'); at != std::string_view::npos;
       at = text.find('\x1B', at + 1)) {
    width += std::min(text.find('m', at), text.size() - 1) - at + 1;
  }
  return width;
}

}  // namespace

size_t TextWidth(std::string_view text) {
  return static_cast<size_t>(std::ranges::count_if(text, StartsCharacter));
}

std::vector<std::string> WrapWords(std::string_view text, size_t width) {
  width = std::max<size_t>(width, 1);
  std::vector<std::string> lines;
  std::string line;
  while (!text.empty()) {
    const size_t end = std::min(text.find(' '), text.size());
    std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (word.empty()) continue;
    if (!line.empty() && TextWidth(line) + 1 + TextWidth(word) > width) {
      lines.push_back(std::exchange(line, {}));
    }
    while (TextWidth(word) > width) {
      const size_t part = ByteOfCharacter(word, width);
      lines.emplace_back(word.substr(0, part));
      word.remove_prefix(part);
    }
    if (!line.empty()) line += ' ';
    line += word;
  }
  if (!line.empty()) lines.push_back(std::move(line));
  return lines;
}

std::string FitLines(std::string_view text, const Terminal& terminal,
                     size_t indent) {
  if (!terminal.is_terminal) return std::string(text);
  std::string fitted;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string line(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    while (true) {
      const size_t width = terminal.width + EscapeWidth(line);
      if (TextWidth(line) <= width) break;
      const size_t start = line.find_first_not_of(' ');
      size_t at = line.rfind(' ', ByteOfCharacter(line, width));
      if (at == std::string::npos || at < start) at = line.find(' ', start);
      if (at == std::string::npos) break;
      const size_t rest = line.find_first_not_of(' ', at);
      if (rest == std::string::npos) break;
      fitted += line.substr(0, line.find_last_not_of(' ', at) + 1) + '\n';
      line = std::string(indent, ' ') + line.substr(rest);
    }
    fitted += line + '\n';
  }
  return fitted;
}

std::string HumanBytes(uint64_t bytes) {
  constexpr std::array<std::string_view, 6> kUnits = {"KiB", "MiB", "GiB",
                                                      "TiB", "PiB", "EiB"};
  if (bytes < 1024) return fmt::format("{} B", bytes);
  double value = static_cast<double>(bytes) / 1024;
  size_t unit = 0;
  // 1023.95 would print as 1024.0.
  while (value >= 1023.95 && unit + 1 < kUnits.size()) {
    value /= 1024;
    ++unit;
  }
  return fmt::format("{:.1f} {}", value, kUnits[unit]);
}

std::string HumanAge(double seconds) {
  seconds = std::max(seconds, 0.0);
  if (seconds < 120) return fmt::format("{:.0f} s", std::floor(seconds));
  if (seconds < 7200) return fmt::format("{:.0f} min", seconds / 60);
  if (seconds < 172800) return fmt::format("{:.0f} h", seconds / 3600);
  return fmt::format("{:.0f} d", seconds / 86400);
}

}  // namespace smdebug::cli
