#include "src/trial/step_sweep.h"

#include <algorithm>
#include <numeric>
#include <string_view>
#include <tuple>

namespace smdebug::trial {
namespace {

// Beyond this, what was read is let go, and read again if it is asked for.
constexpr uint64_t kMostHeldBytes = uint64_t{64} << 20;

}  // namespace

StepSweep::StepSweep(Reader* reader, std::vector<Catalog::TensorId> tensors)
    : reader_(reader),
      snapshot_(reader->Known()),
      tensors_(std::move(tensors)),
      next_(tensors_.size()) {}

std::vector<Reader::Place> StepSweep::Steps(Mode mode) const {
  return Reader::CompletePlaces(*snapshot_, mode);
}

std::span<const Found> StepSweep::MoveTo(int64_t step, Mode mode) {
  step_ = step;
  mode_ = mode;
  entries_.clear();
  items_.clear();
  windows_.clear();
  held_ = 0;
  const Catalog& catalog = snapshot_->catalog();
  const std::optional<int64_t> global =
      mode == Mode::kGlobal ? step : catalog.GlobalStep(mode, step);
  if (!global) return {};
  for (size_t i = 0; i < tensors_.size(); ++i) {
    const std::span<const Entry> entries =
        catalog.tensor(tensors_[i]).entries.At(*global, next_[i]);
    if (!entries.empty()) AddItems(tensors_[i], entries);
  }
  // They stay where they are from now on.
  size_t first = 0;
  for (Found& item : items_) {
    const size_t count = item.entries.size();
    item.entries = std::span(entries_).subspan(first, count);
    first += count;
  }
  return items_;
}

void StepSweep::AddItems(Catalog::TensorId id, std::span<const Entry> entries) {
  const Catalog& catalog = snapshot_->catalog();
  const auto worker_of = [&](const Entry& entry) {
    return catalog.file(entry.file).worker;
  };
  const size_t first = entries_.size();
  entries_.insert(entries_.end(), entries.begin(), entries.end());
  const std::span<Entry> added = std::span(entries_).subspan(first);
  const auto is_of_another = [&](const Entry& entry) {
    return worker_of(entry) != worker_of(added.front());
  };
  if (std::ranges::any_of(added, is_of_another)) {
    std::ranges::stable_sort(added, {}, [&](const Entry& entry) {
      return std::string_view(catalog.WorkerOf(entry));
    });
  }
  for (size_t i = 0; i < added.size();) {
    size_t end = i + 1;
    while (end < added.size() && worker_of(added[end]) == worker_of(added[i])) {
      ++end;
    }
    items_.push_back({.snapshot = snapshot_.get(),
                      .id = id,
                      .step = step_,
                      .mode = mode_,
                      .entries = added.subspan(i, end - i),
                      .records = this});
    i = end;
  }
}

void StepSweep::MakeWindows() {
  std::vector<uint32_t> order(entries_.size());
  std::iota(order.begin(), order.end(), 0U);
  std::erase_if(order, [&](uint32_t i) { return !entries_[i].has_record(); });
  std::ranges::sort(order, {}, [&](uint32_t i) {
    return std::tuple(entries_[i].file, entries_[i].start);
  });
  window_of_.assign(entries_.size(), 0);
  const Entry* last = nullptr;
  for (const uint32_t i : order) {
    const Entry& entry = entries_[i];
    const uint64_t end = entry.start + entry.length;
    if (last == nullptr || last->file != entry.file ||
        !steps::AreReadTogether(windows_.back().start, windows_.back().end,
                                entry.start, entry.length)) {
      windows_.push_back(
          {.start = steps::AlignedDown(entry.start), .end = end});
    }
    windows_.back().end = std::max(windows_.back().end, end);
    window_of_[i] = static_cast<uint32_t>(windows_.size() - 1);
    last = &entry;
  }
}

Blob StepSweep::Fetch(const Entry& entry) {
  if (windows_.empty()) MakeWindows();
  Window& window =
      windows_[window_of_[static_cast<size_t>(&entry - entries_.data())]];
  if (!window.bytes) {
    const uint64_t length = window.end - window.start;
    if (held_ + length > kMostHeldBytes) {
      for (Window& other : windows_) other.bytes.reset();
      held_ = 0;
    }
    window.bytes =
        reader_->FetchAround(*snapshot_, entry, window.start, length);
    held_ += length;
  }
  return steps::Slice(*window.bytes, entry.start - window.start, entry.length);
}

}  // namespace smdebug::trial
