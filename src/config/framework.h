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

// A package of Python that users train with.
struct PythonFramework {
  std::string_view module;  // As it is imported, such as "torch".
  // The first version that the hook for it supports; empty: it has no hook.
  std::string_view least = {};
};

// All that are looked for. Here, and nowhere else, it is decided which versions
// are supported.
std::span<const PythonFramework> PythonFrameworks();

// Whether `version`, such as "2.1.0+cpu", is one that the hook supports.
bool IsSupported(const PythonFramework& framework, std::string_view version);

// When a hook of `framework` saves if nothing is configured: every 500 steps,
// and every 10 for XGBoost, whose steps are whole trees.
SaveConfigMode DefaultSchedule(Framework framework);

// The collections that a hook of `framework` saves whatever is configured.
std::span<const std::string_view> DefaultIncluded(Framework framework);

// Whether `name` is a collection that `framework` fills by itself, so that it
// needs neither regex nor tensor names.
bool IsFilledByFramework(Framework framework, std::string_view name);

// The frameworks that have a built-in collection `name`.
std::vector<Framework> FrameworksWith(std::string_view name);

// Whether `name` is a built-in collection of other frameworks alone: it may be
// configured anywhere, and takes nothing unless it is given something to take.
bool IsOfOtherFrameworks(Framework framework, std::string_view name);

// Which they are, by name: "tensorflow, xgboost"; empty if it is not of others
// alone.
std::string OtherFrameworks(Framework framework, std::string_view name);

}  // namespace smdebug::config
