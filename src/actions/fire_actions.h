#pragma once

#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "smdebug/action.h"
#include "smdebug/invoker.h"
#include "smdebug/trial.h"

namespace smdebug::actions {

// Those of the environment; a dry run if either says so. Throws ConfigError.
ActionOptions OptionsFor(bool dry_run);

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

  // Takes over the action_json of a rule. Throws Error, with the rule's name,
  // for any part of it that cannot be done.
  void Add(const RuleEvaluation& evaluation);

  // Does what is to be done about the run that was judged, and says what became
  // of it. Of what the rate limit holds back, only the first time after an
  // action was done.
  std::vector<ActionOutcome> Fire(const RuleFire& fire, const Trial& trial);

  // Whether some action of the rule failed when it was last tried, and is to be
  // tried again by a later call.
  bool HasFailed(std::string_view rule) const;

  // Sentences about actions for which Fire() was never called, and why:
  // no rule fired, or an earlier call has acted already.
  std::vector<std::string> NotDone(std::span<const RuleReport> reports) const;

 private:
  bool HasActions(std::string_view rule) const;

  const std::string run_;
  const ActionOptions options_;
  ActionSet shared_;
  std::map<std::string, std::unique_ptr<ActionSet>, std::less<>> by_rule_;
  std::set<std::string, std::less<>>
      fired_;  // Rules that Fire() was called for.
  // By rule, whether each of its actions failed when it was last tried.
  std::map<std::string, std::vector<bool>, std::less<>> failed_;
};

}  // namespace smdebug::actions
