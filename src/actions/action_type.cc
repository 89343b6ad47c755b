#include "src/actions/action_type.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "src/base/text.h"
#include "src/config/nearest.h"

namespace smdebug {
namespace actions {

std::span<const ActionType> ActionTypes() {
  static const auto& types = *new std::vector<ActionType>{
#define SMDEBUG_ACTION(Name) Name##Type(),
#include "src/actions/actions.def"
#undef SMDEBUG_ACTION
  };
  return types;
}

const ActionType* FindActionType(std::string_view name) {
  const std::string lower = base::Lower(name);
  if (lower.empty()) return nullptr;
  for (const ActionType& type : ActionTypes()) {
    if (lower == type.name || lower == type.json_name) return &type;
  }
  return nullptr;
}

std::string AllowedActions(std::string_view name) {
  std::vector<std::string> names;
  for (const ActionType& type : ActionTypes()) names.emplace_back(type.name);
  const std::string meant = config::DidYouMean(name, names);
  return ActionForms() + (meant.empty() ? "" : "; " + meant);
}

std::string ActionForms() {
  std::vector<std::string_view> forms;
  for (const ActionType& type : ActionTypes()) forms.push_back(type.forms);
  const std::string_view last = forms.back();
  forms.pop_back();
  return fmt::format("{} or {}", fmt::join(forms, ", "), last);
}

void CheckTarget(const ActionType& type, std::string_view target) {
  if (type.is_allowed(target)) return;
  throw ConfigError(fmt::format("action {}", type.name), target, type.allowed);
}

}  // namespace actions

std::unique_ptr<Action> MakeAction(const ActionSpec& spec,
                                   const ActionOptions& options) {
  const actions::ActionType* type = actions::FindActionType(spec.kind);
  if (type == nullptr) {
    throw ConfigError("action", spec.kind, actions::AllowedActions(spec.kind));
  }
  actions::CheckTarget(*type, spec.target);
  return type->make(spec, options);
}

}  // namespace smdebug
