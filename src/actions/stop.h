#pragma once

#include <chrono>
#include <memory>

#include "smdebug/action.h"

namespace smdebug::actions {

// Ends a process, a process group, or the job that writes the run.
//
// Throws ConfigError if the process or the group is not there, or is the one
// that this is called in.
std::unique_ptr<Action> MakeStop(const ActionSpec& spec,
                                 std::chrono::milliseconds grace);

}  // namespace smdebug::actions
