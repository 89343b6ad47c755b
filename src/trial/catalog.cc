#include "src/trial/catalog.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>

#include "smdebug/error.h"
#include "src/trial/reduction_name.h"

namespace smdebug::trial {
namespace {

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

}  // namespace

std::optional<NameTable::Found> NameTable::Find(std::string_view name) const {
  const base::MutexLock lock(mu_);
  const auto it = numbers_.find(name);
  if (it == numbers_.end()) return std::nullopt;
  return Found{&it->first, it->second};
}

const std::string* NameTable::Set(std::string_view name, uint32_t number) {
  const base::MutexLock lock(mu_);
  const auto it = numbers_.try_emplace(std::string(name)).first;
  it->second = number;
  return &it->first;
}

Catalog Catalog::Draft() const {
  Catalog draft = *this;
  ++draft.epoch_;
  return draft;
}

void Catalog::Add(int64_t step, std::string_view worker,
                  const steps::StepRecord& record, std::string_view name,
                  const StepRange& range) {
  const index::StepIndex& index = record.index;
  CheckLocations(index, name);
  const auto file = static_cast<uint32_t>(file_count());
  const uint32_t worker_number = Intern(worker);
  uint32_t place = 0;
  if (!record.place.empty()) {
    places_.Push(epoch_, record.place);
    place = static_cast<uint32_t>(places_.size());
  }
  int64_t last_step = step;
  for (const index::ScalarEntry& scalar : index.scalars) {
    if (range.Holds(scalar.step)) last_step = std::max(last_step, scalar.step);
  }
  files_.Push(epoch_, {step, last_step, worker_number, place});
  WorkerRow& row_of_worker = workers_.Change(epoch_, worker_number);
  row_of_worker.steps.Insert(epoch_, step);
  ++row_of_worker.num_steps;

  const bool has_data = !index.tensors.empty() || !index.shapes.empty();
  const Mode mode = Step(step, index.mode, index.mode_step).mode;
  StepRow& row = steps_.Change(epoch_, step);
  ++row.workers;
  if (has_data && !row.has_data) {
    row.has_data = true;
    ++whole_count_;
  }

  // Riders first: where one was saved again at the file's own step, the entry
  // of the tensor payload is the later value.
  std::unordered_set<uint64_t> riders;
  for (const index::ScalarEntry& scalar : index.scalars) {
    riders.insert(scalar.location.start);
    if (!range.Holds(scalar.step)) continue;
    const Mode own = Step(scalar.step, scalar.mode, scalar.mode_step).mode;
    TensorRow& rider = AddRecord(
        scalar.name, EntryOf(scalar.step, scalar.location, file), own);
    if (!std::exchange(rider.rides, true)) ++rider_count_;
    if (!FindStep(scalar.step)->has_scalars) {
      steps_.Change(epoch_, scalar.step).has_scalars = true;
    }
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
    counts.start = counts_.size();
    counts_.Push(epoch_, entry.values);
    Insert(Row(entry.name), counts, mode);
  }
}

TensorRow& Catalog::AddRecord(std::string_view name, const Entry& entry,
                              Mode mode) {
  const auto split = SplitReductionName(name);
  TensorRow& row = Row(split ? split->tensor : name);
  Entry added = entry;
  if (split) added.part = Part::Of(split->reduction);
  has_checksums_ |= added.has_crc32c;
  Insert(row, added, mode);
  return row;
}

void Catalog::AddShape(const index::ShapeEntry& shape, Entry entry, Mode mode) {
  auto& [known, number] =
      *names_->shapes.try_emplace(shape.shape, shapes_.size()).first;
  // A draft that was not kept can have left it behind.
  if (number >= shapes_.size() || shapes_[number] != &known) {
    number = shapes_.size();
    shapes_.Push(epoch_, &known);
  }
  entry.part = Part::Shape();
  entry.start = number;
  if (shape.dtype) entry.length = static_cast<uint32_t>(*shape.dtype) + 1;
  TensorRow& row = Row(shape.name);
  if (row.original_name == nullptr) {
    row.original_name =
        std::make_shared<const std::string>(shape.original_name);
  }
  Insert(row, entry, mode);
}

void Catalog::Insert(TensorRow& row, const Entry& entry, Mode mode) {
  row.entries.Insert(epoch_, entry);
  row.modes |= ModeBit(mode);
}

void Catalog::Forget(int64_t step) {
  uint64_t first_counts = counts_.size();
  for (TensorId id = 0; id < tensors_.size(); ++id) {
    TensorRow& row = tensors_.Change(epoch_, id);
    row.entries.Filter(epoch_,
                       [&](const Entry& entry) { return entry.step >= step; });
    for (const Entry& entry : row.entries) {
      if (entry.part != Part::Counts()) continue;
      first_counts = std::min(first_counts, entry.start);
    }
  }
  steps_.Filter(epoch_, [&](const StepRow& row) { return row.step >= step; });
  whole_count_ =
      static_cast<size_t>(std::ranges::count(steps_, true, &StepRow::has_data));
  for (auto& globals : globals_) {
    globals.Filter(epoch_,
                   [&](const ModeRow& row) { return row.step >= step; });
  }
  for (uint32_t i = 0; i < workers_.size(); ++i) {
    workers_.Change(epoch_, i).steps.Filter(
        epoch_, [&](int64_t known) { return known >= step; });
  }
  while (first_file_ < files_.size() && files_[first_file_].last_step < step) {
    ++first_file_;
  }
  files_.DropBefore(epoch_, first_file_);
  counts_.DropBefore(epoch_, first_counts);
}

bool Catalog::Has(int64_t step, std::string_view worker) const {
  const auto found = names_->workers.Find(worker);
  return found && found->number < workers_.size() &&
         workers_[found->number].name == found->name &&
         workers_[found->number].steps.Find(step) != nullptr;
}

std::optional<Catalog::TensorId> Catalog::Find(std::string_view name) const {
  const auto found = names_->tensors.Find(name);
  if (!found || found->number >= tensors_.size() ||
      tensors_[found->number].name != found->name) {
    return std::nullopt;
  }
  return found->number;
}

std::optional<int64_t> Catalog::GlobalStep(Mode mode, int64_t mode_step) const {
  const ModeRow* row = globals_[ModeIndex(mode)].Find(mode_step);
  return row == nullptr ? std::nullopt : std::optional(row->step);
}

std::optional<Catalog::ModeStep> Catalog::NextStep(int64_t step,
                                                   Mode mode) const {
  if (mode == Mode::kGlobal) {
    const auto it =
        std::find_if(steps_.LowerBound(step), steps_.end(),
                     [](const StepRow& row) { return row.has_data; });
    if (it == steps_.end()) return std::nullopt;
    return ModeStep{it->step, &*it};
  }
  const auto& globals = globals_[ModeIndex(mode)];
  for (auto it = globals.LowerBound(step); it != globals.end(); ++it) {
    const StepRow* row = FindStep(it->step);
    if (row->has_data) return ModeStep{it->mode_step, row};
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

steps::StepContent Catalog::ContentOf(const Entry& entry) const {
  const IndexFile& origin = file(entry.file);
  return {.step = origin.step,
          .worker = worker(origin.worker),
          .place = origin.place == 0 ? std::string_view()
                                     : places_[origin.place - 1]};
}

bool Catalog::WroteAfter(uint32_t worker, int64_t step) const {
  const auto& steps = workers_[worker].steps;
  return !steps.empty() && steps.back() > step;
}

uint32_t Catalog::Intern(std::string_view worker) {
  const auto found = names_->workers.Find(worker);
  if (found && found->number < workers_.size() &&
      workers_[found->number].name == found->name) {
    return found->number;
  }
  const auto number = static_cast<uint32_t>(workers_.size());
  workers_.Push(epoch_, {.name = names_->workers.Set(worker, number)});
  return number;
}

TensorRow& Catalog::Row(std::string_view name) {
  // Steps mostly hold the same tensors in the same order.
  if (next_row_ >= tensors_.size()) next_row_ = 0;
  TensorId id = next_row_;
  if (tensors_.size() == 0 || *tensors_[id].name != name) {
    const auto found = Find(name);
    id = found.value_or(static_cast<TensorId>(tensors_.size()));
    if (!found) {
      tensors_.Push(epoch_, {.name = names_->tensors.Set(name, id)});
    }
  }
  next_row_ = id + 1;
  return tensors_.Change(epoch_, id);
}

const StepRow& Catalog::Step(int64_t step, Mode mode, int64_t mode_step) {
  const StepRow* known = steps_.Find(step);
  // Of a step without data, a scalar or a file may have given just the number.
  const bool is_new = known == nullptr;
  const bool is_vague =
      !is_new && !known->has_data && known->mode == Mode::kGlobal;
  if (!is_new && (!is_vague || mode == Mode::kGlobal)) return *known;
  modes_ |= ModeBit(mode);
  auto& globals = globals_[ModeIndex(mode)];
  // The first global step of a mode step keeps it.
  if (globals.Find(mode_step) == nullptr) {
    globals.Insert(epoch_, {mode_step, step});
  }
  if (is_new) steps_.Insert(epoch_, {.step = step});
  StepRow& row = steps_.Change(epoch_, step);
  row.mode = mode;
  row.mode_step = mode_step;
  return row;
}

}  // namespace smdebug::trial
