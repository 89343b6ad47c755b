// The queries of Reader about one tensor.

#include <algorithm>
#include <limits>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "smdebug/error.h"
#include "src/run/keys.h"
#include "src/trial/reader.h"
#include "src/trial/value_reader.h"

namespace smdebug::trial {
namespace {

// "Saved: abs_max, min."; empty without reductions.
std::string WhatIsSaved(const Found& found) {
  std::set<std::string> names;
  for (const Reduction& reduction : found.Saved().reductions) {
    names.insert(ReductionName(reduction));
  }
  if (names.empty()) return {};
  return fmt::format("Saved: {}.", fmt::join(names, ", "));
}

std::string NotOneNumber(const Found& found) {
  return fmt::format("a reduction of '{}' is not one number", found.name());
}

// The element type of a tensor without elements, by the entry of its shape.
std::optional<DType> EmptyDType(const Entry& shape) {
  if (shape.length == 0) return std::nullopt;
  return static_cast<DType>(shape.length - 1);
}

}  // namespace

const Entry* Found::Get(Part part) const {
  const auto last =
      std::find_if(entries.rbegin(), entries.rend(),
                   [&](const Entry& e) { return e.part == part; });
  return last == entries.rend() ? nullptr : &*last;
}

bool Found::has_reductions() const {
  return std::ranges::any_of(
      entries, [](const Entry& e) { return e.part.reduction().has_value(); });
}

Tensor::Saved Found::Saved() const {
  Tensor::Saved saved;
  for (const Entry& entry : entries) {
    if (entry.part == Part::Value()) {
      saved.value = true;
      saved.value_bytes = entry.length;
    }
    if (entry.part == Part::Shape()) {
      saved.shape = true;
      saved.value |= EmptyDType(entry).has_value();
    }
    if (const auto reduction = entry.part.reduction()) {
      saved.reductions.push_back(*reduction);
    }
  }
  return saved;
}

Reader::Entries Reader::RequireEntries(TensorId id, int64_t step, Mode mode) {
  SnapshotPtr known = Known();
  std::span<const Entry> entries = known->EntriesAt(id, step, mode);
  if (!entries.empty()) return {std::move(known), entries};
  known = MaybeRefresh();
  entries = known->EntriesAt(id, step, mode);
  if (!entries.empty()) return {std::move(known), entries};
  // A step that is there, but in a file that cannot be read.
  for (const auto& [name, bad] : known->scanner.damaged()) {
    if (mode == Mode::kGlobal && bad.item.step == step) {
      throw FormatError(name, bad.reason, bad.kind);
    }
  }
  switch (known->StateOf(step, mode)) {
    case StepState::kUnavailable:
      throw StepUnavailable(step, mode);
    case StepState::kNotYetAvailable:
      throw StepNotYetAvailable(step, mode);
    case StepState::kAvailable:
      break;
  }
  throw TensorUnavailableForStep(*known->catalog().tensor(id).name, step, mode);
}

Reader::Held Reader::Lookup(TensorId id, int64_t step, Mode mode,
                            WorkerName worker) {
  Entries all = RequireEntries(id, step, mode);
  Held held = {.snapshot = std::move(all.snapshot)};
  held.entries = held.snapshot->Select(all.entries, worker);
  if (held.entries.empty()) throw InvalidWorker(worker.value_or(""));
  held.found = {.snapshot = held.snapshot.get(),
                .id = id,
                .step = step,
                .mode = mode,
                .entries = held.entries};
  return held;
}

std::optional<std::string> Reader::OriginalName(TensorId id) const {
  const auto name = Known()->catalog().tensor(id).original_name;
  return name == nullptr ? std::nullopt : std::optional(*name);
}

std::vector<int64_t> Reader::StepsOf(TensorId id, Mode mode,
                                     bool include_incomplete) {
  const SnapshotPtr known = MaybeRefresh();
  const Catalog& catalog = known->catalog();
  std::vector<int64_t> steps;
  int64_t last = -1;
  for (const Entry& entry : catalog.tensor(id).entries) {
    if (entry.step == last) continue;
    last = entry.step;
    const StepRow& row = *catalog.FindStep(entry.step);
    if (!include_incomplete && !known->IsComplete(row)) continue;
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
  const Entries found = RequireEntries(id, step, mode);
  std::set<std::string> names;
  for (const Entry& entry : found.entries) {
    names.insert(found.snapshot->catalog().WorkerOf(entry));
  }
  return {names.begin(), names.end()};
}

Value Reader::ReadAt(TensorId id, int64_t step, Mode mode, WorkerName worker) {
  return ValueOf(Lookup(id, step, mode, worker).found);
}

Value Reader::ValueOf(const Found& found) {
  if (const Entry* entry = found.Get(Part::Value())) {
    return Read(found, *entry);
  }
  const Entry* shape = found.Get(Part::Shape());
  const auto dtype = shape == nullptr ? std::nullopt : EmptyDType(*shape);
  if (!dtype) {
    throw TensorUnavailableForStep(found.name(), found.step, found.mode,
                                   found.has_reductions(), WhatIsSaved(found));
  }
  std::vector<int64_t> extents = found.snapshot->catalog().shape(*shape);
  if (*dtype == DType::kString) return {std::move(extents), {}, nullptr};
  return {*dtype, std::move(extents), {}, nullptr};
}

double Reader::ReductionAt(TensorId id, int64_t step, Reduction reduction,
                           Mode mode, WorkerName worker) {
  return ReductionOf(Lookup(id, step, mode, worker).found, reduction);
}

double Reader::ReductionOf(const Found& found, Reduction reduction) {
  if (const Entry* saved = found.Get(Part::Of(reduction))) {
    return ReadReduction(found, *saved);
  }
  return ValueOf(found).Reduce(reduction);
}

double Reader::ReductionOrNan(const Found& found, Reduction reduction) {
  if (const Entry* saved = found.Get(Part::Of(reduction))) {
    constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
    return NumberOf(found, *saved).value_or(kNone);
  }
  return ValueOf(found).Reduce(reduction);
}

std::vector<std::pair<Reduction, double>> Reader::ReductionsAt(
    TensorId id, int64_t step, Mode mode, WorkerName worker) {
  return ReductionsOf(Lookup(id, step, mode, worker).found);
}

std::vector<std::pair<Reduction, double>> Reader::ReductionsOf(
    const Found& found) {
  std::vector<std::pair<Reduction, double>> values;
  if (!found.has_reductions()) return values;
  for (const ReductionOp op : kReductionOps) {
    for (const bool abs : {false, true}) {
      const Reduction reduction = {op, abs};
      if (found.Get(Part::Of(reduction)) != nullptr) {
        values.emplace_back(reduction, ReductionOrNan(found, reduction));
      }
    }
  }
  return values;
}

std::vector<int64_t> Reader::ShapeAt(TensorId id, int64_t step, Mode mode,
                                     WorkerName worker) {
  return ShapeOf(Lookup(id, step, mode, worker).found);
}

std::vector<int64_t> Reader::ShapeOf(const Found& found) {
  if (const Entry* shape = found.Get(Part::Shape())) {
    return found.snapshot->catalog().shape(*shape);
  }
  const Entry* value = found.Get(Part::Value());
  if (value == nullptr) {
    throw ShapeUnavailableForStep(found.name(), found.step, found.mode);
  }
  const Value read = Read(found, *value);
  return {read.shape().begin(), read.shape().end()};
}

std::optional<ValueCounts> Reader::CountsAt(TensorId id, int64_t step,
                                            Mode mode, WorkerName worker) {
  const Held held = Lookup(id, step, mode, worker);
  const Entry* counts = held.found.Get(Part::Counts());
  if (counts == nullptr) return std::nullopt;
  return held.snapshot->catalog().counts(*counts);
}

Tensor::Saved Reader::SavedAt(TensorId id, int64_t step, Mode mode,
                              WorkerName worker) const {
  const SnapshotPtr known = Known();
  const std::span<const Entry> entries = known->EntriesAt(id, step, mode);
  if (entries.empty()) return {};
  const std::vector<Entry> selected = known->Select(entries, worker);
  return Found{.snapshot = known.get(), .id = id, .entries = selected}.Saved();
}

Value Reader::Read(const Found& found, const Entry& entry) {
  const Snapshot& snapshot = *found.snapshot;
  try {
    return Decode(snapshot, found.id, entry,
                  found.records != nullptr ? found.records->Fetch(entry)
                                           : FetchOne(snapshot, entry));
  } catch (const FormatError& error) {
    if (error.kind() != DamageKind::kMissingContent) throw;
    throw TensorUnavailableForStep(found.name(), found.step, found.mode,
                                   /*has_reductions=*/false, /*hint=*/"",
                                   error.file());
  }
}

double Reader::ReadReduction(const Found& found, const Entry& entry) {
  if (const auto number = NumberOf(found, entry)) return *number;
  throw FormatError(ContentName(*found.snapshot, entry), NotOneNumber(found));
}

std::optional<double> Reader::NumberOf(const Found& found, const Entry& entry) {
  const Value value = Read(found, entry);
  if (value.dtype() != DType::kString && value.size() == 1) return value.Get(0);
  NoteDamage({.file = ContentName(*found.snapshot, entry),
              .reason = NotOneNumber(found),
              .tensor = found.name(),
              .step = entry.step});
  return std::nullopt;
}

Blob Reader::FetchAround(const Snapshot& snapshot, const Entry& entry,
                         uint64_t start, uint64_t length) {
  const steps::StepContent content = snapshot.catalog().ContentOf(entry);
  for (int64_t tries = 0; true; ++tries) {
    auto blob = source_->Read(content, start, length);
    if (blob) return *std::move(blob);
    AwaitContent(snapshot, entry, tries);
  }
}

std::vector<Blob> Reader::Fetch(const Snapshot& snapshot,
                                std::span<const Entry> entries) {
  std::vector<steps::ContentRange> ranges;
  ranges.reserve(entries.size());
  for (const Entry& entry : entries) {
    ranges.push_back(
        {snapshot.catalog().ContentOf(entry), entry.start, entry.length});
  }
  std::vector<std::optional<Blob>> found = source_->ReadMany(ranges);
  std::vector<Blob> blobs;
  blobs.reserve(found.size());
  for (size_t i = 0; i < found.size(); ++i) {
    blobs.push_back(found[i] ? *std::move(found[i])
                             : FetchOne(snapshot, entries[i]));
  }
  return blobs;
}

void Reader::AwaitContent(const Snapshot& snapshot, const Entry& entry,
                          int64_t tries) {
  if (tries < options_.missing_file_retries &&
      MayStillAppear(snapshot, entry)) {
    Pause(options_.poll_interval);
    return;
  }
  CheckIdentity();
  constexpr std::string_view kReason = "is missing, but the index names it";
  const std::string name = ContentName(snapshot, entry);
  // The step of the file is lost, and a scalar in it may be of one before.
  for (const int64_t step :
       {snapshot.catalog().file(entry.file).step, entry.step}) {
    NoteDamage({.file = name,
                .reason = std::string(kReason),
                .kind = DamageKind::kMissingContent,
                .step = step});
  }
  throw FormatError(name, kReason, DamageKind::kMissingContent);
}

Value Reader::Decode(const Snapshot& snapshot, TensorId id, const Entry& entry,
                     Blob blob) {
  const std::string& tensor = *snapshot.catalog().tensor(id).name;
  try {
    return DecodeValue(std::move(blob), {.tensor = tensor, .entry = entry},
                       options_.verify_checksums);
  } catch (const FormatError& error) {
    CheckIdentity();
    const std::string name = ContentName(snapshot, entry);
    const std::string reason(error.reason());
    NoteDamage({.file = name,
                .reason = reason,
                .tensor = tensor,
                .kind = error.kind(),
                .step = entry.step});
    throw FormatError(name, fmt::format("{} (step {})", reason, entry.step),
                      error.kind());
  }
}

// Content is published before its index. Only where changes of other machines
// show late can it come after.
bool Reader::MayStillAppear(const Snapshot& snapshot,
                            const Entry& entry) const {
  if (watch_ != nullptr) return false;
  const IndexFile& file = snapshot.catalog().file(entry.file);
  const SnapshotPtr known = Known();
  return !known->loaded_all &&
         !known->catalog().WroteAfter(file.worker, file.step) &&
         !storage_->Stat(run::kEndMarkerKey).has_value();
}

void Reader::NoteDamage(Damage damage) {
  const base::MutexLock lock(mu_);
  if (damaged_values_.emplace(damage.file, damage.tensor, damage.step).second) {
    value_damage_.push_back(std::move(damage));
  }
}

}  // namespace smdebug::trial
