#pragma once

#include <cstddef>
#include <string>

#include "src/query/series.h"

namespace smdebug::cli {

struct ChartOptions {
  size_t width = 80;   // Columns, labels included.
  size_t height = 16;  // Rows of the curve itself.
  bool utf8 = true;
};

// A curve with its axes. The line breaks at values that are not finite; an
// infinity is marked at its edge, NaN in a row of its own below the curve, and
// a last line counts them. `series` is not empty.
std::string ChartText(const query::Series& series, const ChartOptions& options);

}  // namespace smdebug::cli
