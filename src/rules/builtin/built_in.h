#pragma once

#include <memory>

#include "smdebug/rule.h"

namespace smdebug::rules {

// One function for each built-in rule, defined in the file of its name.
#define SMDEBUG_RULE(Name) RuleType Name##Type();
#include "src/rules/builtin/rules.def"
#undef SMDEBUG_RULE

// RuleType::make for a rule whose constructor takes its parameters.
template <typename R>
std::unique_ptr<Rule> Make(const RuleParameters& parameters) {
  return std::make_unique<R>(parameters);
}

}  // namespace smdebug::rules
