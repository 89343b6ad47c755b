// The queries of Reader about one tensor.

#include <algorithm>

#include <fmt/format.h>

#include "smdebug/error.h"
#include "src/index/run_files.h"
#include "src/trial/reader.h"
#include "src/trial/reason.h"
#include "src/trial/value_reader.h"

namespace smdebug::trial {

const Entry* Reader::Found::Get(Part part) const {
  const auto last =
      std::find_if(entries.rbegin(), entries.rend(),
                   [&](const Entry& e) { return e.part == part; });
  return last == entries.rend() ? nullptr : &*last;
}

bool Reader::Found::has_reductions() const {
  return std::ranges::any_of(
      entries, [](const Entry& e) { return e.part.reduction().has_value(); });
}

std::span<const Entry> Reader::EntriesAt(TensorId id, int64_t step,
                                         Mode mode) const {
  const Catalog& catalog = scanner_.catalog();
  const std::optional<int64_t> global =
      mode == Mode::kGlobal ? step : catalog.GlobalStep(mode, step);
  if (!global) return {};
  return catalog.tensor(id).At(*global);
}

std::span<const Entry> Reader::RequireEntries(TensorId id, int64_t step,
                                              Mode mode) {
  std::span<const Entry> entries = EntriesAt(id, step, mode);
  if (!entries.empty()) return entries;
  MaybeRefresh();
  entries = EntriesAt(id, step, mode);
  if (!entries.empty()) return entries;
  // A step that is there, but in a file that cannot be read.
  for (const auto& [key, bad] : scanner_.damaged()) {
    if (mode == Mode::kGlobal && bad.step == step) {
      throw FormatError(key, bad.reason);
    }
  }
  switch (StateOf(step, mode)) {
    case StepState::kUnavailable:
      throw StepUnavailable(step, mode);
    case StepState::kNotYetAvailable:
      throw StepNotYetAvailable(step, mode);
    case StepState::kAvailable:
      break;
  }
  throw TensorUnavailableForStep(scanner_.catalog().tensor(id).name, step,
                                 mode);
}

// What `worker`, or the first by name, has among `entries`; empty if that
// worker has nothing.
std::vector<Entry> Reader::Select(std::span<const Entry> entries,
                                  WorkerName worker) const {
  const Catalog& catalog = scanner_.catalog();
  std::string_view name;
  if (worker) {
    name = *worker;
  } else {
    name = catalog.WorkerOf(entries.front());
    for (const Entry& entry : entries) {
      name = std::min<std::string_view>(name, catalog.WorkerOf(entry));
    }
  }
  std::vector<Entry> selected;
  for (const Entry& entry : entries) {
    if (catalog.WorkerOf(entry) == name) selected.push_back(entry);
  }
  return selected;
}

Reader::Found Reader::Lookup(TensorId id, int64_t step, Mode mode,
                             WorkerName worker) {
  const base::MutexLock lock(mu_);
  const std::span<const Entry> entries = RequireEntries(id, step, mode);
  Found found = {.row = &scanner_.catalog().tensor(id),
                 .step = step,
                 .mode = mode,
                 .entries = Select(entries, worker)};
  if (found.entries.empty()) throw InvalidWorker(worker.value_or(""));
  return found;
}

std::optional<std::string> Reader::OriginalName(TensorId id) const {
  const base::MutexLock lock(mu_);
  return scanner_.catalog().tensor(id).original_name;
}

std::vector<int64_t> Reader::StepsOf(TensorId id, Mode mode,
                                     bool include_incomplete) {
  const base::MutexLock lock(mu_);
  MaybeRefresh();
  const Catalog& catalog = scanner_.catalog();
  std::vector<int64_t> steps;
  int64_t last = -1;
  for (const Entry& entry : catalog.tensor(id).entries) {
    if (entry.step == last) continue;
    last = entry.step;
    const StepRow& row = *catalog.FindStep(entry.step);
    if (!include_incomplete && !IsComplete(row)) continue;
    if (mode == Mode::kGlobal) {
      steps.push_back(row.step);
    } else if (row.mode == mode &&
               catalog.GlobalStep(mode, row.mode_step) == row.step) {
      steps.push_back(row.mode_step);
    }
  }
  std::ranges::sort(steps);
  return steps;
}

std::vector<std::string> Reader::WorkersOf(TensorId id, int64_t step,
                                           Mode mode) {
  const base::MutexLock lock(mu_);
  std::set<std::string> names;
  for (const Entry& entry : RequireEntries(id, step, mode)) {
    names.insert(scanner_.catalog().WorkerOf(entry));
  }
  return {names.begin(), names.end()};
}

Value Reader::ReadAt(TensorId id, int64_t step, Mode mode, WorkerName worker) {
  const Found found = Lookup(id, step, mode, worker);
  const Entry* entry = found.Get(Part::Value());
  if (entry == nullptr) {
    throw TensorUnavailableForStep(found.row->name, step, mode,
                                   found.has_reductions());
  }
  return Read(found, *entry);
}

double Reader::ReductionAt(TensorId id, int64_t step, Reduction reduction,
                           Mode mode, WorkerName worker) {
  const Found found = Lookup(id, step, mode, worker);
  if (const Entry* saved = found.Get(Part::Of(reduction))) {
    return ReadReduction(found, *saved);
  }
  const Entry* value = found.Get(Part::Value());
  if (value == nullptr) {
    throw TensorUnavailableForStep(found.row->name, step, mode,
                                   found.has_reductions());
  }
  return Read(found, *value).Reduce(reduction);
}

std::vector<std::pair<Reduction, double>> Reader::ReductionsAt(
    TensorId id, int64_t step, Mode mode, WorkerName worker) {
  const Found found = Lookup(id, step, mode, worker);
  std::vector<std::pair<Reduction, double>> values;
  for (const ReductionOp op : kReductionOps) {
    for (const bool abs : {false, true}) {
      const Reduction reduction = {op, abs};
      if (const Entry* entry = found.Get(Part::Of(reduction))) {
        values.emplace_back(reduction, ReadReduction(found, *entry));
      }
    }
  }
  return values;
}

std::vector<int64_t> Reader::ShapeAt(TensorId id, int64_t step, Mode mode,
                                     WorkerName worker) {
  const Found found = Lookup(id, step, mode, worker);
  if (const Entry* shape = found.Get(Part::Shape())) {
    const base::MutexLock lock(mu_);
    return scanner_.catalog().shape(*shape);
  }
  const Entry* value = found.Get(Part::Value());
  if (value == nullptr) {
    throw ShapeUnavailableForStep(found.row->name, step, mode);
  }
  const Value read = Read(found, *value);
  return {read.shape().begin(), read.shape().end()};
}

std::optional<ValueCounts> Reader::CountsAt(TensorId id, int64_t step,
                                            Mode mode, WorkerName worker) {
  const Found found = Lookup(id, step, mode, worker);
  const Entry* counts = found.Get(Part::Counts());
  if (counts == nullptr) return std::nullopt;
  const base::MutexLock lock(mu_);
  return scanner_.catalog().counts(*counts);
}

Tensor::Saved Reader::SavedAt(TensorId id, int64_t step, Mode mode,
                              WorkerName worker) const {
  const base::MutexLock lock(mu_);
  Tensor::Saved saved;
  const std::span<const Entry> entries = EntriesAt(id, step, mode);
  if (entries.empty()) return saved;
  for (const Entry& entry : Select(entries, worker)) {
    if (entry.part == Part::Value()) {
      saved.value = true;
      saved.value_bytes = entry.length;
    }
    saved.shape |= entry.part == Part::Shape();
    if (const auto reduction = entry.part.reduction()) {
      saved.reductions.push_back(*reduction);
    }
  }
  return saved;
}

std::string Reader::EventKeyOf(const Entry& entry) const {
  const base::MutexLock lock(mu_);
  return scanner_.catalog().EventKey(entry);
}

Value Reader::Read(const Found& found, const Entry& entry) {
  const std::string key = EventKeyOf(entry);
  const RecordPlace place = {
      .event_key = key, .tensor = found.row->name, .entry = entry};
  try {
    for (int64_t tries = 0; true; ++tries) {
      auto value = ReadValue(*storage_, place, options_.verify_checksums);
      if (value) return *std::move(value);
      if (tries >= options_.missing_file_retries || !MayStillAppear(entry)) {
        NoteDamage(
            {key, "is missing, but the index names it", found.row->name});
        throw TensorUnavailableForStep(found.row->name, found.step, found.mode);
      }
      Pause(options_.poll_interval);
    }
  } catch (const FormatError& error) {
    NoteDamage({key, ReasonOf(error, key), found.row->name});
    throw;
  }
}

double Reader::ReadReduction(const Found& found, const Entry& entry) {
  const Value value = Read(found, entry);
  if (value.dtype() != DType::kString && value.size() == 1) return value.Get(0);
  const std::string key = EventKeyOf(entry);
  const std::string reason =
      fmt::format("a reduction of '{}' is not one number", found.row->name);
  NoteDamage({key, reason, found.row->name});
  throw FormatError(key, reason);
}

// An event file is published before its index. Only where changes of other
// machines show late can it come after.
bool Reader::MayStillAppear(const Entry& entry) const {
  if (watch_ != nullptr) return false;
  const base::MutexLock lock(mu_);
  const IndexFile& file = scanner_.catalog().file(entry.file);
  return !loaded_all_ &&
         !scanner_.catalog().WroteAfter(file.worker, file.step) &&
         !storage_->Stat(index::kEndMarkerKey).has_value();
}

void Reader::NoteDamage(Damage damage) {
  const base::MutexLock lock(mu_);
  if (damaged_values_.emplace(damage.file, damage.tensor).second) {
    value_damage_.push_back(std::move(damage));
  }
}

}  // namespace smdebug::trial
