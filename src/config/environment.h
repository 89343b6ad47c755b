#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace smdebug::config {

// The environment variable `name`; nullopt if it is not set. The only place
// of this module that reads the environment.
std::optional<std::string> GetEnv(const char* name);

// Whether this is a SageMaker training job: TRAINING_JOB_NAME is set.
bool InSageMaker();

// The file that says where TensorBoard files go in a SageMaker job:
// TENSORBOARD_CONFIG_FILE_PATH, else SageMaker's own place.
std::string TensorboardConfigPath();

// `path` with a leading "~" or "~/" replaced by HOME, if that is set.
std::string ExpandHome(std::string_view path);

}  // namespace smdebug::config
