#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "smdebug/trial.h"
#include "src/query/json.h"
#include "src/query/open_run.h"

namespace smdebug::query {

// A saved step, and the workers that saved something there, in order.
struct StepInfo {
  StepId id;
  std::vector<std::string> workers;
};

// Names of the workers that saved something at global step `step`, in order.
std::vector<std::string> StepWorkers(Trial& trial, int64_t step);

// `steps` are of `mode`, and saved.
std::vector<StepInfo> ListSteps(Trial& trial, const std::vector<int64_t>& steps,
                                Mode mode);

// One of `smdebug steps --json` (docs/reference/cli.md).
Json ToJson(const StepInfo& step);

}  // namespace smdebug::query
