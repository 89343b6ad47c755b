#pragma once

#include "smdebug/finding.h"
#include "src/base/json_writer.h"

namespace smdebug::rules {

// The finding as an object: step, or null if it is before any, mode, tensor,
// worker, value, threshold and message. JSON has no NaN and no infinities; they
// are texts.
void AppendFinding(const Finding& finding, base::JsonWriter& json);

}  // namespace smdebug::rules
