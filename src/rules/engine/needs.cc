#include <fmt/format.h>
#include <fmt/ranges.h>

#include "smdebug/rule.h"
#include "smdebug/rule_parameters.h"
#include "src/config/framework.h"
#include "src/config/parameters.h"
#include "src/config/reduction_config.h"
#include "src/config/resolve.h"
#include "src/rules/engine/registry.h"

namespace smdebug {
namespace {

// One regex of all names that the rule looks at for `need`; empty if it goes by
// the collection alone.
std::string NamesFor(const RuleNeed& need, const RuleParameters& parameters,
                     const std::vector<std::string>& documented) {
  std::vector<std::string> names = documented;
  const bool has_selector = !need.selector.empty();
  if (has_selector) names = parameters.List(need.selector);
  if (!need.also.empty() &&
      !(has_selector && parameters.IsGiven(need.selector))) {
    names.push_back(need.also);
  }
  return fmt::format("{}", fmt::join(names, "|"));
}

}  // namespace

std::vector<Collection> CollectionsFor(const RuleSpec& spec,
                                       Framework framework) {
  const RuleType& type = rules::RequireRule(spec);
  const RuleParameters parameters(type, spec);
  HookConfig config = {.framework = framework};
  for (const RuleNeed& need : type.needs) {
    config::Parameters stated;
    for (const auto& [name, value] : need.parameters) {
      config::Apply({.name = name, .value = value, .place = type.name},
                    config::Owner::kCollection, stated);
    }
    const std::string names = NamesFor(need, parameters, stated.include_regex);
    if (names.empty() &&
        config::IsOfOtherFrameworks(framework, need.collection)) {
      continue;
    }
    Collection& collection = EditCollection(config, need.collection);
    if (!names.empty() && collection.include_regex.empty() &&
        !config::IsFilledByFramework(framework, need.collection)) {
      collection.include_regex.push_back(names);
    }
    if (config::HasSchedule(stated)) {
      collection.save_config = config::ResolveSchedule(framework, {&stated});
    }
    collection.reduction_config = config::RawOnly();
  }
  return std::move(config.collections);
}

}  // namespace smdebug
