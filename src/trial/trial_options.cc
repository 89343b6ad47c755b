#include <limits>
#include <string>

#include "smdebug/error.h"
#include "smdebug/trial.h"
#include "src/base/environment.h"
#include "src/base/text.h"

namespace smdebug {
namespace {

// The whole number in the environment variable `name`, else `fallback`.
int64_t NumberFrom(const char* name, int64_t least, int64_t fallback) {
  const std::string text(base::Trim(base::GetEnv(name).value_or("")));
  if (text.empty()) return fallback;
  const auto number = base::ParseInt(text);
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  if (!number || *number < least || *number > kMost) {
    throw ConfigError(name, text,
                      "a whole number from " + std::to_string(least) + " to " +
                          std::to_string(kMost));
  }
  return *number;
}

}  // namespace

TrialOptions TrialOptions::FromEnvironment() {
  TrialOptions options;
  options.end_delay = std::chrono::seconds(
      NumberFrom("SMDEBUG_TRAINING_END_DELAY_REFRESH", 0, 1));
  options.incomplete_window = NumberFrom("SMDEBUG_INCOMPLETE_STEP_WAIT_WINDOW",
                                         1, options.incomplete_window);
  options.missing_file_retries =
      NumberFrom("SMDEBUG_MISSING_EVENT_FILE_RETRY_LIMIT", 0,
                 options.missing_file_retries);
  return options;
}

}  // namespace smdebug
