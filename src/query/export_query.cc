#include "src/query/export_query.h"

#include <algorithm>
#include <set>
#include <utility>

#include "src/query/name_match.h"

namespace smdebug::query {

Value ExportEntry::ReadValue() const {
  return tensor.At(id.step, Mode::kGlobal, worker);
}

double ExportEntry::ReadReduction(Reduction reduction) const {
  return tensor.ReductionValue(id.step, reduction, Mode::kGlobal, worker);
}

std::vector<std::pair<Reduction, double>> ExportEntry::ReadReductions() const {
  return tensor.ReductionValues(id.step, Mode::kGlobal, worker);
}

bool ExportEntry::Gives(Reduction reduction) const {
  return saved.value || std::ranges::find(saved.reductions, reduction) !=
                            saved.reductions.end();
}

bool IsNumber(const Value& value) {
  return value.size() == 1 && value.dtype() != DType::kString;
}

void ForEachEntry(Trial& trial, const ExportQuery& query,
                  const std::function<bool(const ExportEntry&)>& visit) {
  std::vector<std::string> names =
      trial.TensorNames({.step = query.step, .mode = query.mode});
  if (query.tensors) {
    std::set<std::string> wanted;
    for (const std::string& name : *query.tensors) {
      if (trial.HasTensor(name)) wanted.insert(trial.tensor(name).name());
    }
    std::erase_if(
        names, [&](const std::string& name) { return !wanted.contains(name); });
  }
  std::vector<Tensor> tensors;
  std::vector<std::pair<int64_t, size_t>> cells;  // Step and tensor.
  for (const std::string& name :
       KeepMatching(std::move(names), query.regexes)) {
    tensors.push_back(trial.tensor(name));
    for (const int64_t step : tensors.back().Steps(query.mode)) {
      if (query.step && step != *query.step) continue;
      cells.emplace_back(step, tensors.size() - 1);
    }
  }
  std::ranges::sort(cells);
  for (const auto& [step, number] : cells) {
    ExportEntry entry = {.tensor = tensors[number],
                         .id = IdentifyStep(trial, step, query.mode),
                         .worker = {},
                         .saved = {}};
    for (std::string& worker :
         entry.tensor.Workers(entry.id.step, Mode::kGlobal)) {
      if (query.worker && worker != *query.worker) continue;
      entry.worker = std::move(worker);
      entry.saved =
          entry.tensor.SavedAt(entry.id.step, Mode::kGlobal, entry.worker);
      if (!visit(entry)) return;
    }
  }
}

}  // namespace smdebug::query
