#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "src/hook/step_counter.h"

namespace smdebug::hook {

// Which mode the steps of a job were of, and which numbers they had in it, for
// what is saved at a step that is over. One thread at a time.
class StepHistory {
 public:
  // A step has begun; later than those before it.
  void Note(const Stamp& begun) {
    if (!spans_.empty() && Continues(spans_.back(), begun)) return;
    if (spans_.size() == kMostSpans) {
      spans_.erase(spans_.begin(), spans_.begin() + kMostSpans / 2);
    }
    spans_.push_back(begun);
  }

  // The stamp of a step up to the last one begun. One that was left out counts
  // with those before it, and one from before all that is known with the first.
  // There has been a step.
  Stamp At(int64_t step) const {
    auto span = std::ranges::upper_bound(spans_, step, {}, &Stamp::step);
    if (span != spans_.begin()) --span;
    return {step, span->mode,
            std::max<int64_t>(span->mode_step + (step - span->step), 0)};
  }

 private:
  // A job changes its mode a few times in each epoch.
  static constexpr size_t kMostSpans = 4096;

  static bool Continues(const Stamp& span, const Stamp& next) noexcept {
    return next.mode == span.mode &&
           next.step - span.step == next.mode_step - span.mode_step;
  }

  std::vector<Stamp> spans_;  // The first steps of spans of one mode.
};

}  // namespace smdebug::hook
