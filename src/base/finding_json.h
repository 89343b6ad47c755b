#pragma once

#include "smdebug/finding.h"
#include "src/base/json_writer.h"

namespace smdebug::base {

// The finding as an object: step, or null if it is before any, mode, tensor,
// worker, value, threshold and message. JSON has no NaN and no infinities; they
// are texts.
void AppendFinding(const Finding& finding, JsonWriter& json);

}  // namespace smdebug::base
