#pragma once

#include <optional>
#include <string_view>

#include "smdebug/action.h"

namespace smdebug::actions {

// The kind that is called so, in any letter case.
std::optional<ActionKind> FindKind(std::string_view name);

// Throws ConfigError if the target is not of the form that its kind needs.
void CheckTarget(const ActionSpec& spec);

}  // namespace smdebug::actions
