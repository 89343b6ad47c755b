#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <utility>

#include "smdebug/rule.h"

namespace smdebug::rules {

// The scalars of a step that tell of a scaler of losses: kStepSkipped, and the
// least kGradScale.
struct ScalerMarks {
  std::optional<double> skipped = {};
  std::optional<double> scale = {};

  bool any() const noexcept { return skipped || scale; }
};

// Knows at which steps a scaler looks for its scale, which it does by trying:
// where a gradient is not finite, it makes no step and scales less.
//
// That is ordinary as long as the scale is 1 or more, and for a while: after
// kMostSkipped marked steps in a row that were all skipped, a step counts as
// any other. So it does after kMostOpen steps of which nobody said what became
// of them.
//
// One thread at a time.
class SkippedSteps {
 public:
  static constexpr int64_t kMostSkipped = 32;
  static constexpr int64_t kMostOpen = 1000;

  using MarksAt = std::function<ScalerMarks(int64_t step)>;
  // The newest step before one that has marks.
  using Before = std::function<std::optional<StepPlace>(int64_t step)>;

  SkippedSteps(MarksAt marks_at, Before before)
      : marks_at_(std::move(marks_at)), before_(std::move(before)) {}

  // Whether gradients at `step` that are not finite were not used, or need not
  // have been: what led to the step may go on.
  bool MayForgive(int64_t step) { return At(step).may_forgive; }

  // The step whose parameters are still those at `place`, since it was the one
  // before and was skipped.
  std::optional<int64_t> RepeatedAt(const StepPlace& place);

 private:
  struct Verdict {
    int64_t skipped = 0;  // Of how many in a row it is the last.
    int64_t open = 0;
    bool may_forgive = false;
    bool is_final = true;
  };

  Verdict At(int64_t step);
  Verdict Judge(const ScalerMarks& marks, const Verdict& before) const;

  const MarksAt marks_at_;
  const Before before_;
  std::map<int64_t, Verdict> known_;  // Of marked steps, the newest.
};

}  // namespace smdebug::rules
