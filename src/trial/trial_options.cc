#include <string_view>

#include "smdebug/trial.h"
#include "src/base/text.h"
#include "src/base/variables.h"

namespace smdebug {
namespace {

// The whole number in the environment variable `name`, else `fallback`.
int64_t NumberFrom(std::string_view name, int64_t fallback) {
  return base::ParseInt(base::ReadVariable(name)).value_or(fallback);
}

}  // namespace

TrialOptions TrialOptions::FromEnvironment() {
  TrialOptions options;
  options.end_delay =
      std::chrono::seconds(NumberFrom("SMDEBUG_TRAINING_END_DELAY_REFRESH", 1));
  options.incomplete_window = NumberFrom("SMDEBUG_INCOMPLETE_STEP_WAIT_WINDOW",
                                         options.incomplete_window);
  options.missing_file_retries = NumberFrom(
      "SMDEBUG_MISSING_EVENT_FILE_RETRY_LIMIT", options.missing_file_retries);
  return options;
}

}  // namespace smdebug
