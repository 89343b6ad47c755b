#include "src/trial/snapshot.h"

#include <algorithm>
#include <optional>
#include <string_view>

namespace smdebug::trial {

StepState Snapshot::StateOf(int64_t step, Mode mode) const {
  const auto next = catalog().NextStep(step, mode);
  if (!next) {
    return loaded_all ? StepState::kUnavailable : StepState::kNotYetAvailable;
  }
  if (next->number == step) {
    return IsComplete(*next->row) ? StepState::kAvailable
                                  : StepState::kNotYetAvailable;
  }
  return next->row->step <= scanner.last_complete_step()
             ? StepState::kUnavailable
             : StepState::kNotYetAvailable;
}

std::span<const Entry> Snapshot::EntriesAt(Catalog::TensorId id, int64_t step,
                                           Mode mode) const {
  const std::optional<int64_t> global =
      mode == Mode::kGlobal ? step : catalog().GlobalStep(mode, step);
  if (!global) return {};
  return catalog().tensor(id).At(*global);
}

std::vector<Entry> Snapshot::Select(std::span<const Entry> entries,
                                    WorkerName worker) const {
  std::string_view name;
  if (worker) {
    name = *worker;
  } else {
    name = catalog().WorkerOf(entries.front());
    for (const Entry& entry : entries) {
      name = std::min<std::string_view>(name, catalog().WorkerOf(entry));
    }
  }
  std::vector<Entry> selected;
  for (const Entry& entry : entries) {
    if (catalog().WorkerOf(entry) == name) selected.push_back(entry);
  }
  return selected;
}

}  // namespace smdebug::trial
