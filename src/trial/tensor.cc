#include <algorithm>

#include "smdebug/trial.h"
#include "src/trial/reader.h"

namespace smdebug {

std::optional<std::string> Tensor::original_name() const {
  return reader_->OriginalName(id_);
}

std::vector<int64_t> Tensor::Steps(Mode mode, bool include_incomplete) const {
  return reader_->StepsOf(id_, mode, include_incomplete);
}

Value Tensor::At(int64_t step, Mode mode, WorkerName worker) const {
  return reader_->ReadAt(id_, step, mode, worker);
}

std::vector<std::pair<int64_t, Value>> Tensor::Values(Mode mode,
                                                      WorkerName worker) const {
  std::vector<std::pair<int64_t, Value>> values;
  for (const int64_t step : Steps(mode)) {
    values.emplace_back(step, At(step, mode, worker));
  }
  return values;
}

double Tensor::ReductionValue(int64_t step, Reduction reduction, Mode mode,
                              WorkerName worker) const {
  return reader_->ReductionAt(id_, step, reduction, mode, worker);
}

std::vector<std::pair<Reduction, double>> Tensor::ReductionValues(
    int64_t step, Mode mode, WorkerName worker) const {
  return reader_->ReductionsAt(id_, step, mode, worker);
}

std::vector<int64_t> Tensor::Shape(int64_t step, Mode mode,
                                   WorkerName worker) const {
  return reader_->ShapeAt(id_, step, mode, worker);
}

std::vector<std::pair<int64_t, std::vector<int64_t>>> Tensor::Shapes(
    Mode mode, WorkerName worker) const {
  std::vector<std::pair<int64_t, std::vector<int64_t>>> shapes;
  for (const int64_t step : Steps(mode)) {
    shapes.emplace_back(step, Shape(step, mode, worker));
  }
  return shapes;
}

std::optional<ValueCounts> Tensor::Counts(int64_t step, Mode mode,
                                          WorkerName worker) const {
  return reader_->CountsAt(id_, step, mode, worker);
}

std::vector<std::string> Tensor::Workers(int64_t step, Mode mode) const {
  return reader_->WorkersOf(id_, step, mode);
}

std::vector<int64_t> Tensor::PrevSteps(int64_t step, size_t count,
                                       Mode mode) const {
  std::vector<int64_t> steps = Steps(mode);
  steps.erase(std::ranges::upper_bound(steps, step), steps.end());
  if (count > 0 && steps.size() > count) {
    steps.erase(steps.begin(), steps.end() - static_cast<int64_t>(count));
  }
  return steps;
}

Tensor::Saved Tensor::SavedAt(int64_t step, Mode mode,
                              WorkerName worker) const {
  return reader_->SavedAt(id_, step, mode, worker);
}

}  // namespace smdebug
