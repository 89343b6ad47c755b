#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "src/query/series.h"

namespace smdebug::cli {

struct ChartOptions {
  size_t width = 80;   // Columns, labels included.
  size_t height = 16;  // Rows of the curve itself.
  bool utf8 = true;
  bool colour = false;  // What is not finite is red.
};

// A curve, and what to call it.
struct ChartLine {
  std::string name = {};
  query::Series series = {};  // Not empty.
};

// As many as there are signs to draw them with.
inline constexpr size_t kMostChartLines = 31;

// Curves with their axes: at least one, and kMostChartLines at most. A line
// breaks at values that are not finite; an infinity is marked at its edge, NaN
// in a row of its own below the curves, and a last line counts them. Several
// lines are each drawn with a sign of their own, or that of all where they
// meet, and a legend below names them.
std::string ChartText(std::span<const ChartLine> lines,
                      const ChartOptions& options);

}  // namespace smdebug::cli
