#include "src/rules/builtin/losses.h"

#include <algorithm>
#include <array>

#include "src/rules/builtin/running_mean.h"
#include "src/rules/builtin/training_steps.h"

namespace smdebug::rules {

LossName ParseLossName(std::string_view name) {
  constexpr std::array<std::string_view, 3> kValidation = {"validation-",
                                                           "eval-", "test-"};
  constexpr std::string_view kTraining = "train-";
  if (name.starts_with(kTraining)) {
    return {.metric = name.substr(kTraining.size()), .is_training = true};
  }
  for (const std::string_view prefix : kValidation) {
    if (name.starts_with(prefix)) {
      return {.metric = name.substr(prefix.size()), .is_validation = true};
    }
  }
  return {};
}

std::vector<LossPair> PairLosses(const std::vector<std::string>& names) {
  std::vector<LossPair> pairs;
  for (const std::string& training : names) {
    const LossName parsed = ParseLossName(training);
    if (!parsed.is_training) continue;
    for (const std::string& validation : names) {
      const LossName other = ParseLossName(validation);
      if (other.is_validation && other.metric == parsed.metric) {
        pairs.push_back({training, validation});
      }
    }
  }
  return pairs;
}

PhaseLosses MeanLosses(StepView& view, const std::vector<std::string>& names) {
  RunningMean training;
  RunningMean validation;
  for (const std::string& name : names) {
    const auto loss = LossOf(view, name);
    if (!loss) continue;
    const bool by_name =
        view.mode() == Mode::kGlobal && ParseLossName(name).is_validation;
    if (view.mode() == Mode::kEval || by_name) {
      validation.Add(*loss);
    } else if (IsTrainingStep(view.mode())) {
      training.Add(*loss);
    }
  }
  PhaseLosses losses;
  if (training.count() > 0) losses.training = training.mean();
  if (validation.count() > 0) losses.validation = validation.mean();
  return losses;
}

}  // namespace smdebug::rules
