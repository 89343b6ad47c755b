#include "src/rules/engine/trial_view.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "smdebug/error.h"
#include "src/trial/reader.h"

namespace smdebug::rules {
namespace {

using trial::Entry;
using trial::Part;

// Rules look back a few steps, seldom far. What is kept of the past is bounded
// by its number and by its bytes.
constexpr size_t kMostPages = 8;
constexpr size_t kMostLeaves = 512;
constexpr int64_t kMostBytes = int64_t{64} << 20;
// How far from a record others are read with it, before they are asked for.
constexpr uint64_t kMostAhead = uint64_t{16} << 20;

StepPlace ToStepPlace(const trial::Reader::Place& place) {
  return {place.step, place.mode, place.mode_step};
}

bool IsSame(const trial::MemberSet& set, const TensorSelection& selection) {
  return set.collections == selection.collections &&
         set.regexes == selection.regexes;
}

bool IsSame(const TensorSelection& a, const TensorSelection& b) {
  return a.collections == b.collections && a.regexes == b.regexes;
}

// Which reductions one pass over the value does not give.
bool IsExtra(Reduction reduction) {
  return reduce::Wanted::For({&reduction, 1}) != reduce::Wanted();
}

}  // namespace

void ViewUse::Join(const ViewUse& other) {
  selected |= other.selected;
  answered |= other.answered;
  saw_step_made |= other.saw_step_made;
  left_out |= other.left_out;
  if (unanswered.empty()) unanswered = other.unanswered;
  for (const TensorSelection& selection : other.selections) {
    const auto same = [&](const TensorSelection& known) {
      return IsSame(known, selection);
    };
    if (std::ranges::none_of(selections, same)) selections.push_back(selection);
  }
}

const Entry* TrialView::Slot::Get(Part part) const {
  const auto last =
      std::find_if(entries.rbegin(), entries.rend(),
                   [&](const Entry& entry) { return entry.part == part; });
  return last == entries.rend() ? nullptr : &*last;
}

TrialView::TrialView(Trial* trial, std::optional<std::string> worker)
    : trial_(trial),
      reader_(&trial->reader()),
      asked_worker_(std::move(worker)),
      skipped_([this](int64_t step) { return MarksAt(step); },
               [this](int64_t step) { return MarkedBefore(step); }) {
  worker_ = asked_worker_.value_or("");
  place_.step = -1;
}

TrialView::~TrialView() = default;

WorkerName TrialView::Who() const {
  return asked_worker_ ? WorkerName(*asked_worker_) : std::nullopt;
}

void TrialView::MoveTo(int64_t step) {
  auto page = std::make_unique<Page>();
  reader_->FillTable(step, Who(), cursor_, page->table);
  const trial::StepTable& table = page->table;
  place_ = {.step = step, .mode = table.mode, .mode_step = table.mode_step};
  page->slots.resize(table.tensors.size());
  page->records.resize(table.entries.size());
  page->slot_of.assign(cursor_.by_name.size(), -1);
  for (size_t i = 0; i < table.tensors.size(); ++i) {
    const trial::SavedTensor& tensor = table.tensors[i];
    page->slots[i].id = tensor.id;
    page->slots[i].entries = table.EntriesOf(tensor);
    page->slots[i].bytes = &page->bytes;
    page->slots[i].page = page.get();
    page->slots[i].snapshot = table.snapshot.get();
    page->slot_of[tensor.id] = static_cast<int32_t>(i);
  }
  if (!asked_worker_ && !table.tensors.empty()) {
    worker_ = table.snapshot->catalog().worker(table.tensors.front().worker);
  }
  pages_.push_front(std::move(page));
  DropOldPages();
  LookForMarks();
}

void TrialView::DropOldPages() {
  // The one before is what rules ask for most.
  int64_t bytes = 0;
  size_t kept = 0;
  for (; kept < pages_.size() && kept < kMostPages; ++kept) {
    bytes += pages_[kept]->bytes;
    if (kept >= 2 && bytes > kMostBytes) break;
  }
  pages_.resize(kept);
}

void TrialView::Forget(int64_t step) {
  std::erase_if(pages_,
                [&](const auto& page) { return page->table.step < step; });
  leaves_.clear();
  leaf_bytes_ = 0;
}

const std::string& TrialView::WorkerOf(std::string_view tensor) {
  const auto id = IdOf(tensor);
  if (!id) return worker_;
  const Page& page = *pages_.front();
  if (*id >= page.slot_of.size() || page.slot_of[*id] < 0) return worker_;
  const auto index = static_cast<size_t>(page.slot_of[*id]);
  return page.table.snapshot->catalog().worker(
      page.table.tensors[index].worker);
}

const trial::MemberSet& TrialView::SetOf(const TensorSelection& selection,
                                         const trial::Snapshot& snapshot) {
  auto it = std::ranges::find_if(
      selections_, [&](const auto& set) { return IsSame(set, selection); });
  if (it == selections_.end()) {
    trial::MemberSet set;
    set.collections = selection.collections;
    set.regexes = selection.regexes;
    selections_.push_back(std::move(set));
    it = std::prev(selections_.end());
  }
  reader_->Update(snapshot, *it);
  return *it;
}

bool TrialView::HasSaved(const TensorSelection& selection) {
  if (pages_.empty()) return false;
  const trial::Snapshot& snapshot = *pages_.front()->table.snapshot;
  const trial::MemberSet& set = SetOf(selection, snapshot);
  for (TensorId id = 0; id < snapshot.catalog().tensor_count(); ++id) {
    if (!set.Takes(id)) continue;
    const auto& entries = snapshot.catalog().tensor(id).entries;
    if (!entries.empty() && entries.begin()->step <= place_.step) return true;
  }
  return false;
}

std::vector<std::string> TrialView::Select(const TensorSelection& selection) {
  const trial::SnapshotPtr snapshot =
      pages_.empty() ? reader_->Known() : pages_.front()->table.snapshot;
  const trial::MemberSet& set = SetOf(selection, *snapshot);
  std::vector<std::string> taken;
  if (pages_.empty()) return taken;
  std::vector<TensorId> members;
  for (const trial::SavedTensor& tensor : pages_.front()->table.tensors) {
    if (set.Takes(tensor.id)) members.push_back(tensor.id);
  }
  LeaveOutSkipped(members);
  for (const TensorId id : members) {
    taken.push_back(*snapshot->catalog().tensor(id).name);
  }
  if (use_ != nullptr && !use_->selected) {
    if (taken.empty()) {
      use_->Join({.selections = {selection}});
    } else {
      use_->selected = true;
    }
  }
  return taken;
}

std::vector<StepPlace> TrialView::History(std::string_view tensor, Mode mode) {
  std::vector<StepPlace> places;
  const auto id = IdOf(tensor);
  if (!id) return places;
  const trial::Snapshot& snapshot = *pages_.front()->table.snapshot;
  for (const auto& place :
       trial::Reader::PlacesUpTo(snapshot, *id, place_.step, mode)) {
    if (!Hides(*id, ToStepPlace(place))) places.push_back(ToStepPlace(place));
  }
  return places;
}

std::optional<StepPlace> TrialView::Before(std::string_view tensor,
                                           int64_t step) {
  const auto id = IdOf(tensor);
  if (!id) return std::nullopt;
  // Never a later step than this one.
  step = std::min(step, place_.step + 1);
  auto place = PlaceBefore(*id, step);
  while (place && Hides(*id, *place)) place = PlaceBefore(*id, place->step);
  return place;
}

std::optional<StepPlace> TrialView::PlaceBefore(TensorId id,
                                                int64_t step) const {
  const auto place =
      trial::Reader::PlaceBefore(*pages_.front()->table.snapshot, id, step);
  return place ? std::optional(ToStepPlace(*place)) : std::nullopt;
}

TrialView::Slot* TrialView::Find(std::string_view tensor, int64_t step) {
  if (step > place_.step) return nullptr;
  const auto id = IdOf(tensor);
  return !id || HidesAt(*id, step) ? nullptr : FindSaved(*id, step);
}

TrialView::Slot* TrialView::FindSaved(TensorId id, int64_t step) {
  for (const auto& page : pages_) {
    if (page->table.step != step) continue;
    if (id >= page->slot_of.size() || page->slot_of[id] < 0) return nullptr;
    return &page->slots[static_cast<size_t>(page->slot_of[id])];
  }
  return FindLeaf(id, step);
}

TrialView::Slot* TrialView::FindLeaf(TensorId id, int64_t step) {
  const std::pair key(step, id);
  auto it = leaves_.find(key);
  if (it == leaves_.end()) {
    if (leaves_.size() >= kMostLeaves || leaf_bytes_ > kMostBytes) {
      leaves_.clear();
      leaf_bytes_ = 0;
    }
    it = leaves_.emplace(key, Leaf()).first;
    Leaf& leaf = it->second;
    leaf.snapshot = pages_.front()->table.snapshot;
    const auto entries = leaf.snapshot->catalog().tensor(id).At(step);
    if (!entries.empty()) leaf.entries = leaf.snapshot->Select(entries, Who());
    leaf.slot = {.id = id,
                 .entries = leaf.entries,
                 .snapshot = leaf.snapshot.get(),
                 .bytes = &leaf_bytes_};
  }
  return it->second.entries.empty() ? nullptr : &it->second.slot;
}

std::optional<TrialView::TensorId> TrialView::IdOf(
    std::string_view tensor) const {
  if (pages_.empty()) return std::nullopt;
  return pages_.front()->table.snapshot->catalog().Find(tensor);
}

bool TrialView::IsWanted(TensorId id) const {
  return std::ranges::any_of(selections_,
                             [&](const auto& set) { return set.Takes(id); });
}

// Reads the record of `entry`, and those beside it that rules have selected:
// they will ask for them, too.
void TrialView::FetchWith(const Entry& entry, Page& page) {
  const trial::StepTable& table = page.table;
  std::vector<size_t> numbers;
  for (const trial::SavedTensor& tensor : table.tensors) {
    for (size_t i = tensor.first; i < tensor.first + tensor.count; ++i) {
      const Entry& other = table.entries[i];
      if (&other == &entry || (other.file == entry.file && other.has_record() &&
                               !page.records[i] && IsWanted(tensor.id))) {
        numbers.push_back(i);
      }
    }
  }
  std::ranges::sort(numbers, {},
                    [&](size_t i) { return table.entries[i].start; });
  std::vector<Entry> entries;
  std::vector<size_t> read;
  for (const size_t i : numbers) {
    const Entry& other = table.entries[i];
    const bool near = other.start < entry.start + kMostAhead &&
                      entry.start < other.start + kMostAhead;
    if (!near) continue;
    entries.push_back(other);
    read.push_back(i);
  }
  std::vector<Blob> blobs = reader_->Fetch(*table.snapshot, entries);
  for (size_t i = 0; i < read.size(); ++i) {
    page.records[read[i]] = std::move(blobs[i]);
  }
}

Value TrialView::Read(const Slot& slot, const Entry& entry) {
  Blob record;
  if (slot.page != nullptr) {
    const auto number =
        static_cast<size_t>(&entry - slot.page->table.entries.data());
    std::optional<Blob>& waiting = slot.page->records[number];
    if (!waiting) FetchWith(entry, *slot.page);
    record = *std::exchange(waiting, std::nullopt);
  } else {
    record = reader_->FetchOne(*slot.snapshot, entry);
  }
  return reader_->Decode(*slot.snapshot, slot.id, entry, std::move(record));
}

const std::optional<Value>& TrialView::ValueOf(Slot& slot) {
  if (slot.is_read) return slot.value;
  if (const Entry* entry = slot.Get(Part::Value())) {
    slot.value = Read(slot, *entry);
    *slot.bytes += static_cast<int64_t>(slot.value->bytes().size());
  }
  slot.is_read = true;
  return slot.value;
}

const reduce::Statistics* TrialView::StatisticsOf(Slot& slot) {
  if (!slot.statistics) {
    const auto& value = ValueOf(slot);
    if (!value || !reduce::IsReducible(value->dtype())) return nullptr;
    slot.statistics = reduce::Reduce(value->view(), {});
  }
  return &*slot.statistics;
}

void TrialView::NoteAnswer(std::string_view tensor, const Slot* slot,
                           bool answered) {
  if (use_ == nullptr || use_->answered) return;
  if (answered) {
    use_->answered = true;
  } else if (slot != nullptr && use_->unanswered.empty()) {
    use_->unanswered = tensor;
  }
}

std::optional<Value> TrialView::ValueAt(std::string_view tensor, int64_t step) {
  Slot* slot = Find(tensor, step);
  std::optional<Value> value;
  if (slot != nullptr) value = ValueOf(*slot);
  NoteAnswer(tensor, slot, value.has_value());
  return value;
}

std::optional<double> TrialView::ReductionAt(std::string_view tensor,
                                             int64_t step,
                                             Reduction reduction) {
  Slot* slot = Find(tensor, step);
  const auto answer = [&]() -> std::optional<double> {
    if (slot == nullptr) return std::nullopt;
    const auto known = std::ranges::find(slot->reductions, reduction,
                                         &std::pair<Reduction, double>::first);
    if (known != slot->reductions.end()) return known->second;
    if (const Entry* entry = slot->Get(Part::Of(reduction))) {
      const Value saved = Read(*slot, *entry);
      if (saved.dtype() == DType::kString || saved.size() != 1) {
        throw FormatError(
            reader_->ContentName(*slot->snapshot, *entry),
            fmt::format("a reduction of '{}' is not one number", tensor));
      }
      slot->reductions.emplace_back(reduction, saved.Get(0));
    } else if (const reduce::Statistics* all = StatisticsOf(*slot)) {
      slot->reductions.emplace_back(
          reduction, IsExtra(reduction)
                         ? slot->value->Reduce(reduction)
                         : all->Value(reduction, Spread::kPopulation));
    } else {
      return std::nullopt;
    }
    return slot->reductions.back().second;
  }();
  NoteAnswer(tensor, slot, answer.has_value());
  return answer;
}

std::optional<ValueCounts> TrialView::CountsAt(std::string_view tensor,
                                               int64_t step) {
  Slot* slot = Find(tensor, step);
  std::optional<ValueCounts> counts;
  if (slot != nullptr) {
    if (const Entry* entry = slot->Get(Part::Counts())) {
      counts = slot->snapshot->catalog().counts(*entry);
    } else if (const reduce::Statistics* all = StatisticsOf(*slot)) {
      counts = {.dtype = slot->value->dtype(),
                .count = all->count,
                .nan = all->nan,
                .pos_inf = all->pos_inf,
                .neg_inf = all->neg_inf,
                .zero = all->zero};
    }
  }
  NoteAnswer(tensor, slot, counts.has_value());
  return counts;
}

StepView* TrialView::Other(size_t number) {
  return number < others_.size() ? others_[number] : nullptr;
}

}  // namespace smdebug::rules
