#include "src/base/variables.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <initializer_list>
#include <limits>

#include <fmt/format.h>

#include "smdebug/error.h"
#include "src/base/environment.h"
#include "src/base/text.h"

namespace smdebug::base {
namespace {

using Text = std::string_view;

// `value` has to be one of `words`.
std::string OneWord(Text value, std::initializer_list<Text> words) {
  std::string allowed;
  size_t left = words.size();
  for (const Text word : words) {
    if (value.empty() || value == word) return {};
    allowed += fmt::format("'{}'", word);
    if (--left > 0) allowed += left == 1 ? " or " : ", ";
  }
  return allowed;
}

std::string WholeNumber(Text value, int64_t least, int64_t most, Text of = {}) {
  const auto number = ParseInt(value);
  if (value.empty() || (number && *number >= least && *number <= most)) {
    return {};
  }
  if (!of.empty()) {
    return fmt::format("a whole number of {}, {} to {}", of, least, most);
  }
  return fmt::format("a whole number from {} to {}", least, most);
}

std::string Count(Text value, int64_t least) {
  return WholeNumber(value, least, std::numeric_limits<int32_t>::max());
}

std::string Switch(Text value) { return OneWord(value, {"1", "0"}); }

std::string Seconds(Text value) {
  if (value.empty() || ParseSeconds(value) >= 0) return {};
  return "seconds, 0 to 1e9";
}

std::string BufferSize(Text value) {
  return WholeNumber(value, 1, int64_t{1} << 24, "megabytes");
}

std::string Identity(Text value) {
  constexpr size_t kMostBytes = 128;
  const bool is_plain = std::ranges::all_of(value, [](char c) {
    return (c >= '0' && c <= '9') || (Lower(c) >= 'a' && Lower(c) <= 'z') ||
           Text("-_.:").find(c) != Text::npos;
  });
  if (is_plain && value.size() <= kMostBytes) return {};
  return "at most 128 letters, digits and characters of -_.:";
}

std::string LogLevelName(Text value) {
  return OneWord(Lower(value),
                 {"debug", "info", "warning", "error", "critical", "off"});
}

// What Python's is_enabled() takes.
std::string Boolean(Text value) {
  constexpr auto kWords =
      std::to_array<Text>({"y", "yes", "t", "true", "on", "1", "n", "no", "f",
                           "false", "off", "0"});
  if (std::ranges::find(kWords, Lower(value)) != kWords.end()) return {};
  return "'true' or 'false'";
}

constexpr auto kVariables = std::to_array<Variable>({
    {"MASTER_ADDR"},
    {"MASTER_PORT"},
    {"NO_COLOR"},
    {"PMIX_NAMESPACE"},
    {"SLURM_JOB_ID"},
    {"SMDEBUG_ACTION_DRY_RUN", Switch},
    {"SMDEBUG_ACTION_INTERVAL", Seconds},
    {"SMDEBUG_ACTION_TIMEOUT", Seconds},
    {"SMDEBUG_BUFFER_MB", BufferSize},
    {"SMDEBUG_CA_FILE"},
    {"SMDEBUG_CONFIG_FILE_PATH"},
    {"SMDEBUG_CPU_AS_DEVICE"},
    {"SMDEBUG_FSYNC",
     [](Text value) {
       return OneWord(value, {"step", "off"});
     }},
    {"SMDEBUG_INCOMPLETE_STEP_WAIT_WINDOW",
     [](Text value) { return Count(value, 1); }},
    {"SMDEBUG_JOB_ID"},
    {"SMDEBUG_LIBCURL"},
    {"SMDEBUG_LOG_ALL_TO_STDOUT",
     [](Text value) {
       return OneWord(Lower(value), {"true", "false"});
     }},
    {"SMDEBUG_LOG_CONTEXT"},
    {"SMDEBUG_LOG_LEVEL", LogLevelName},
    {"SMDEBUG_LOG_PATH"},
    {"SMDEBUG_MISSING_EVENT_FILE_RETRY_LIMIT",
     [](Text value) { return Count(value, 0); }},
    {"SMDEBUG_ON_FULL",
     [](Text value) {
       return OneWord(value, {"block", "drop"});
     }},
    {"SMDEBUG_PYTHON"},
    {"SMDEBUG_RUN_ID", Identity},
    {"SMDEBUG_SMS_URL", nullptr, true},
    {"SMDEBUG_SMTP_FROM", nullptr, true},
    {"SMDEBUG_SMTP_PASSWORD", nullptr, true},
    {"SMDEBUG_SMTP_URL", nullptr, true},
    {"SMDEBUG_SMTP_USER", nullptr, true},
    {"SMDEBUG_STOP_GRACE", Seconds},
    {"SMDEBUG_STRICT", Switch},
    {"SMDEBUG_TRAINING_END_DELAY_REFRESH",
     [](Text value) { return Count(value, 0); }},
    {"SMDEBUG_WATCH", [](Text value) { return OneWord(value, {"poll"}); }},
    {"TENSORBOARD_CONFIG_FILE_PATH"},
    {"TORCHELASTIC_RUN_ID"},
    {"TRAINING_JOB_NAME"},
    {"USE_SMDEBUG", Boolean},
});

}  // namespace

std::span<const Variable> Variables() { return kVariables; }

std::string ReadVariable(std::string_view name) {
  const std::string whole = GetEnv(std::string(name).c_str()).value_or("");
  const std::string_view value = Trim(whole);
  const auto* const variable =
      std::ranges::find(kVariables, name, &Variable::name);
  if (variable != kVariables.end() && variable->check != nullptr) {
    const std::string allowed = variable->check(value);
    if (!allowed.empty()) throw ConfigError(name, value, allowed);
  }
  return std::string(value);
}

double ParseSeconds(std::string_view text) {
  constexpr double kMost = 1e9;
  const char* const end = text.data() + text.size();
  double seconds = -1;
  const auto [stop, error] = std::from_chars(text.data(), end, seconds);
  const bool is_allowed =
      error == std::errc() && stop == end && seconds >= 0 && seconds <= kMost;
  return is_allowed ? seconds : -1;
}

}  // namespace smdebug::base
