#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "smdebug/invoker.h"
#include "src/rules/engine/python_child.h"

// Rules that classes of Python files define, each in a process of its own. To
// the invoker they are rules like others.
namespace smdebug::rules {

// Loads those of `evaluations` that are of files; null for the others. Throws
// Error, with the reason, if a class cannot be had or does not take the
// parameters, or if `options` are about workers, and Interrupted if
// options.go_on(), which is asked about ten times a second, says so.
std::vector<std::shared_ptr<PythonChild>> LoadPythonRules(
    std::span<const RuleEvaluation> evaluations, const InvokeOptions& options);

// The rule that `child` has loaded for `evaluation`, to judge the run of
// `trial`, and no other that takes its place before the child has opened it.
RuleType PythonRuleType(const RuleEvaluation& evaluation, const Trial& trial,
                        const InvokeOptions& options,
                        std::shared_ptr<PythonChild> child);

}  // namespace smdebug::rules
