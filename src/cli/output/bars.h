#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "src/query/value_summary.h"

namespace smdebug::cli {

// One line per bin: its range, a bar and its count, in about `width` columns.
std::string BarsText(const std::vector<query::Bin>& bins, size_t width,
                     bool utf8);

}  // namespace smdebug::cli
