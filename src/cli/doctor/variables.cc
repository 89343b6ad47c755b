#include "src/cli/doctor/variables.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "src/config/nearest.h"

namespace smdebug::cli {
namespace {

constexpr auto kVariables = std::to_array<Variable>({
    {"MASTER_ADDR"},
    {"MASTER_PORT"},
    {"NO_COLOR"},
    {"PMIX_NAMESPACE"},
    {"SLURM_JOB_ID"},
    {"SMDEBUG_ACTION_DRY_RUN"},
    {"SMDEBUG_ACTION_INTERVAL"},
    {"SMDEBUG_ACTION_TIMEOUT"},
    {"SMDEBUG_BUFFER_MB"},
    {"SMDEBUG_CA_FILE"},
    {"SMDEBUG_CONFIG_FILE_PATH"},
    {"SMDEBUG_CPU_AS_DEVICE"},
    {"SMDEBUG_FSYNC"},
    {"SMDEBUG_INCOMPLETE_STEP_WAIT_WINDOW"},
    {"SMDEBUG_JOB_ID"},
    {"SMDEBUG_LIBCURL"},
    {"SMDEBUG_LOG_ALL_TO_STDOUT"},
    {"SMDEBUG_LOG_CONTEXT"},
    {"SMDEBUG_LOG_LEVEL"},
    {"SMDEBUG_LOG_PATH"},
    {"SMDEBUG_MISSING_EVENT_FILE_RETRY_LIMIT"},
    {"SMDEBUG_ON_FULL"},
    {"SMDEBUG_PYTHON"},
    {"SMDEBUG_RUN_ID"},
    {"SMDEBUG_SMS_URL", true},
    {"SMDEBUG_SMTP_FROM", true},
    {"SMDEBUG_SMTP_PASSWORD", true},
    {"SMDEBUG_SMTP_URL", true},
    {"SMDEBUG_SMTP_USER", true},
    {"SMDEBUG_STOP_GRACE"},
    {"SMDEBUG_STRICT"},
    {"SMDEBUG_TRAINING_END_DELAY_REFRESH"},
    {"SMDEBUG_WATCH"},
    {"TENSORBOARD_CONFIG_FILE_PATH"},
    {"TORCHELASTIC_RUN_ID"},
    {"TRAINING_JOB_NAME"},
    {"USE_SMDEBUG"},
});

std::string DescribeUnknown(std::string_view name) {
  std::vector<std::string> names;
  for (const Variable& variable : kVariables) names.emplace_back(variable.name);
  const std::string meant = config::DidYouMean(name, names);
  return fmt::format("{} is not read by smdebug{}{}", name,
                     meant.empty() ? "" : "; ", meant);
}

}  // namespace

std::span<const Variable> KnownVariables() { return kVariables; }

std::vector<SetVariable> VariablesOf(
    const std::vector<std::string>& environment) {
  std::vector<SetVariable> found;
  for (const std::string& entry : environment) {
    const size_t equals = std::min(entry.find('='), entry.size());
    const std::string name = entry.substr(0, equals);
    const auto known = std::ranges::find(kVariables, name, &Variable::name);
    if (known == kVariables.end()) {
      if (!name.starts_with("SMDEBUG_")) continue;
      // Nobody knows what its value is for.
      found.push_back({.name = name,
                       .value = {},
                       .is_private = true,
                       .problem = DescribeUnknown(name)});
      continue;
    }
    SetVariable set = {
        .name = name, .value = {}, .is_private = known->is_private};
    if (!set.is_private && equals < entry.size()) {
      set.value = entry.substr(equals + 1);
    }
    found.push_back(std::move(set));
  }
  std::ranges::sort(found, {}, &SetVariable::name);
  return found;
}

}  // namespace smdebug::cli
