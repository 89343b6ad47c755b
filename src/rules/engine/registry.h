#pragma once

#include "smdebug/rule.h"

namespace smdebug::rules {

// The built-in of that name, in any letter case. Throws ConfigError, naming
// those there are.
const RuleType& RequireRule(std::string_view name);

// The same of a spec; one of a file is refused.
const RuleType& RequireRule(const RuleSpec& spec);

// Throws InsufficientInformation for a rule that compares with another run and
// has none.
void RequireOtherTrial(const RuleType& type, bool has_one);

}  // namespace smdebug::rules
