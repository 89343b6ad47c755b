#include <charconv>

#include "smdebug/action.h"
#include "src/base/environment.h"
#include "src/base/text.h"

namespace smdebug {
namespace {

// A time in seconds, a fraction maybe; `fallback` if the variable is not set.
std::chrono::milliseconds Seconds(const char* name,
                                  std::chrono::milliseconds fallback) {
  const std::string text = base::GetEnv(name).value_or("");
  if (text.empty()) return fallback;
  const std::string_view digits = base::Trim(text);
  double seconds = -1;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), seconds);
  constexpr double kMost = 1e9;
  const bool is_allowed = error == std::errc() &&
                          end == digits.data() + digits.size() &&
                          seconds >= 0 && seconds <= kMost;
  if (!is_allowed) throw ConfigError(name, text, "seconds, 0 to 1e9");
  return std::chrono::duration_cast<std::chrono::milliseconds>(
      std::chrono::duration<double>(seconds));
}

}  // namespace

ActionOptions ActionOptions::FromEnvironment() {
  ActionOptions options;
  const std::string dry_run =
      base::GetEnv("SMDEBUG_ACTION_DRY_RUN").value_or("");
  if (!dry_run.empty() && dry_run != "0" && dry_run != "1") {
    throw ConfigError("SMDEBUG_ACTION_DRY_RUN", dry_run, "'1' or '0'");
  }
  options.dry_run = dry_run == "1";
  options.interval = Seconds("SMDEBUG_ACTION_INTERVAL", options.interval);
  options.timeout = Seconds("SMDEBUG_ACTION_TIMEOUT", options.timeout);
  options.grace = Seconds("SMDEBUG_STOP_GRACE", options.grace);
  return options;
}

}  // namespace smdebug
