#pragma once

#include <string>

#include "src/cli/json_output.h"
#include "src/cli/run_compare.h"
#include "src/cli/terminal.h"

namespace smdebug::cli {

// For people: the first difference, then a summary.
std::string DiffText(const RunComparison& result, const Terminal& terminal);

// The same facts, whole.
Json DiffJson(const RunComparison& result);

}  // namespace smdebug::cli
