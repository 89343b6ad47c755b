#include "src/trial/catalog.h"

#include <algorithm>
#include <unordered_set>

#include <fmt/format.h>

#include "smdebug/error.h"
#include "src/trial/reduction_name.h"

namespace smdebug::trial {
namespace {

constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();

uint8_t ModeBit(Mode mode) {
  return static_cast<uint8_t>(1U << ModeIndex(mode));
}

Entry EntryOf(int64_t step, const index::Location& location, uint32_t file) {
  return {.step = step,
          .start = location.start,
          .length = static_cast<uint32_t>(location.length),
          .crc32c = location.crc32c.value_or(0),
          .file = file,
          .part = Part::Value(),
          .has_crc32c = location.crc32c.has_value()};
}

void CheckLocations(const index::StepIndex& index, std::string_view key) {
  const auto check = [&](const auto& entry) {
    if (entry.location.length > std::numeric_limits<uint32_t>::max()) {
      throw FormatError(key, fmt::format("'{}' claims a record of {} bytes",
                                         entry.name, entry.location.length));
    }
  };
  std::ranges::for_each(index.tensors, check);
  std::ranges::for_each(index.scalars, check);
}

// Inserts into a vector that is in order by `key`, which is nearly always at
// its end; after what is equal.
template <typename T, typename Key>
auto InsertInOrder(std::vector<T>& list, T item, Key key) {
  if (list.empty() || key(list.back()) <= key(item)) {
    list.push_back(std::move(item));
    return std::prev(list.end());
  }
  return list.insert(std::ranges::upper_bound(list, key(item), {}, key),
                     std::move(item));
}

}  // namespace

std::span<const Entry> TensorRow::At(int64_t step) const {
  const auto first = std::ranges::lower_bound(entries, step, {}, &Entry::step);
  return {first, std::ranges::upper_bound(first, entries.end(), step, {},
                                          &Entry::step)};
}

void Catalog::Add(int64_t step, std::string_view worker,
                  const index::StepIndex& index, std::string_view key,
                  const StepRange& range) {
  CheckLocations(index, key);
  const auto file = static_cast<uint32_t>(file_count());
  const uint32_t worker_number = Intern(worker);
  uint32_t event = 0;
  if (!index.event_file.empty() &&
      index.event_file !=
          index::EventFileKey(step, index::EncodeWorker(worker))) {
    event = static_cast<uint32_t>(events_.size());
    events_.push_back(index.event_file);
  }
  files_.push_back({step, worker_number, event});
  InsertInOrder(workers_[worker_number].steps, step, std::identity());

  StepRow& row = Step(step, index.mode, index.mode_step);
  ++row.workers;
  row.has_data |= !index.tensors.empty() || !index.shapes.empty();
  const Mode mode = row.mode;

  // Riders first: where one was saved again at the file's own step, the entry
  // of the tensor payload is the later value.
  std::unordered_set<uint64_t> riders;
  for (const index::ScalarEntry& scalar : index.scalars) {
    riders.insert(scalar.location.start);
    if (!range.Holds(scalar.step)) continue;
    const Mode own = Step(scalar.step, scalar.mode, scalar.mode_step).mode;
    AddRecord(scalar.name, EntryOf(scalar.step, scalar.location, file), own);
  }
  for (const index::TensorEntry& tensor : index.tensors) {
    if (!riders.empty() && riders.contains(tensor.location.start)) continue;
    Entry entry = EntryOf(step, tensor.location, file);
    entry.shared = !tensor.stored_as.empty();
    AddRecord(tensor.name, entry, mode);
  }
  const Entry here = {.step = step, .file = file};
  for (const index::ShapeEntry& shape : index.shapes) {
    AddShape(shape, here, mode);
  }
  for (const index::CountsEntry& entry : index.counts) {
    Entry counts = here;
    counts.part = Part::Counts();
    counts.start = first_counts_ + counts_.size();
    counts_.push_back({entry.dtype, entry.count, entry.nan, entry.pos_inf,
                       entry.neg_inf, entry.zero});
    Insert(Row(entry.name), counts, mode);
  }
}

void Catalog::AddRecord(std::string_view name, const Entry& entry, Mode mode) {
  if (const auto split = SplitReductionName(name)) {
    Entry reduced = entry;
    reduced.part = Part::Of(split->reduction);
    Insert(Row(split->tensor), reduced, mode);
    return;
  }
  Insert(Row(name), entry, mode);
}

void Catalog::AddShape(const index::ShapeEntry& shape, Entry entry, Mode mode) {
  const auto [it, fresh] =
      shape_numbers_.try_emplace(shape.shape, shapes_.size());
  if (fresh) shapes_.push_back(&it->first);
  entry.part = Part::Shape();
  entry.start = it->second;
  TensorRow& row = Row(shape.name);
  if (!row.original_name) row.original_name = shape.original_name;
  Insert(row, entry, mode);
}

void Catalog::Insert(TensorRow& row, const Entry& entry, Mode mode) {
  InsertInOrder(row.entries, entry, [](const Entry& e) { return e.step; });
  row.modes |= ModeBit(mode);
}

void Catalog::Forget(int64_t step) {
  const auto erase_before = [&](auto& list, auto key) {
    list.erase(list.begin(), std::ranges::lower_bound(list, step, {}, key));
    if (list.capacity() > 4 * list.size()) list.shrink_to_fit();
  };
  uint64_t first_counts = first_counts_ + counts_.size();
  for (TensorRow& row : tensors_) {
    erase_before(row.entries, &Entry::step);
    for (const Entry& entry : row.entries) {
      if (entry.part != Part::Counts()) continue;
      first_counts = std::min(first_counts, entry.start);
    }
  }
  erase_before(steps_, &StepRow::step);
  for (auto& globals : globals_) {
    std::erase_if(globals,
                  [&](const auto& pair) { return pair.second < step; });
  }
  for (WorkerRow& row : workers_) erase_before(row.steps, std::identity());
  // Scalars ride to steps before their file's, so files are as old as they are.
  while (!files_.empty() && files_.front().step < step) {
    files_.pop_front();
    ++first_file_;
  }
  counts_.erase(
      counts_.begin(),
      counts_.begin() + static_cast<ptrdiff_t>(first_counts - first_counts_));
  first_counts_ = first_counts;
}

bool Catalog::Has(int64_t step, std::string_view worker) const {
  const auto it = worker_numbers_.find(worker);
  return it != worker_numbers_.end() &&
         std::ranges::binary_search(workers_[it->second].steps, step);
}

std::optional<Catalog::TensorId> Catalog::Find(std::string_view name) const {
  const auto it = tensor_ids_.find(name);
  if (it == tensor_ids_.end()) return std::nullopt;
  return it->second;
}

const StepRow* Catalog::FindStep(int64_t step) const {
  const auto it = std::ranges::lower_bound(steps_, step, {}, &StepRow::step);
  return it != steps_.end() && it->step == step ? &*it : nullptr;
}

std::optional<int64_t> Catalog::GlobalStep(Mode mode, int64_t mode_step) const {
  const auto& globals = globals_[ModeIndex(mode)];
  const auto it = std::ranges::lower_bound(globals, mode_step, {},
                                           &std::pair<int64_t, int64_t>::first);
  if (it == globals.end() || it->first != mode_step) return std::nullopt;
  return it->second;
}

std::optional<Catalog::ModeStep> Catalog::NextStep(int64_t step,
                                                   Mode mode) const {
  if (mode == Mode::kGlobal) {
    auto it = std::ranges::lower_bound(steps_, step, {}, &StepRow::step);
    it = std::find_if(it, steps_.end(), [](auto& row) { return row.has_data; });
    if (it == steps_.end()) return std::nullopt;
    return ModeStep{it->step, &*it};
  }
  const auto& globals = globals_[ModeIndex(mode)];
  for (auto it = std::ranges::lower_bound(globals, std::pair(step, kLeast));
       it != globals.end(); ++it) {
    const StepRow* row = FindStep(it->second);
    if (row->has_data) return ModeStep{it->first, row};
  }
  return std::nullopt;
}

std::vector<Catalog::ModeStep> Catalog::StepsOf(Mode mode) const {
  std::vector<ModeStep> steps;
  if (mode == Mode::kGlobal) {
    for (const StepRow& row : steps_) {
      if (row.has_data) steps.push_back({row.step, &row});
    }
    return steps;
  }
  for (const auto& [mode_step, step] : globals_[ModeIndex(mode)]) {
    const StepRow* row = FindStep(step);
    if (row->has_data) steps.push_back({mode_step, row});
  }
  return steps;
}

int64_t Catalog::LastStep(Mode mode) const {
  const std::vector<ModeStep> steps = StepsOf(mode);
  return steps.empty() ? -1 : steps.back().number;
}

std::string Catalog::EventKey(const Entry& entry) const {
  const IndexFile& origin = file(entry.file);
  if (origin.event != 0) return events_[origin.event];
  return index::EventFileKey(origin.step,
                             index::EncodeWorker(worker(origin.worker)));
}

bool Catalog::WroteAfter(uint32_t worker, int64_t step) const {
  const std::vector<int64_t>& steps = workers_[worker].steps;
  return !steps.empty() && steps.back() > step;
}

uint32_t Catalog::Intern(std::string_view worker) {
  const auto it = worker_numbers_.find(worker);
  if (it != worker_numbers_.end()) return it->second;
  const auto number = static_cast<uint32_t>(workers_.size());
  worker_numbers_.emplace(worker, number);
  workers_.push_back({std::string(worker), {}});
  return number;
}

TensorRow& Catalog::Row(std::string_view name) {
  const auto it = tensor_ids_.find(name);
  if (it != tensor_ids_.end()) return tensors_[it->second];
  TensorRow& row = tensors_.emplace_back();
  row.name = name;
  tensor_ids_.emplace(row.name, static_cast<TensorId>(tensors_.size() - 1));
  return row;
}

StepRow& Catalog::Step(int64_t step, Mode mode, int64_t mode_step) {
  const auto it = std::ranges::lower_bound(steps_, step, {}, &StepRow::step);
  if (it != steps_.end() && it->step == step) return *it;
  modes_ |= ModeBit(mode);
  auto& globals = globals_[ModeIndex(mode)];
  const auto at = std::ranges::lower_bound(globals, mode_step, {},
                                           &std::pair<int64_t, int64_t>::first);
  // The first global step of a mode step keeps it.
  if (at == globals.end() || at->first != mode_step) {
    globals.insert(at, {mode_step, step});
  }
  return *steps_.insert(it,
                        {.step = step, .mode_step = mode_step, .mode = mode});
}

}  // namespace smdebug::trial
