#include "src/base/log.h"

#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>

#include "src/base/environment.h"
#include "src/base/mutex.h"
#include "src/base/text.h"

namespace smdebug {
namespace {

base::Mutex& SinkMutex() {
  static base::Mutex mu;
  return mu;
}

LogSink& Sink() {
  static LogSink sink;
  return sink;
}

std::string_view LevelName(LogLevel level) {
  constexpr std::array<std::string_view, 5> kNames = {"DEBUG", "INFO",
                                                      "WARNING", "ERROR", ""};
  return kNames[static_cast<size_t>(level)];
}

LogLevel LevelFromEnvironment(LogLevel fallback) {
  const std::string name =
      base::Lower(base::Trim(base::GetEnv("SMDEBUG_LOG_LEVEL").value_or("")));
  if (name == "debug") return LogLevel::kDebug;
  if (name == "info") return LogLevel::kInfo;
  if (name == "warning") return LogLevel::kWarning;
  if (name == "error" || name == "critical") return LogLevel::kError;
  if (name == "off") return LogLevel::kOff;
  return fallback;
}

}  // namespace

void SetLogSink(LogSink sink) {
  const base::MutexLock lock(SinkMutex());
  Sink() = std::move(sink);
}

LogSink StderrLogSink(LogLevel least) {
  least = LevelFromEnvironment(least);
  return [least](LogLevel level, std::string_view message) {
    if (level < least) return;
    const std::time_t now = std::time(nullptr);
    std::tm parts{};
    localtime_r(&now, &parts);
    std::array<char, 32> stamp{};
    const size_t length =
        std::strftime(stamp.data(), stamp.size(), "%Y-%m-%d %H:%M:%S", &parts);
    fmt::print(stderr, "[{} smdebug {}] {}\n",
               std::string_view(stamp.data(), length), LevelName(level),
               message);
  };
}

namespace base {

void Log(LogLevel level, std::string_view message) noexcept {
  try {
    const MutexLock lock(SinkMutex());
    if (Sink()) Sink()(level, message);
  } catch (...) {
    // A sink must not throw; one that does loses its message, nothing more.
  }
}

}  // namespace base
}  // namespace smdebug
