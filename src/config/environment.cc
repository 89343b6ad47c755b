#include "src/config/environment.h"

#include <string_view>

#include "smdebug/config.h"
#include "src/base/environment.h"

namespace smdebug {

namespace {

// A path variable that is set to nothing names no file: as if unset.
std::string PathFromEnv(const char* name, std::string_view fallback) {
  std::string path = base::GetEnv(name).value_or("");
  return path.empty() ? std::string(fallback) : path;
}

}  // namespace

std::string HookConfigPath(std::string_view path) {
  if (!path.empty()) return std::string(path);
  return PathFromEnv("SMDEBUG_CONFIG_FILE_PATH",
                     "/opt/ml/input/config/debughookconfig.json");
}

namespace config {

bool InSageMaker() { return base::GetEnv("TRAINING_JOB_NAME").has_value(); }

std::string TensorboardConfigPath() {
  return PathFromEnv("TENSORBOARD_CONFIG_FILE_PATH",
                     "/opt/ml/input/config/tensorboardoutputconfig.json");
}

}  // namespace config
}  // namespace smdebug
