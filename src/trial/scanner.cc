#include "src/trial/scanner.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "smdebug/error.h"
#include "src/base/log.h"
#include "src/index/run_files.h"
#include "src/index/step_index.h"
#include "src/trial/reason.h"

namespace smdebug::trial {
namespace {

constexpr std::string_view kIndexFolder = "index/";

}  // namespace

Scanner::Scanner(const Storage* storage, Options options)
    : storage_(storage), options_(std::move(options)) {}

void Scanner::SetWorkers(const std::set<std::string>& workers, int64_t count) {
  if (!workers.empty()) last_worker_ = *workers.rbegin();
  num_workers_ = options_.only_worker ? 1 : count;
  for (const StepRow& step : catalog_.steps()) {
    if (step.workers >= num_workers_) {
      last_complete_step_ = std::max(last_complete_step_, step.step);
    }
  }
}

void Scanner::Scan() {
  ReadAgainWhatChanged();
  // What lies before the range is never listed.
  const std::string begin =
      options_.range.begin > 0
          ? index::IndexFileKey(options_.range.begin - 1, "\x7f")
          : "";
  for (const FileInfo& file :
       storage_->List(kIndexFolder, std::max(token_, begin))) {
    Read(file);
  }
  MoveToken();
  ForgetOldSteps();
}

void Scanner::ScanAll() {
  for (const FileInfo& file : storage_->List(kIndexFolder)) Read(file);
  ReadAgainWhatChanged();
  MoveToken();
  last_complete_step_ =
      std::max(last_complete_step_, catalog_.LastStep(Mode::kGlobal));
}

void Scanner::ForgetOldSteps() {
  if (!options_.recent_steps) return;
  const auto most = static_cast<size_t>(*options_.recent_steps);
  const auto steps = catalog_.steps();
  // Seldom, since it looks at every tensor.
  if (steps.size() < 2 * most) return;
  forgotten_ = steps[steps.size() - most].step;
  catalog_.Forget(forgotten_);
}

void Scanner::Forget(int64_t step) {
  const auto steps = catalog_.steps();
  const auto old =
      std::ranges::lower_bound(steps, step, {}, &StepRow::step) - steps.begin();
  if (step <= forgotten_ || 2 * old < std::ssize(steps)) return;
  forgotten_ = step;
  catalog_.Forget(step);
}

void Scanner::Read(const FileInfo& file) {
  const auto name = index::ParseStepFileKey(file.key);
  if (!name && !file.key.ends_with(".json")) return;
  if (name && !options_.range.Holds(name->step)) return;
  if (name && name->step < forgotten_) return;
  if (damaged_.contains(file.key)) return;
  const int64_t step = name ? name->step : -1;
  try {
    if (!name) throw FormatError(file.key, "is not the name of an index file");
    const std::string worker = index::DecodeWorker(name->worker);
    if (options_.only_worker && worker != *options_.only_worker) return;
    if (catalog_.Has(step, worker)) return;
    const std::optional<Blob> blob = storage_->Read(file.key);
    if (!blob) return;  // Moved aside by another job since it was listed.
    catalog_.Add(step, worker, index::ParseStepIndex(blob->text(), file.key),
                 file.key, options_.range);
  } catch (const FormatError& error) {
    base::LogWarning("{}/{}", storage_->root(), error.what());
    damaged_.emplace(file.key, BadFile{file, step, ReasonOf(error, file.key)});
    return;
  }
  const StepRow* row = catalog_.FindStep(step);
  if (row->workers >= num_workers_) {
    last_complete_step_ = std::max(last_complete_step_, step);
  }
}

// A file that is being copied into place can be whole the next time.
void Scanner::ReadAgainWhatChanged() {
  std::vector<FileInfo> changed;
  for (const auto& [key, bad] : damaged_) {
    const std::optional<FileInfo> now = storage_->Stat(key);
    if (!now || *now != bad.info) {
      changed.push_back(now.value_or(FileInfo{.key = key}));
    }
  }
  for (const FileInfo& file : changed) {
    damaged_.erase(file.key);
    Read(file);
  }
}

void Scanner::MoveToken() {
  if (last_complete_step_ >= token_step_) SetToken(last_complete_step_);
  GiveUp(1);
}

void Scanner::GiveUpBeyondWindow() {
  GiveUp(std::numeric_limits<size_t>::max());
}

// A worker that died must not hold the others up for ever.
void Scanner::GiveUp(size_t most_halves) {
  std::vector<int64_t> waiting;
  const auto later = std::ranges::upper_bound(
      catalog_.steps(), last_complete_step_, {}, &StepRow::step);
  for (auto it = later; it != catalog_.steps().end(); ++it) {
    if (it->workers > 0) waiting.push_back(it->step);
  }
  const auto window = static_cast<size_t>(options_.window);
  const size_t half = std::max<size_t>(window / 2, 1);
  size_t given_up = 0;
  for (size_t halves = 0;
       halves < most_halves && waiting.size() - given_up > window; ++halves) {
    given_up += half;
  }
  if (given_up == 0) return;
  last_complete_step_ = waiting[given_up - 1];
  SetToken(last_complete_step_);
}

void Scanner::SetToken(int64_t step) {
  token_step_ = step;
  token_ = index::IndexFileKey(step, index::EncodeWorker(last_worker_));
}

}  // namespace smdebug::trial
