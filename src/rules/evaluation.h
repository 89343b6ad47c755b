#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "smdebug/rule.h"

namespace smdebug::rules {

// One rule to be evaluated over a run: which, under which name, and what the
// evaluator itself is told by parameters that are not the rule's.
struct Evaluation {
  std::string name;  // Names its report.
  RuleSpec spec = {};
  // start_step and end_step; the latter is not judged itself.
  std::optional<int64_t> start_step = {};
  std::optional<int64_t> end_step = {};
  // other_trials, or other_trial_0, other_trial_1, ...: paths.
  std::vector<std::string> other_trials = {};
  // action_json, as it was given: what to do when the rule fires.
  std::optional<std::string> action_json = {};
};

// `spec`, with what is meant for the evaluator taken out of its parameters. The
// rule is named as its type is. Throws ConfigError for an unknown rule and for
// a value that is not allowed.
Evaluation ToEvaluation(RuleSpec spec);

// The rules of a file in the form of SageMaker's DebugRuleConfigurations: the
// list itself, or an object that has it under that key; an item is an object
// with RuleConfigurationName and RuleParameters, of which rule_to_invoke names
// the rule, or one that has such an object as "DebugRuleConfiguration". Throws
// ConfigFileError, naming `file`, for what is not of that form, and ConfigError
// as ToEvaluation() does.
std::vector<Evaluation> ParseRuleConfigurations(std::string_view json,
                                                std::string_view file);

// Gives evaluations of the same name a number: "Name", "Name-2", ...
void MakeNamesUnique(std::vector<Evaluation>& evaluations);

// The rule and its parameters on one line, the same for the same meaning.
std::string Describe(const RuleSpec& spec);

}  // namespace smdebug::rules
