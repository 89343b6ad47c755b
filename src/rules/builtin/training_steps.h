#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <vector>

#include "smdebug/rule.h"

namespace smdebug::rules {

// Steps that change a model: those of training, and those without a mode.
constexpr bool IsTrainingStep(Mode mode) noexcept {
  return mode == Mode::kTrain || mode == Mode::kGlobal;
}

// The last training steps of `tensor` before the view's, so many at most, in
// order.
inline std::vector<StepPlace> LastTrainingSteps(StepView& view,
                                                std::string_view tensor,
                                                size_t most) {
  std::vector<StepPlace> steps;
  auto place = view.Before(tensor, view.step());
  for (; place && steps.size() < most;
       place = view.Before(tensor, place->step)) {
    if (IsTrainingStep(place->mode)) steps.push_back(*place);
  }
  std::ranges::reverse(steps);
  return steps;
}

}  // namespace smdebug::rules
