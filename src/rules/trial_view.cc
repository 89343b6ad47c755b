#include "src/rules/trial_view.h"

#include <algorithm>
#include <utility>

#include "smdebug/error.h"
#include "src/base/regex.h"

namespace smdebug::rules {

struct SelectedNames::Patterns {
  bool all = false;
  std::vector<base::Regex> regexes;
  std::vector<std::string> names;  // Sorted.
};

SelectedNames::SelectedNames(Trial* trial, const TensorSelection& selection)
    : patterns_(std::make_unique<Patterns>()) {
  patterns_->all = selection.empty();
  for (const std::string& regex : selection.regexes) {
    patterns_->regexes.emplace_back(regex, "tensor_regex");
  }
  for (const std::string& name : selection.collections) {
    const auto collection = trial->FindCollection(name);
    if (!collection) continue;
    for (const std::string& regex : collection->include_regex) {
      patterns_->regexes.emplace_back(regex, "include_regex");
    }
    patterns_->names.insert(patterns_->names.end(),
                            collection->tensor_names.begin(),
                            collection->tensor_names.end());
  }
  std::ranges::sort(patterns_->names);
}

SelectedNames::~SelectedNames() = default;
SelectedNames::SelectedNames(SelectedNames&&) noexcept = default;

bool SelectedNames::Takes(const std::string& name) {
  if (patterns_->all) return true;
  const auto [it, is_new] = known_.try_emplace(name, false);
  if (is_new) {
    it->second =
        std::ranges::binary_search(patterns_->names, name) ||
        std::ranges::any_of(patterns_->regexes, [&](const base::Regex& regex) {
          return regex.Search(name);
        });
  }
  return it->second;
}

TrialView::TrialView(Trial* trial, std::optional<std::string> worker,
                     std::vector<Trial*> others)
    : trial_(trial), asked_worker_(std::move(worker)) {
  for (Trial* other : others) {
    others_.push_back(std::make_unique<TrialView>(other, asked_worker_,
                                                  std::vector<Trial*>()));
  }
}

TrialView::~TrialView() = default;

WorkerName TrialView::Who() const {
  return asked_worker_ ? WorkerName(*asked_worker_) : std::nullopt;
}

void TrialView::MoveTo(int64_t step) {
  place_ = {.step = step,
            .mode = trial_->ModeOf(step).value_or(Mode::kGlobal),
            .mode_step = trial_->ModeStep(step).value_or(step)};
  values_.clear();
  names_ = trial_->TensorNames({.step = step});
  for (const auto& other : others_) other->MoveTo(step);
}

std::vector<std::string> TrialView::Select(const TensorSelection& selection) {
  auto it = selections_.find({selection.collections, selection.regexes});
  if (it == selections_.end()) {
    it = selections_
             .emplace(std::pair(selection.collections, selection.regexes),
                      SelectedNames(trial_, selection))
             .first;
  }
  std::vector<std::string> taken;
  for (const std::string& name : names_) {
    if (it->second.Takes(name)) taken.push_back(name);
  }
  return taken;
}

std::vector<StepPlace> TrialView::History(std::string_view tensor, Mode mode) {
  std::vector<StepPlace> places;
  if (!trial_->HasTensor(tensor)) return places;
  for (const int64_t mode_step : trial_->tensor(tensor).Steps(mode, true)) {
    const auto step = trial_->GlobalStep(mode, mode_step);
    if (!step || *step > place_.step) break;
    places.push_back({.step = *step,
                      .mode = trial_->ModeOf(*step).value_or(Mode::kGlobal),
                      .mode_step = trial_->ModeStep(*step).value_or(*step)});
  }
  return places;
}

std::optional<Value> TrialView::ValueAt(std::string_view tensor, int64_t step) {
  const auto read = [&]() -> std::optional<Value> {
    try {
      return trial_->tensor(tensor).At(step, Mode::kGlobal, Who());
    } catch (const TensorUnavailable&) {
    } catch (const TensorUnavailableForStep&) {
    } catch (const InvalidWorker&) {
    }
    return std::nullopt;
  };
  if (step != place_.step) return read();
  auto it = values_.find(tensor);
  if (it == values_.end()) {
    it = values_.emplace(std::string(tensor), read()).first;
  }
  return it->second;
}

std::optional<double> TrialView::ReductionAt(std::string_view tensor,
                                             int64_t step,
                                             Reduction reduction) {
  if (!trial_->HasTensor(tensor)) return std::nullopt;
  const Tensor handle = trial_->tensor(tensor);
  const auto saved = handle.SavedAt(step, Mode::kGlobal, Who());
  if (std::ranges::find(saved.reductions, reduction) !=
      saved.reductions.end()) {
    return handle.ReductionValue(step, reduction, Mode::kGlobal, Who());
  }
  const auto value = ValueAt(tensor, step);
  if (!value || value->dtype() == DType::kString) return std::nullopt;
  return value->Reduce(reduction);
}

std::optional<ValueCounts> TrialView::CountsAt(std::string_view tensor,
                                               int64_t step) {
  if (!trial_->HasTensor(tensor)) return std::nullopt;
  return trial_->tensor(tensor).Counts(step, Mode::kGlobal, Who());
}

StepView* TrialView::Other(size_t number) {
  return number < others_.size() ? others_[number].get() : nullptr;
}

}  // namespace smdebug::rules
