#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "smdebug/rule.h"

namespace smdebug::rules {

// One number for a loss at the step: the mean of its values.
inline std::optional<double> LossOf(StepView& view, std::string_view name) {
  return view.Reduce(name, {ReductionOp::kMean});
}

// XGBoost names its losses "<evaluation set>-<metric>".
struct LossName {
  std::string_view metric;
  bool is_training = false;
  bool is_validation = false;
};

// `metric` is empty for a name that is of neither training nor validation.
LossName ParseLossName(std::string_view name);

// Losses of training and of validation of the same metric, both at the step.
struct LossPair {
  std::string training;
  std::string validation;
};
std::vector<LossPair> PairLosses(const std::vector<std::string>& names);

// The means over all losses at the step, by what they are about: the step's
// mode tells, or XGBoost's names. Unset where there is none.
struct PhaseLosses {
  std::optional<double> training;
  std::optional<double> validation;
};
PhaseLosses MeanLosses(StepView& view, const std::vector<std::string>& names);

}  // namespace smdebug::rules
