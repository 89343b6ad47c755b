#include <algorithm>
#include <array>
#include <cmath>

#include "smdebug/error.h"
#include "src/query/series.h"

namespace smdebug::query {
namespace {

// The reduction that a small picture shows: the first of these that was saved.
Reduction Telling(const std::vector<Reduction>& saved) {
  constexpr std::array kPreferred = {
      Reduction{ReductionOp::kMean}, Reduction{ReductionOp::kMean, true},
      Reduction{ReductionOp::kL2}, Reduction{ReductionOp::kMax},
      Reduction{ReductionOp::kMin}};
  const auto found = std::ranges::find_first_of(kPreferred, saved);
  return found == kPreferred.end() ? saved.front() : *found;
}

bool HasOneElement(const Tensor& tensor, int64_t step) {
  try {
    return tensor.At(step).size() == 1;
  } catch (const Error&) {
    return false;  // Damaged; so is the number, then.
  }
}

double NumberAt(const Tensor& tensor, int64_t step, Reduction reduction) {
  try {
    return tensor.ReductionValue(step, reduction);
  } catch (const Error&) {
    // Not saved at this step, damaged, or no numbers.
    return std::nan("");
  }
}

}  // namespace

Glance GlanceAt(const Tensor& tensor, size_t most_steps, int64_t most_bytes) {
  Glance glance;
  std::vector<int64_t> steps = SpreadEvenly(tensor.Steps(), most_steps);
  if (steps.empty()) return glance;
  const Tensor::Saved saved = tensor.SavedAt(steps.back());
  Reduction reduction{ReductionOp::kMean};
  if (!saved.reductions.empty()) {
    reduction = Telling(saved.reductions);
  } else if (!saved.value || saved.value_bytes > most_bytes) {
    return glance;
  }
  const bool is_value =
      saved.reductions.empty() && HasOneElement(tensor, steps.back());
  glance.what = is_value ? "value" : ReductionName(reduction);
  for (const int64_t step : steps) {
    glance.series.values.push_back(NumberAt(tensor, step, reduction));
  }
  glance.series.steps = std::move(steps);
  return glance;
}

}  // namespace smdebug::query
