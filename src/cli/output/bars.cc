#include "src/cli/output/bars.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include <fmt/format.h>

#include "src/cli/output/text.h"

namespace smdebug::cli {
namespace {

using query::Bin;

// A bar of `eighths` / 8 columns.
std::string Bar(size_t eighths, bool utf8) {
  if (!utf8) return std::string((eighths + 4) / 8, '#');
  static constexpr std::array<std::string_view, 8> kParts = {"",
                                                             "\xE2\x96\x8F",
                                                             "\xE2\x96\x8E",
                                                             "\xE2\x96\x8D",
                                                             "\xE2\x96\x8C",
                                                             "\xE2\x96\x8B",
                                                             "\xE2\x96\x8A",
                                                             "\xE2\x96\x89"};
  std::string bar;
  for (size_t i = 0; i < eighths / 8; ++i) bar += "\xE2\x96\x88";
  bar += kParts[eighths % 8];
  return bar;
}

}  // namespace

std::string BarsText(const std::vector<Bin>& bins, size_t width, bool utf8) {
  size_t low_width = 0;
  size_t high_width = 0;
  size_t count_width = 0;
  int64_t largest = 1;
  for (const Bin& bin : bins) {
    low_width = std::max(low_width, ShortNumber(bin.low).size());
    high_width = std::max(high_width, ShortNumber(bin.high).size());
    count_width = std::max(count_width, fmt::format("{}", bin.count).size());
    largest = std::max(largest, bin.count);
  }
  const bool single = !bins.empty() && bins[0].low == bins[0].high;
  const size_t label = single ? low_width : low_width + 4 + high_width;
  const size_t taken = label + count_width + 6;
  const size_t bar = width > taken + 10 ? width - taken : 10;
  std::string text;
  for (const Bin& bin : bins) {
    text += "  ";
    text += single ? fmt::format("{:>{}}", ShortNumber(bin.low), low_width)
                   : fmt::format("{:>{}} .. {:<{}}", ShortNumber(bin.low),
                                 low_width, ShortNumber(bin.high), high_width);
    const double share =
        static_cast<double>(bin.count) / static_cast<double>(largest);
    auto eighths =
        static_cast<size_t>(std::lround(share * static_cast<double>(8 * bar)));
    // What is there must be seen.
    if (bin.count > 0) eighths = std::max<size_t>(eighths, utf8 ? 1 : 8);
    text +=
        fmt::format("  {:>{}}  {}", bin.count, count_width, Bar(eighths, utf8));
    text.erase(text.find_last_not_of(' ') + 1);
    text += '\n';
  }
  return text;
}

}  // namespace smdebug::cli
