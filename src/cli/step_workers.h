#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "smdebug/trial.h"

namespace smdebug::cli {

// Names of the workers that saved something at global step `step`, in order.
std::vector<std::string> StepWorkers(Trial& trial, int64_t step);

}  // namespace smdebug::cli
