// The queries of Reader about the run as a whole.

#include <algorithm>
#include <iterator>

#include "smdebug/error.h"
#include "src/base/log.h"
#include "src/trial/reader.h"

namespace smdebug::trial {
namespace {

bool HasMode(uint8_t modes, Mode mode) {
  return (modes >> ModeIndex(mode) & 1) != 0;
}

}  // namespace

std::vector<std::string> Reader::TensorNames(const TensorFilter& filter) {
  if (!filter.regexes.empty() && filter.collection) {
    throw ConfigError("tensor_names", *filter.collection,
                      "either a regex or a collection, not both");
  }
  const base::MutexLock lock(mu_);
  MaybeRefresh();
  const Catalog& catalog = scanner_.catalog();
  std::vector<TensorId> candidates;
  if (filter.collection) {
    const auto it = collections_.collections().find(*filter.collection);
    if (it != collections_.collections().end()) {
      candidates = members_.Of(it->second, catalog);
    }
  } else if (!filter.regexes.empty()) {
    candidates = members_.Matching(filter.regexes, catalog);
  } else {
    candidates.resize(catalog.tensor_count());
    for (TensorId id = 0; id < candidates.size(); ++id) candidates[id] = id;
  }
  std::vector<std::string> names;
  for (const TensorId id : candidates) {
    const TensorRow& row = catalog.tensor(id);
    const bool wanted =
        filter.step
            ? !EntriesAt(id, *filter.step, filter.mode).empty()
            : filter.mode == Mode::kGlobal || HasMode(row.modes, filter.mode);
    if (wanted) names.push_back(row.name);
  }
  std::ranges::sort(names);
  return names;
}

std::optional<Reader::TensorId> Reader::Find(std::string_view tensor) {
  const base::MutexLock lock(mu_);
  if (const auto id = scanner_.catalog().Find(tensor)) return id;
  MaybeRefresh();
  return scanner_.catalog().Find(tensor);
}

const std::string& Reader::NameOf(TensorId id) const {
  const base::MutexLock lock(mu_);
  return scanner_.catalog().tensor(id).name;
}

std::vector<int64_t> Reader::Steps(Mode mode, bool include_incomplete) {
  const base::MutexLock lock(mu_);
  MaybeRefresh();
  std::vector<int64_t> steps;
  for (const auto& [number, row] : scanner_.catalog().StepsOf(mode)) {
    if (include_incomplete || IsComplete(*row)) steps.push_back(number);
  }
  return steps;
}

std::vector<Mode> Reader::Modes() const {
  const base::MutexLock lock(mu_);
  std::vector<Mode> modes;
  std::ranges::copy_if(kModes, std::back_inserter(modes), [&](Mode mode) {
    mu_.AssertHeld();
    return mode != Mode::kGlobal && HasMode(scanner_.catalog().modes(), mode);
  });
  return modes;
}

const StepRow* Reader::KnownStep(int64_t global_step) {
  if (const StepRow* row = scanner_.catalog().FindStep(global_step)) return row;
  MaybeRefresh();
  return scanner_.catalog().FindStep(global_step);
}

std::optional<Mode> Reader::ModeOf(int64_t global_step) {
  const base::MutexLock lock(mu_);
  const StepRow* row = KnownStep(global_step);
  return row == nullptr ? std::nullopt : std::optional(row->mode);
}

std::optional<int64_t> Reader::ModeStep(int64_t global_step) {
  const base::MutexLock lock(mu_);
  const StepRow* row = KnownStep(global_step);
  if (row == nullptr) return std::nullopt;
  return row->mode == Mode::kGlobal ? row->step : row->mode_step;
}

std::optional<int64_t> Reader::GlobalStep(Mode mode, int64_t mode_step) {
  if (mode == Mode::kGlobal) return mode_step;
  const base::MutexLock lock(mu_);
  const auto step = scanner_.catalog().GlobalStep(mode, mode_step);
  if (step) return step;
  MaybeRefresh();
  return scanner_.catalog().GlobalStep(mode, mode_step);
}

std::vector<std::string> Reader::Workers() {
  const base::MutexLock lock(mu_);
  MaybeRefresh();
  return {collections_.workers().begin(), collections_.workers().end()};
}

int64_t Reader::num_workers() const {
  const base::MutexLock lock(mu_);
  return collections_.num_workers();
}

std::map<std::string, Collection, std::less<>> Reader::Collections() const {
  const base::MutexLock lock(mu_);
  return collections_.collections();
}

std::optional<Collection> Reader::FindCollection(std::string_view name) const {
  const base::MutexLock lock(mu_);
  const auto it = collections_.collections().find(name);
  if (it == collections_.collections().end()) return std::nullopt;
  return it->second;
}

}  // namespace smdebug::trial
