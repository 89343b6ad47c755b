#include "smdebug/mode.h"

#include <algorithm>
#include <cctype>

namespace smdebug {

std::optional<Mode> ParseMode(std::string_view name) {
  const auto same_letter = [](char a, char b) {
    return std::toupper(static_cast<unsigned char>(a)) == b;
  };
  for (const Mode mode : kModes) {
    if (std::ranges::equal(name, ModeName(mode), same_letter)) return mode;
  }
  return std::nullopt;
}

}  // namespace smdebug
