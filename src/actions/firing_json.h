#pragma once

#include <cstddef>
#include <string>

#include "smdebug/action.h"
#include "src/base/json_writer.h"

namespace smdebug::actions {

// The fields of a firing, for an object that is open: rule, run, step, message,
// suppressed and the first `most` findings. NaN and infinities are texts.
void AppendFiring(const Firing& firing, size_t most, base::JsonWriter& json);

// The same as an object of its own, with all findings.
std::string ToJson(const Firing& firing);

}  // namespace smdebug::actions
