#pragma once

#include <string>
#include <vector>

#include "smdebug/action.h"
#include "smdebug/invoker.h"
#include "src/cli/output/json_output.h"

namespace smdebug::cli {

// "step 12, train 12, fc.weight: it is so (worker_0)".
std::string FindingText(const Finding& finding);

// "ExplodingTensor: stop 4711: done: sent SIGTERM".
std::string OutcomeText(const std::string& rule, const ActionOutcome& outcome);

// Where to find what a rule of `run` has written for people, a line for each.
std::vector<std::string> FileLines(const RuleReport& report,
                                   const std::string& run);

// The report as `smdebug check --json` has it.
Json ReportJson(const RuleReport& report);

}  // namespace smdebug::cli
