// The queries of Reader about whole steps.

#include <algorithm>
#include <iterator>
#include <numeric>

#include "src/trial/reader.h"

namespace smdebug::trial {
namespace {

Reader::Place PlaceOf(const StepRow& row) {
  return {row.step, row.mode,
          row.mode == Mode::kGlobal ? row.step : row.mode_step};
}

// Brings the order of names up to date with the catalog, which only grows.
void Extend(StepCursor& cursor, const Catalog& catalog) {
  if (cursor.by_name.size() != catalog.tensor_count()) {
    cursor.by_name.resize(catalog.tensor_count());
    std::iota(cursor.by_name.begin(), cursor.by_name.end(), 0U);
    std::ranges::sort(cursor.by_name, {}, [&](Catalog::TensorId id) {
      return std::string_view(*catalog.tensor(id).name);
    });
    cursor.next.resize(catalog.tensor_count());
  }
  if (cursor.riders.size() != catalog.rider_count()) {
    cursor.riders.clear();
    std::ranges::copy_if(
        cursor.by_name, std::back_inserter(cursor.riders),
        [&](Catalog::TensorId id) { return catalog.tensor(id).rides; });
  }
}

}  // namespace

std::vector<int64_t> Reader::StepsFrom(int64_t first, int64_t most) {
  const SnapshotPtr known = MaybeRefresh();
  const Catalog::Steps& rows = known->catalog().steps();
  std::vector<int64_t> steps;
  for (auto it = rows.LowerBound(first);
       it != rows.end() && std::ssize(steps) < most; ++it) {
    if ((it->has_data || it->has_scalars) && known->IsComplete(*it)) {
      steps.push_back(it->step);
    }
  }
  return steps;
}

bool Reader::HasScalarsAt(int64_t step) const {
  const SnapshotPtr known = Known();
  const StepRow* row = known->catalog().FindStep(step);
  return row != nullptr && row->has_scalars && known->IsComplete(*row);
}

void Reader::Forget(int64_t step) {
  if (!Known()->scanner.IsWorthForgetting(step)) return;
  const Turn turn(this);
  Snapshot draft = Known()->Draft();
  draft.scanner.Forget(step);
  Commit(std::move(draft));
}

size_t Reader::index_files() const { return Known()->catalog().file_count(); }

void Reader::FillTable(int64_t step, WorkerName worker, StepCursor& cursor,
                       StepTable& table) const {
  const SnapshotPtr known = Known();
  const Catalog& catalog = known->catalog();
  table = {};
  table.snapshot = known;
  table.step = step;
  table.mode_step = step;
  if (const StepRow* row = catalog.FindStep(step)) {
    const Place place = PlaceOf(*row);
    table.known = true;
    table.is_whole = row->has_data;
    table.mode = place.mode;
    table.mode_step = place.mode_step;
  }
  Extend(cursor, catalog);
  for (const TensorId id : table.is_whole ? cursor.by_name : cursor.riders) {
    const std::span<const Entry> entries =
        catalog.tensor(id).entries.At(step, cursor.next[id]);
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
      const std::vector<Entry> selected = known->Select(entries, worker);
      table.entries.insert(table.entries.end(), selected.begin(),
                           selected.end());
    }
    saved.count = static_cast<uint32_t>(table.entries.size()) - saved.first;
    if (saved.count == 0) continue;
    saved.worker = catalog.file(table.entries.back().file).worker;
    table.tensors.push_back(saved);
  }
}

void Reader::Update(const Snapshot& snapshot, MemberSet& set) {
  const Catalog& catalog = snapshot.catalog();
  if (set.made_from == snapshot.collections &&
      set.takes.size() == catalog.tensor_count()) {
    return;
  }
  const bool all = set.collections.empty() && set.regexes.empty();
  std::vector<char> takes(catalog.tensor_count(), all ? 1 : 0);
  const auto take = [&](const std::vector<TensorId>& ids) {
    for (const TensorId id : ids) takes[id] = 1;
  };
  const CollectionFiles& files = *snapshot.collections;
  for (const std::string& name : set.collections) {
    const auto it = files.collections().find(name);
    if (it == files.collections().end()) continue;
    take(files.members().Of(it->second, catalog));
  }
  if (!set.regexes.empty()) take(patterns_.Matching(set.regexes, catalog));
  set.takes = std::move(takes);
  set.made_from = snapshot.collections;
}

std::vector<Reader::Place> Reader::PlacesUpTo(const Snapshot& snapshot,
                                              TensorId id, int64_t last,
                                              Mode mode) {
  const Catalog& catalog = snapshot.catalog();
  std::vector<Place> places;
  for (const Entry& entry : catalog.tensor(id).entries) {
    if (entry.step > last) break;
    if (!places.empty() && places.back().step == entry.step) continue;
    const Place place = PlaceOf(*catalog.FindStep(entry.step));
    if (mode == Mode::kGlobal || place.mode == mode) places.push_back(place);
  }
  return places;
}

std::vector<Reader::Place> Reader::CompletePlaces(const Snapshot& snapshot,
                                                  Mode mode) {
  const Catalog& catalog = snapshot.catalog();
  std::vector<Place> places;
  for (const StepRow& row : catalog.steps()) {
    if (!snapshot.IsComplete(row)) continue;
    if (mode == Mode::kGlobal ||
        (row.mode == mode &&
         catalog.GlobalStep(mode, row.mode_step) == row.step)) {
      places.push_back(PlaceOf(row));
    }
  }
  if (mode != Mode::kGlobal) std::ranges::sort(places, {}, &Place::mode_step);
  return places;
}

std::optional<Reader::Place> Reader::PlaceBefore(const Snapshot& snapshot,
                                                 TensorId id, int64_t step) {
  const Catalog& catalog = snapshot.catalog();
  const auto& entries = catalog.tensor(id).entries;
  const auto it = entries.LowerBound(step);
  if (it == entries.begin()) return std::nullopt;
  return PlaceOf(*catalog.FindStep(std::prev(it)->step));
}

}  // namespace smdebug::trial
