#pragma once

#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "smdebug/log.h"

namespace smdebug::base {

// Hands `message` to the sink of SetLogSink(). Never throws.
void Log(LogLevel level, std::string_view message) noexcept;

template <typename... Args>
void LogInfo(fmt::format_string<Args...> format, Args&&... args) {
  Log(LogLevel::kInfo, fmt::format(format, std::forward<Args>(args)...));
}

template <typename... Args>
void LogWarning(fmt::format_string<Args...> format, Args&&... args) {
  Log(LogLevel::kWarning, fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace smdebug::base
