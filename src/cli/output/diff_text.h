#pragma once

#include <string>

#include "src/cli/output/terminal.h"
#include "src/query/run_compare.h"

namespace smdebug::cli {

// For people: the first difference, then a summary.
std::string DiffText(const query::RunComparison& result,
                     const Terminal& terminal);

}  // namespace smdebug::cli
