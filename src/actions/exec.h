#pragma once

#include <chrono>
#include <memory>

#include "smdebug/action.h"

namespace smdebug::actions {

// Runs a command, without a shell, in a process group of its own. It gets
// SMDEBUG_RULE, SMDEBUG_STEP, SMDEBUG_RUN and SMDEBUG_MESSAGE, and the firing
// as JSON on standard input. One that ends with another code than 0, or not
// within `timeout`, has failed; then the group is killed.
std::unique_ptr<Action> MakeExec(const ActionSpec& spec,
                                 std::chrono::milliseconds timeout);

}  // namespace smdebug::actions
