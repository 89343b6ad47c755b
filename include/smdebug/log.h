#pragma once

#include <functional>
#include <string_view>

namespace smdebug {

enum class LogLevel { kDebug, kInfo, kWarning, kError, kOff };

using LogSink = std::function<void(LogLevel, std::string_view message)>;

// Sends every message of the library to `sink` from now on; an empty sink
// (the default) discards them. The library itself never prints.
//
// `sink` may be called from any thread, one call at a time, and must not throw.
// Thread-safe.
void SetLogSink(LogSink sink);

// A sink that writes `[time level] message` lines of at least `least` to
// standard error. SMDEBUG_LOG_LEVEL (debug, info, warning, error, critical,
// off) overrides `least`.
LogSink StderrLogSink(LogLevel least = LogLevel::kWarning);

}  // namespace smdebug
