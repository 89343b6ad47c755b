#include "src/query/step_follower.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <tuple>
#include <utility>

#include "smdebug/error.h"
#include "src/query/name_match.h"
#include "src/query/step_list.h"
#include "src/trial/reader.h"

namespace smdebug::query {

StepFollower::StepFollower(Trial* trial, Options options)
    : trial_(trial), options_(std::move(options)) {
  if (options_.from) previous_ = *options_.from - 1;
}

std::vector<StepLine> StepFollower::Poll() {
  const std::vector<int64_t> steps = NewSteps();
  std::vector<StepLine> lines;
  lines.reserve(steps.size());
  for (const int64_t step : steps) {
    StepLine line = MakeLine(step);
    previous_ = step;
    // Of a step that only brought scalars of others there is nothing to say.
    if (line.workers.empty() && line.numbers.empty()) continue;
    lines.push_back(std::move(line));
  }
  return lines;
}

std::vector<int64_t> StepFollower::NewSteps() {
  std::vector<int64_t> steps = trial_->Steps();
  const std::tuple now(trial_->reader().index_files(),
                       trial_->last_complete_step(),
                       trial_->loaded_all_steps());
  if (std::exchange(looked_at_, now) == now) return {};
  LookAtTensors();
  AddStepsOfScalars(steps);
  if (previous_) {
    steps.erase(steps.begin(), std::ranges::upper_bound(steps, *previous_));
  } else if (static_cast<int64_t>(steps.size()) > options_.last) {
    // What came before counts as seen.
    const auto first = steps.end() - options_.last;
    previous_ = *std::prev(first);
    steps.erase(steps.begin(), first);
  }
  return steps;
}

void StepFollower::AddStepsOfScalars(std::vector<int64_t>& steps) const {
  const int64_t last = trial_->loaded_all_steps()
                           ? std::numeric_limits<int64_t>::max()
                           : trial_->last_complete_step();
  std::vector<int64_t> more;
  for (const auto& [name, watched] : watched_) {
    std::ranges::set_difference(watched.steps, steps, std::back_inserter(more));
  }
  std::erase_if(more, [&](int64_t step) { return step > last; });
  std::ranges::sort(more);
  more.erase(std::unique(more.begin(), more.end()), more.end());
  steps.insert(steps.end(), more.begin(), more.end());
  std::ranges::sort(steps);
}

void StepFollower::LookAtTensors() {
  for (const std::string& name :
       KeepMatching(trial_->TensorNames(), options_.regexes)) {
    Watched& watched = watched_[name];
    const bool hidden = watched.kind == Kind::kMany && options_.regexes.empty();
    if (hidden) continue;
    watched.steps = trial_->tensor(name).Steps(Mode::kGlobal, true);
  }
}

StepLine StepFollower::MakeLine(int64_t step) {
  StepLine line = {.id = IdentifyStep(*trial_, step, Mode::kGlobal),
                   .workers = StepWorkers(*trial_, step)};
  line.tensors =
      static_cast<int64_t>(trial_->TensorNames({.step = step}).size());
  for (auto& [name, watched] : watched_) {
    if (std::ranges::binary_search(watched.steps, step)) {
      AddNumber(name, watched, step, line);
    }
  }
  return line;
}

void StepFollower::AddNumber(const std::string& name, Watched& watched,
                             int64_t step, StepLine& line) {
  const Tensor tensor = trial_->tensor(name);
  try {
    if (tensor.SavedAt(step).value && watched.kind != Kind::kMany) {
      const Value value = tensor.At(step);
      const bool is_number =
          value.size() == 1 && value.dtype() != DType::kString;
      watched.kind = is_number ? Kind::kNumber : Kind::kMany;
      if (is_number) {
        line.numbers.push_back({name, step, value.Get(0)});
        return;
      }
    }
    if (options_.regexes.empty()) return;
    const Reduction mean = {ReductionOp::kMean};
    line.numbers.push_back(
        {name + ":mean", step, tensor.ReductionValue(step, mean)});
  } catch (const Error&) {
    // Damaged, of strings, or without a mean: the line goes on without it.
  }
}

Json ToJson(const StepLine& line) {
  Json numbers = Json::object();
  for (const StepNumber& number : line.numbers) {
    numbers[number.name] = {{"step", number.step},
                            {"value", JsonNumber(number.value)}};
  }
  return {{"step", line.id.step},           {"mode", ModeName(line.id.mode)},
          {"mode_step", line.id.mode_step}, {"workers", line.workers},
          {"tensors", line.tensors},        {"scalars", std::move(numbers)}};
}

}  // namespace smdebug::query
