#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>

#include "smdebug/rule.h"

namespace smdebug::rules {

// Tells weights that ought to change from those that are frozen on purpose.
//
// Where the run saves gradients, a weight without one is frozen, and one whose
// gradient has become small has converged. Elsewhere a weight ought to change
// if it did before and others still do, or if none of them ever did. One thread
// at a time.
class Trainable {
 public:
  // Looks at the gradients of a step; comes before the other calls about it.
  void Look(StepView& view);

  // Whether `weight` changed at this step. All weights are noted before any is
  // asked about.
  void NoteChange(std::string_view weight, bool changed);

  // Whether the run saves gradients, but none for `weight`.
  bool IsFrozen(std::string_view weight) const;

  // Whether `weight`, which stays the same, ought to change.
  bool OughtToChange(std::string_view weight) const;

 private:
  struct Gradient {
    double now = 0;
    double peak = 0;
    bool is_saved = false;  // At the last step with any gradient.
  };
  const Gradient* GradientOf(std::string_view weight) const;

  std::map<std::string, Gradient, std::less<>> gradients_;
  std::set<std::string, std::less<>> changed_;  // At any step.
  bool any_changes_now_ = false;
};

}  // namespace smdebug::rules
