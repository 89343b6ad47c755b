#pragma once

#include <string>

#include "smdebug/config.h"
#include "src/config/plan.h"

namespace smdebug::cli {

// What a hook with this configuration does: for people, and as JSON.
std::string DescribePlan(const HookConfig& config, const config::Plan& plan);
std::string PlanToJson(const HookConfig& config, const config::Plan& plan);

}  // namespace smdebug::cli
