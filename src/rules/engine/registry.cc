#include "src/rules/engine/registry.h"

#include "smdebug/error.h"
#include "smdebug/rule_parameters.h"
#include "src/base/text.h"
#include "src/config/nearest.h"
#include "src/rules/builtin/built_in.h"

namespace smdebug {
namespace {

bool EqualIgnoringCase(std::string_view a, std::string_view b) {
  return base::Lower(a) == base::Lower(b);
}

}  // namespace

std::span<const RuleType> BuiltInRules() {
  static const auto& types = *new std::vector<RuleType>{
#define SMDEBUG_RULE(Name) rules::Name##Type(),
#include "src/rules/builtin/rules.def"
#undef SMDEBUG_RULE
  };
  return types;
}

const RuleType* FindRule(std::string_view name) {
  for (const RuleType& type : BuiltInRules()) {
    if (EqualIgnoringCase(type.name, name)) return &type;
  }
  return nullptr;
}

const RuleType& rules::RequireRule(std::string_view name) {
  if (const RuleType* type = FindRule(name)) return *type;
  std::vector<std::string> names;
  for (const RuleType& known : BuiltInRules()) names.push_back(known.name);
  throw ConfigError("rule", name, config::OneOf(name, names));
}

const RuleType& rules::RequireRule(const RuleSpec& spec) {
  if (spec.file.empty()) return RequireRule(spec.name);
  throw ConfigError("rule", Describe(spec),
                    "a built-in rule; rules in Python files are for `smdebug "
                    "check` and `smdebug watch`");
}

void rules::RequireOtherTrial(const RuleType& type, bool has_one) {
  if (has_one || !type.needs_other_trial) return;
  throw InsufficientInformation(
      type.name,
      "another run to compare with is needed: other_trials, or other_trial_0");
}

std::unique_ptr<Rule> MakeRule(const RuleSpec& spec) {
  return MakeRule(rules::RequireRule(spec), spec);
}

std::unique_ptr<Rule> MakeRule(const RuleType& type, const RuleSpec& spec) {
  return type.make(RuleParameters(type, spec));
}

}  // namespace smdebug
