#pragma once

#include <span>
#include <string>

#include "smdebug/invoker.h"

namespace smdebug::cli {

// The reports in JUnit's XML: a test case each.
std::string JunitText(std::span<const RuleReport> reports,
                      const std::string& run);

}  // namespace smdebug::cli
