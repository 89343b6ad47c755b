#pragma once

#include <string_view>
#include <vector>

#include "smdebug/rule.h"

namespace smdebug::rules {

// Steps that change a model: those of training, and those without a mode.
constexpr bool IsTrainingStep(Mode mode) noexcept {
  return mode == Mode::kTrain || mode == Mode::kGlobal;
}

// The training steps of `tensor` up to the view's, in order.
inline std::vector<StepPlace> TrainingSteps(StepView& view,
                                            std::string_view tensor) {
  std::vector<StepPlace> steps = view.History(tensor);
  std::erase_if(steps, [](const StepPlace& place) {
    return !IsTrainingStep(place.mode);
  });
  return steps;
}

}  // namespace smdebug::rules
