#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "smdebug/action.h"
#include "smdebug/invoker.h"

namespace smdebug::actions {

// What is done when rules fire: the actions that the user asked
// for, for every rule, and those of each rule's own action_json.
//
// One thread at a time.
class FireActions {
 public:
  // `actions` are as ParseAction() takes them, `run` is the path of the run.
  // Throws ConfigError for an action that is not allowed.
  FireActions(std::span<const std::string> actions, bool dry_run,
              std::string run);

  // Takes over the action_json of a rule. False if it has one that holds
  // nothing that can be done.
  bool Add(const RuleEvaluation& evaluation);

  // Does what is to be done, and tells what became of it, without what the rate
  // limit held back.
  std::vector<ActionOutcome> Fire(const RuleFire& fire);

 private:
  const std::string run_;
  const ActionOptions options_;
  ActionSet shared_;
  std::map<std::string, std::unique_ptr<ActionSet>, std::less<>> by_rule_;
};

}  // namespace smdebug::actions
