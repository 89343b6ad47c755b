#pragma once

#include <string>

#include "src/query/status.h"

namespace smdebug::cli {

// One screen for a person. Control characters in names and messages, which
// come from files, are shown as '?'.
std::string StatusText(const query::RunStatus& status);

}  // namespace smdebug::cli
