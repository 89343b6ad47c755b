#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "smdebug/config.h"

namespace smdebug::config {

// "native", "pytorch", "tensorflow", "mxnet" or "xgboost".
std::string_view FrameworkName(Framework framework) noexcept;

// All of them, in that order.
std::vector<std::string> FrameworkNames();

// The inverse of FrameworkName; nullopt for any other text.
std::optional<Framework> ParseFramework(std::string_view name);

// When a hook of `framework` saves if nothing is configured: every 500 steps,
// and every 10 for XGBoost, whose steps are whole trees.
SaveConfigMode DefaultSchedule(Framework framework);

// The collections that a hook of `framework` saves whatever is configured.
std::span<const std::string_view> DefaultIncluded(Framework framework);

// Whether `name` is a collection that `framework` fills by itself, so that it
// needs neither regex nor tensor names.
bool IsFilledByFramework(Framework framework, std::string_view name);

}  // namespace smdebug::config
