#pragma once

#include <string>
#include <string_view>

#include "smdebug/config.h"
#include "src/config/json_text.h"

namespace smdebug::config {

// "train.", "eval.", "predict." or "global.": what stands before a parameter
// that is meant for one mode.
std::string_view ModePrefix(Mode mode) noexcept;

// Whether start_step lies beyond end_step, so that the interval could never
// save. An end_step of 0 is the documented way to say so on purpose.
bool StartsAfterEnd(const SaveConfigMode& schedule) noexcept;

// Throws ConfigError for numbers out of range, with the key
// `<place><mode prefix><field>`.
void CheckSaveConfig(const SaveConfig& config, std::string_view place);

// From the object that ToJson() writes, or from one schedule for all modes, as
// old runs have it. `place` starts the keys of errors.
SaveConfig ReadSaveConfig(const Json& value, const std::string& place);

}  // namespace smdebug::config
