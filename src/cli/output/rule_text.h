#pragma once

#include <string>

#include "smdebug/action.h"
#include "smdebug/invoker.h"
#include "src/cli/output/json_output.h"

namespace smdebug::cli {

// "step 12, train 12, fc.weight: it is so (worker_0)".
std::string FindingText(const Finding& finding);

// "ExplodingTensor: stop 4711: done: sent SIGTERM".
std::string OutcomeText(const std::string& rule, const ActionOutcome& outcome);

// The report as `smdebug check --json` has it.
Json ReportJson(const RuleReport& report);

}  // namespace smdebug::cli
