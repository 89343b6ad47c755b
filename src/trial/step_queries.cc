// The queries of Reader about whole steps.

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "smdebug/error.h"
#include "src/trial/reader.h"
#include "src/trial/reason.h"
#include "src/trial/value_reader.h"

namespace smdebug::trial {
namespace {

Reader::Place PlaceOf(const StepRow& row) {
  return {row.step, row.mode,
          row.mode == Mode::kGlobal ? row.step : row.mode_step};
}

// Brings the order of names up to date with the catalog, which only grows.
void Extend(StepCursor& cursor, const Catalog& catalog) {
  if (cursor.by_name.size() == catalog.tensor_count()) return;
  cursor.by_name.resize(catalog.tensor_count());
  std::iota(cursor.by_name.begin(), cursor.by_name.end(), 0U);
  std::ranges::sort(cursor.by_name, {}, [&](Catalog::TensorId id) {
    return std::string_view(catalog.tensor(id).name);
  });
  cursor.next.resize(catalog.tensor_count());
}

// The entries of `row` at `step`; `next` is where to look first.
std::span<const Entry> Seek(const TensorRow& row, int64_t step, size_t& next) {
  const std::vector<Entry>& entries = row.entries;
  const bool here = next < entries.size() && entries[next].step >= step &&
                    (next == 0 || entries[next - 1].step < step);
  if (!here) {
    next = static_cast<size_t>(
        std::ranges::lower_bound(entries, step, {}, &Entry::step) -
        entries.begin());
  }
  const size_t first = next;
  while (next < entries.size() && entries[next].step == step) ++next;
  return std::span(entries).subspan(first, next - first);
}

}  // namespace

std::vector<int64_t> Reader::StepsFrom(int64_t first, int64_t most) {
  const base::MutexLock lock(mu_);
  MaybeRefresh();
  const std::span<const StepRow> rows = scanner_.catalog().steps();
  std::vector<int64_t> steps;
  for (auto it = std::ranges::lower_bound(rows, first, {}, &StepRow::step);
       it != rows.end() && std::ssize(steps) < most; ++it) {
    if (it->has_data && IsComplete(*it)) steps.push_back(it->step);
  }
  return steps;
}

void Reader::Forget(int64_t step) {
  const base::MutexLock lock(mu_);
  scanner_.Forget(step);
}

size_t Reader::index_files() const {
  const base::MutexLock lock(mu_);
  return scanner_.catalog().file_count();
}

void Reader::FillTable(int64_t step, WorkerName worker, StepCursor& cursor,
                       StepTable& table) const {
  const base::MutexLock lock(mu_);
  const Catalog& catalog = scanner_.catalog();
  table = {};
  table.step = step;
  table.mode_step = step;
  if (const StepRow* row = catalog.FindStep(step)) {
    const Place place = PlaceOf(*row);
    table.known = true;
    table.mode = place.mode;
    table.mode_step = place.mode_step;
  }
  Extend(cursor, catalog);
  for (const TensorId id : cursor.by_name) {
    const std::span<const Entry> entries =
        Seek(catalog.tensor(id), step, cursor.next[id]);
    if (entries.empty()) continue;
    SavedTensor saved = {.id = id,
                         .first = static_cast<uint32_t>(table.entries.size())};
    const uint32_t only = catalog.file(entries.front().file).worker;
    const bool one_worker = std::ranges::all_of(entries, [&](const Entry& e) {
      return catalog.file(e.file).worker == only;
    });
    if (one_worker && (!worker || catalog.worker(only) == *worker)) {
      table.entries.insert(table.entries.end(), entries.begin(), entries.end());
    } else if (!one_worker) {
      const std::vector<Entry> selected = Select(entries, worker);
      table.entries.insert(table.entries.end(), selected.begin(),
                           selected.end());
    }
    saved.count = static_cast<uint32_t>(table.entries.size()) - saved.first;
    if (saved.count == 0) continue;
    saved.worker = catalog.file(table.entries.back().file).worker;
    table.tensors.push_back(saved);
  }
}

std::vector<Entry> Reader::EntriesOf(TensorId id, int64_t step,
                                     WorkerName worker) const {
  const base::MutexLock lock(mu_);
  const std::span<const Entry> entries = scanner_.catalog().tensor(id).At(step);
  return entries.empty() ? std::vector<Entry>() : Select(entries, worker);
}

void Reader::Update(MemberSet& set) {
  const base::MutexLock lock(mu_);
  const Catalog& catalog = scanner_.catalog();
  if (set.version == collections_version_ &&
      set.takes.size() == catalog.tensor_count()) {
    return;
  }
  const bool all = set.collections.empty() && set.regexes.empty();
  std::vector<char> takes(catalog.tensor_count(), all ? 1 : 0);
  const auto take = [&](const std::vector<TensorId>& ids) {
    for (const TensorId id : ids) takes[id] = 1;
  };
  for (const std::string& name : set.collections) {
    const auto it = collections_.collections().find(name);
    if (it == collections_.collections().end()) continue;
    take(members_.Of(it->second, catalog));
  }
  if (!set.regexes.empty()) take(members_.Matching(set.regexes, catalog));
  set.takes = std::move(takes);
  set.version = collections_version_;
}

const std::string& Reader::WorkerNamed(uint32_t number) const {
  const base::MutexLock lock(mu_);
  return scanner_.catalog().worker(number);
}

ValueCounts Reader::CountsOf(const Entry& entry) const {
  const base::MutexLock lock(mu_);
  return scanner_.catalog().counts(entry);
}

std::shared_ptr<const EventFile> Reader::OpenEventFile(const Entry& entry) {
  std::string key = EventKeyOf(entry);
  for (int64_t tries = 0; true; ++tries) {
    if (auto blob = storage_->Read(key)) {
      return std::make_shared<const EventFile>(
          EventFile{.key = std::move(key), .blob = *std::move(blob)});
    }
    if (tries >= options_.missing_file_retries || !MayStillAppear(entry)) {
      constexpr std::string_view kReason = "is missing, but the index names it";
      NoteDamage({key, std::string(kReason)});
      throw FormatError(key, kReason);
    }
    Pause(options_.poll_interval);
  }
}

Value Reader::ReadFrom(const EventFile& file, TensorId id, const Entry& entry) {
  const RecordPlace place = {
      .event_key = file.key, .tensor = NameOf(id), .entry = entry};
  const size_t size = file.blob.bytes.size();
  const size_t first = std::min<uint64_t>(entry.start, size);
  Blob part = {file.blob.bytes.subspan(
                   first, std::min<uint64_t>(entry.length, size - first)),
               file.blob.owner};
  try {
    return DecodeValue(std::move(part), place, options_.verify_checksums);
  } catch (const FormatError& error) {
    NoteDamage(
        {file.key, ReasonOf(error, file.key), std::string(place.tensor)});
    throw;
  }
}

std::vector<Reader::Place> Reader::PlacesUpTo(TensorId id, int64_t last,
                                              Mode mode) const {
  const base::MutexLock lock(mu_);
  const Catalog& catalog = scanner_.catalog();
  std::vector<Place> places;
  for (const Entry& entry : catalog.tensor(id).entries) {
    if (entry.step > last) break;
    if (!places.empty() && places.back().step == entry.step) continue;
    const Place place = PlaceOf(*catalog.FindStep(entry.step));
    if (mode == Mode::kGlobal || place.mode == mode) places.push_back(place);
  }
  return places;
}

std::optional<Reader::Place> Reader::PlaceBefore(TensorId id,
                                                 int64_t step) const {
  const base::MutexLock lock(mu_);
  const Catalog& catalog = scanner_.catalog();
  const std::vector<Entry>& entries = catalog.tensor(id).entries;
  const auto it = std::ranges::lower_bound(entries, step, {}, &Entry::step);
  if (it == entries.begin()) return std::nullopt;
  return PlaceOf(*catalog.FindStep(std::prev(it)->step));
}

}  // namespace smdebug::trial
