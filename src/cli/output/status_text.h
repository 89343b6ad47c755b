#pragma once

#include <string>

#include "src/cli/output/terminal.h"
#include "src/query/status.h"

namespace smdebug::cli {

// Whether a job in this state came to a bad end.
bool IsBadEnd(RunState state);

// One screen for a person. Control characters in names and messages, which
// come from files, are shown as '?'. What needs attention is red where the
// terminal takes colour.
std::string StatusText(const query::RunStatus& status,
                       const Terminal& terminal = {});

}  // namespace smdebug::cli
