#include "src/query/step_list.h"

#include <set>
#include <utility>

namespace smdebug::query {

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

std::vector<StepInfo> ListSteps(Trial& trial, const std::vector<int64_t>& steps,
                                Mode mode) {
  std::vector<StepInfo> list;
  list.reserve(steps.size());
  for (const int64_t step : steps) {
    const StepId id = IdentifyStep(trial, step, mode);
    list.push_back({id, StepWorkers(trial, id.step)});
  }
  return list;
}

Json ToJson(const StepInfo& step) {
  return {{"step", step.id.step},
          {"mode", ModeName(step.id.mode)},
          {"mode_step", step.id.mode_step},
          {"workers", step.workers}};
}

}  // namespace smdebug::query
