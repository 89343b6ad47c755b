// What a TrialView makes of steps that a scaler of losses has skipped.
#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "src/rules/engine/trial_view.h"
#include "src/trial/reader.h"

namespace smdebug::rules {
namespace {

std::string ScalarName(std::string_view name, int number = 0) {
  return number == 0 ? fmt::format("scalar/{}", name)
                     : fmt::format("scalar/{}_{}", name, number);
}

}  // namespace

std::optional<TrialView::TensorId> TrialView::FindMark(std::string_view name,
                                                       int number) const {
  return IdOf(ScalarName(name, number));
}

std::optional<double> TrialView::NumberAt(TensorId id, int64_t step) {
  Slot* slot = FindSaved(id, step);
  if (slot == nullptr) return std::nullopt;
  const auto& value = ValueOf(*slot);
  if (!value || value->dtype() == DType::kString || value->size() != 1) {
    return std::nullopt;
  }
  return value->Get(0);
}

void TrialView::LookForMarks() {
  has_marks_ = FindMark(kStepSkipped).has_value();
  if (!FindMark(kGradScale).has_value() && !has_marks_) return;
  has_marks_ = true;
  const trial::Snapshot& snapshot = *pages_.front()->table.snapshot;
  reader_->Update(snapshot, gradients_);
  reader_->Update(snapshot, parameters_);
}

ScalerMarks TrialView::MarksAt(int64_t step) {
  ScalerMarks marks;
  if (const auto id = FindMark(kStepSkipped))
    marks.skipped = NumberAt(*id, step);
  for (int number = 0; const auto id = FindMark(kGradScale, number); ++number) {
    const auto scale = NumberAt(*id, step);
    if (scale) marks.scale = std::min(*scale, marks.scale.value_or(*scale));
  }
  return marks;
}

std::optional<StepPlace> TrialView::MarkedBefore(int64_t step) {
  std::optional<StepPlace> newest;
  for (const std::string_view name : {kStepSkipped, kGradScale}) {
    const auto id = FindMark(name);
    if (!id) continue;
    const auto place = PlaceBefore(*id, step);
    if (place && (!newest || newest->step < place->step)) newest = place;
  }
  return newest;
}

bool TrialView::IsFinite(Slot& slot) {
  if (const trial::Entry* entry = slot.Get(trial::Part::Counts())) {
    const auto counts = slot.snapshot->catalog().counts(*entry);
    return counts.nan + counts.pos_inf + counts.neg_inf == 0;
  }
  if (const reduce::Statistics* all = StatisticsOf(slot)) {
    return all->nan + all->pos_inf + all->neg_inf == 0;
  }
  return std::ranges::all_of(slot.entries, [&](const trial::Entry& entry) {
    if (!entry.part.reduction()) return true;
    const Value saved = Read(slot, entry);
    return saved.size() != 1 || std::isfinite(saved.Get(0));
  });
}

bool TrialView::Hides(TensorId id, const StepPlace& place) {
  if (!has_marks_) return false;
  if (gradients_.Takes(id)) {
    if (!skipped_.MayForgive(place.step)) return false;
    Slot* slot = FindSaved(id, place.step);
    return slot != nullptr && !IsFinite(*slot);
  }
  if (!parameters_.Takes(id)) return false;
  const auto repeated = skipped_.RepeatedAt(place);
  return repeated && FindSaved(id, *repeated) != nullptr;
}

bool TrialView::HidesAt(TensorId id, int64_t step) {
  if (!has_marks_) return false;
  const auto place =
      step == place_.step ? std::optional(place_) : PlaceBefore(id, step + 1);
  return place && Hides(id, *place);
}

void TrialView::LeaveOutSkipped(std::vector<TensorId>& members) {
  if (!has_marks_) return;
  const auto left_out =
      std::erase_if(members, [&](TensorId id) { return Hides(id, place_); });
  if (use_ == nullptr) return;
  use_->left_out |= left_out > 0;
  use_->saw_step_made |=
      MarksAt(place_.step).any() && !skipped_.MayForgive(place_.step);
}

}  // namespace smdebug::rules
