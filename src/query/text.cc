#include "src/query/text.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include <fmt/compile.h>
#include <fmt/format.h>

namespace smdebug::query {

std::string Printable(std::string_view text) {
  std::string clean(text);
  std::ranges::replace_if(
      clean,
      [](char c) {
        const auto byte = static_cast<unsigned char>(c);
        return byte < 0x20 || byte == 0x7F;
      },
      '?');
  return clean;
}

std::string Join(std::span<const std::string> parts,
                 std::string_view separator) {
  return fmt::format("{}", fmt::join(parts, separator));
}

std::string JoinSome(std::span<const std::string> parts, size_t most) {
  if (parts.size() <= most + 1) return Join(parts);
  return fmt::format("{} and {} more", Join(parts.first(most)),
                     parts.size() - most);
}

std::string ShortNumber(double value) {
  constexpr double kLargestWhole = 1e15;  // Exact in a double, and readable.
  if (std::isfinite(value) && std::abs(value) < kLargestWhole &&
      value == std::floor(value)) {
    return fmt::format("{:.0f}", value == 0 ? 0.0 : value);
  }
  return std::isnan(value) ? "nan" : fmt::format("{:.6g}", value);
}

std::string ExactNumber(double value) {
  std::string text;
  AppendExactNumber(value, text);
  return text;
}

void AppendExactNumber(double value, std::string& text) {
  if (std::isnan(value)) {
    text += "nan";  // Without a sign.
  } else {
    fmt::format_to(std::back_inserter(text), FMT_COMPILE("{}"), value);
  }
}

std::string ShapeText(std::span<const int64_t> shape) {
  if (shape.size() == 1) return fmt::format("({},)", shape[0]);
  return fmt::format("({})", fmt::join(shape, ", "));
}

}  // namespace smdebug::query
