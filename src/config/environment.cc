#include "src/config/environment.h"

#include <cstdlib>

#include "smdebug/config.h"

namespace smdebug {

namespace {

// A path variable that is set to nothing names no file: as if unset.
std::string PathFromEnv(const char* name, std::string_view fallback) {
  std::string path = config::GetEnv(name).value_or("");
  return path.empty() ? std::string(fallback) : path;
}

}  // namespace

std::string HookConfigPath(std::string_view path) {
  if (!path.empty()) return std::string(path);
  return PathFromEnv("SMDEBUG_CONFIG_FILE_PATH",
                     "/opt/ml/input/config/debughookconfig.json");
}

namespace config {

std::optional<std::string> GetEnv(const char* name) {
  // Unsafe only beside setenv(), which this library never calls.
  const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe)
  if (value == nullptr) return std::nullopt;
  return value;
}

bool InSageMaker() { return GetEnv("TRAINING_JOB_NAME").has_value(); }

std::string TensorboardConfigPath() {
  return PathFromEnv("TENSORBOARD_CONFIG_FILE_PATH",
                     "/opt/ml/input/config/tensorboardoutputconfig.json");
}

std::string ExpandHome(std::string_view path) {
  const bool in_home = path == "~" || path.starts_with("~/");
  const std::optional<std::string> home =
      in_home ? GetEnv("HOME") : std::nullopt;
  if (!home) return std::string(path);
  return *home + std::string(path.substr(1));
}

}  // namespace config
}  // namespace smdebug
