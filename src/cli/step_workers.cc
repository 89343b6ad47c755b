#include "src/cli/step_workers.h"

#include <set>
#include <utility>

namespace smdebug::cli {

std::vector<std::string> StepWorkers(Trial& trial, int64_t step) {
  // Most often the first tensor already has all of them.
  const auto all = static_cast<size_t>(trial.num_workers());
  std::set<std::string> workers;
  for (const std::string& name : trial.TensorNames({.step = step})) {
    for (std::string& worker : trial.tensor(name).Workers(step)) {
      workers.insert(std::move(worker));
    }
    if (workers.size() >= all) break;
  }
  return {workers.begin(), workers.end()};
}

}  // namespace smdebug::cli
