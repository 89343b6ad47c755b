#include "src/rules/engine/skipped_steps.h"

#include <ranges>
#include <vector>

namespace smdebug::rules {
namespace {

// PyTorch: "If the scale falls below 1 [...], something is likely wrong."
constexpr double kLeastScale = 1;

constexpr size_t kMostKnown = 4096;

}  // namespace

SkippedSteps::Verdict SkippedSteps::Judge(const ScalerMarks& marks,
                                          const Verdict& before) const {
  const bool is_open = !marks.skipped || *marks.skipped < 0;
  Verdict verdict{.is_final = !marks.skipped || !is_open};
  if (is_open) {
    verdict.open = before.open + 1;
    verdict.skipped = before.skipped;
  } else if (*marks.skipped != 0) {
    verdict.skipped = before.skipped + 1;
  } else {
    return verdict;
  }
  verdict.may_forgive = verdict.open <= kMostOpen &&
                        verdict.skipped <= kMostSkipped &&
                        !(marks.scale && *marks.scale < kLeastScale);
  return verdict;
}

SkippedSteps::Verdict SkippedSteps::At(int64_t step) {
  // Back to a step that is known, or from which on the row is too long anyhow.
  std::vector<std::pair<int64_t, ScalerMarks>> unknown;
  Verdict verdict;
  std::optional<int64_t> at = step;
  while (at && unknown.size() <= kMostOpen) {
    const auto known = known_.find(*at);
    if (known != known_.end()) {
      verdict = known->second;
      break;
    }
    const ScalerMarks marks = marks_at_(*at);
    if (!marks.any()) break;  // Only of `step` itself.
    unknown.emplace_back(*at, marks);
    const auto place = before_(*at);
    at = place ? std::optional(place->step) : std::nullopt;
  }
  for (const auto& [number, marks] : std::views::reverse(unknown)) {
    verdict = Judge(marks, verdict);
    if (verdict.is_final) known_[number] = verdict;
  }
  while (known_.size() > kMostKnown) known_.erase(known_.begin());
  return verdict;
}

std::optional<int64_t> SkippedSteps::RepeatedAt(const StepPlace& place) {
  const auto before = before_(place.step);
  if (!before || before->mode != place.mode ||
      before->mode_step + 1 != place.mode_step) {
    return std::nullopt;
  }
  const ScalerMarks marks = marks_at_(before->step);
  const bool was_skipped = marks.skipped && *marks.skipped == 1;
  if (!was_skipped || !MayForgive(before->step)) return std::nullopt;
  return before->step;
}

}  // namespace smdebug::rules
