#pragma once

#include "smdebug/rule.h"

// One function for each built-in rule, defined in the file of its name.
namespace smdebug::rules {

RuleType VanishingGradientType();

}  // namespace smdebug::rules
