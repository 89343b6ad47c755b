#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "smdebug/action.h"

namespace smdebug::actions {

// A kind of action: how users write it, and how it is made.
struct ActionType {
  // As users write it, in any letter case, and the audit trail has it.
  std::string_view name;
  // As the action_json of smdebug 1.0 has it, if that differs.
  std::string_view json_name = {};
  // All that users may write on a command line, such as "email:ADDRESS".
  std::string_view forms;
  // Keys of action_json that hold the target, "endpoint" among them for Python;
  // if all are missing, the first is asked for.
  std::vector<std::string_view> target_keys;
  // The key that is asked for instead and becomes ActionSpec::job_prefix.
  std::string_view prefix_key = {};
  // Whether the name alone is no action.
  bool needs_target = true;
  // Which targets are allowed, and the same in words.
  bool (*is_allowed)(std::string_view target);
  std::string_view allowed;
  // MakeAction() of this kind, after is_allowed().
  std::unique_ptr<Action> (*make)(const ActionSpec& spec,
                                  const ActionOptions& options);
};

// One function for each kind, defined in the file of its name.
#define SMDEBUG_ACTION(Name) ActionType Name##Type();
#include "src/actions/actions.def"
#undef SMDEBUG_ACTION

// Every kind there is.
std::span<const ActionType> ActionTypes();

// The kind that is called so, in any letter case; null if none is.
const ActionType* FindActionType(std::string_view name);

// "stop, stop:PID, ... or exec:COMMAND": the forms of all kinds.
std::string ActionForms();

// The same, and which kind `name`, that none is called, may have meant.
std::string AllowedActions(std::string_view name);

// Throws ConfigError if the target is not allowed.
void CheckTarget(const ActionType& type, std::string_view target);

// The actions of `json`, an action_json. What of it is no action goes to
// `leave_out`, as it is written, with the reason.
using LeaveOut =
    std::function<void(const std::string& part, const std::string& why)>;
std::vector<ActionSpec> ReadActionJson(std::string_view json,
                                       const LeaveOut& leave_out);

}  // namespace smdebug::actions
