#include <string>
#include <string_view>

#include "smdebug/action.h"
#include "src/base/variables.h"

namespace smdebug {
namespace {

// A time in seconds, a fraction maybe; `fallback` if the variable is not set.
std::chrono::milliseconds SecondsFrom(std::string_view name,
                                      std::chrono::milliseconds fallback) {
  const std::string text = base::ReadVariable(name);
  if (text.empty()) return fallback;
  return std::chrono::duration_cast<std::chrono::milliseconds>(
      std::chrono::duration<double>(base::ParseSeconds(text)));
}

}  // namespace

ActionOptions ActionOptions::FromEnvironment() {
  ActionOptions options;
  options.dry_run = base::ReadVariable("SMDEBUG_ACTION_DRY_RUN") == "1";
  options.interval = SecondsFrom("SMDEBUG_ACTION_INTERVAL", options.interval);
  options.timeout = SecondsFrom("SMDEBUG_ACTION_TIMEOUT", options.timeout);
  options.grace = SecondsFrom("SMDEBUG_STOP_GRACE", options.grace);
  return options;
}

}  // namespace smdebug
