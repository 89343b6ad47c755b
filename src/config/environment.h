#pragma once

#include <string>

namespace smdebug::config {

// Whether this is a SageMaker training job: TRAINING_JOB_NAME is set.
bool InSageMaker();

// The file that says where TensorBoard files go in a SageMaker job:
// TENSORBOARD_CONFIG_FILE_PATH, else SageMaker's own place.
std::string TensorboardConfigPath();

}  // namespace smdebug::config
