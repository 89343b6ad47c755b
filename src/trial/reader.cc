#include "src/trial/reader.h"

#include <fmt/format.h>

#include "smdebug/error.h"
#include "src/index/ledger.h"
#include "src/index/run_files.h"
#include "src/index/run_summary.h"

namespace smdebug::trial {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

// What a reader looks at, besides the files right below the root.
constexpr std::string_view kWatched[] = {"collections", "index"};

StepRange RangeOf(const TrialOptions& options) {
  StepRange range;
  const auto refuse = [&](std::string_view allowed) {
    const auto side = [](std::optional<int64_t> step) {
      return step ? std::to_string(*step) : "none";
    };
    throw ConfigError("range_steps",
                      fmt::format("({}, {})", side(options.begin_step),
                                  side(options.end_step)),
                      allowed);
  };
  range.begin = options.begin_step.value_or(range.begin);
  range.end = options.end_step.value_or(range.end);
  if (range.begin < 0 || range.end < 0) refuse("steps of 0 or more");
  if (range.begin >= range.end) refuse("a begin below the end");
  return range;
}

std::string NameOfPath(std::string_view path) {
  path = path.substr(0, path.find_last_not_of('/') + 1);
  return std::string(path.substr(path.find_last_of('/') + 1));
}

}  // namespace

Reader::Reader(std::shared_ptr<Storage> storage, TrialOptions options)
    : options_(std::move(options)),
      storage_(std::move(storage)),
      watch_(storage_->Watch(kWatched)),
      collections_(storage_.get()),
      scanner_(storage_.get(), {.range = RangeOf(options_),
                                .window = options_.incomplete_window,
                                .only_worker = options_.only_worker,
                                .recent_steps = options_.recent_steps}),
      end_delay_(options_.end_delay) {
  if (options_.name.empty()) options_.name = NameOfPath(storage_->root());
  if (options_.wait_for_run) AwaitRun();
  const base::MutexLock lock(mu_);
  if (!options_.wait_for_run && !index::HoldsRun(*storage_)) {
    throw FormatError(storage_->root(),
                      "holds no run: it has no collections, index, events or "
                      "ledger files and no end marker");
  }
  ReadCollections();
  scanner_.Scan();
  // Whether the job has ended is for the first query to see: scanned_ stays 0.
}

void Reader::ReadCollections() {
  if (!collections_.Refresh()) return;
  members_.Clear();
  ++collections_version_;
  scanner_.SetWorkers(collections_.workers(), collections_.num_workers());
}

void Reader::MaybeRefresh() {
  if (refreshing_) RefreshNow();
}

void Reader::RefreshNow() {
  if (loaded_all_) return;
  const Clock::time_point now = Clock::now();
  const uint64_t changes = watch_ != nullptr ? watch_->Changes() : scanned_ + 1;
  if (changes == scanned_ && now - last_scan_ < kLookAnywayAfter) return;
  // The marker first: what was there before it is seen by the scan.
  const std::optional<FileInfo> marker = storage_->Stat(index::kEndMarkerKey);
  ReadCollections();
  scanner_.Scan();
  // No further change may come that would make us look once more.
  scanner_.GiveUpBeyondWindow();
  if (marker) {
    AwaitStragglers(*marker);
    ReadCollections();
    scanner_.ScanAll();
    loaded_all_ = true;
  }
  last_scan_ = now;
  scanned_ = changes;
}

bool Reader::AllWorkersClosed() const {
  int64_t closed = 0;
  for (const FileInfo& file : storage_->List("ledger/")) {
    const std::optional<Blob> blob = storage_->Read(file.key);
    try {
      if (blob && index::ParseLedger(blob->text(), file.key).closed) ++closed;
    } catch (const FormatError&) {
      return false;
    }
  }
  return closed >= collections_.num_workers();
}

StepState Reader::HasPassedStep(int64_t step, Mode mode) {
  const base::MutexLock lock(mu_);
  MaybeRefresh();
  return StateOf(step, mode);
}

bool Reader::IsComplete(const StepRow& row) const {
  return loaded_all_ || scanner_.IsComplete(row);
}

StepState Reader::StateOf(int64_t step, Mode mode) const {
  const auto next = scanner_.catalog().NextStep(step, mode);
  if (!next) {
    return loaded_all_ ? StepState::kUnavailable : StepState::kNotYetAvailable;
  }
  if (next->number == step) {
    return IsComplete(*next->row) ? StepState::kAvailable
                                  : StepState::kNotYetAvailable;
  }
  return next->row->step <= scanner_.last_complete_step()
             ? StepState::kUnavailable
             : StepState::kNotYetAvailable;
}

void Reader::Refresh() {
  const base::MutexLock lock(mu_);
  scanned_ = 0;
  RefreshNow();
}

bool Reader::SetRefreshing(bool on) {
  const base::MutexLock lock(mu_);
  return std::exchange(refreshing_, on);
}

bool Reader::refreshing() const {
  const base::MutexLock lock(mu_);
  return refreshing_;
}

bool Reader::loaded_all_steps() const {
  const base::MutexLock lock(mu_);
  return loaded_all_;
}

int64_t Reader::last_complete_step() const {
  const base::MutexLock lock(mu_);
  return scanner_.last_complete_step();
}

std::string Reader::last_index_token() const {
  const base::MutexLock lock(mu_);
  return scanner_.token();
}

void Reader::SetEndDelay(milliseconds delay) {
  const base::MutexLock lock(mu_);
  end_delay_ = delay;
}

std::vector<Damage> Reader::damage() const {
  const base::MutexLock lock(mu_);
  std::vector<Damage> all = collections_.damage();
  for (const auto& [key, bad] : scanner_.damaged()) {
    all.push_back({key, bad.reason});
  }
  all.insert(all.end(), value_damage_.begin(), value_damage_.end());
  return all;
}

}  // namespace smdebug::trial
