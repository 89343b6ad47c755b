#include "src/trial/scanner.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

#include "smdebug/error.h"
#include "src/base/log.h"

namespace smdebug::trial {

Scanner::Scanner(const steps::StepSource* source, Options options)
    : source_(source),
      options_(std::make_shared<const Options>(std::move(options))) {}

Scanner Scanner::Draft() const {
  Scanner draft = *this;
  draft.catalog_ = catalog_.Draft();
  draft.owns_damaged_ = false;
  return draft;
}

void Scanner::SetWorkers(const std::set<std::string>& workers, int64_t count) {
  if (!workers.empty()) last_worker_ = *workers.rbegin();
  num_workers_ = options_->only_worker ? 1 : count;
  const Catalog::Steps& steps = catalog_.steps();
  for (auto it = steps.LowerBound(last_complete_step_); it != steps.end();
       ++it) {
    if (it->workers >= num_workers_) {
      last_complete_step_ = std::max(last_complete_step_, it->step);
    }
  }
}

void Scanner::Scan() {
  ReadAgainWhatChanged();
  std::string cursor = token_;
  // What lies before the range is never listed.
  if (cursor.empty() && options_->range.begin > 0) {
    cursor = source_->CursorAfter(options_->range.begin - 1, std::nullopt);
  }
  for (const steps::StepItem& item : source_->List(cursor)) Read(item);
  MoveToken();
  ForgetOldSteps();
}

void Scanner::ScanAll() {
  for (const steps::StepItem& item : source_->List({})) Read(item);
  ReadAgainWhatChanged();
  MoveToken();
  last_complete_step_ =
      std::max(last_complete_step_, catalog_.LastStep(Mode::kGlobal));
}

void Scanner::ForgetOldSteps() {
  if (!options_->recent_steps) return;
  const auto most = static_cast<size_t>(*options_->recent_steps);
  // Seldom, since it looks at every tensor.
  if (catalog_.whole_count() < 2 * most) return;
  // Scalars between two whole steps came with the second.
  size_t old = catalog_.whole_count() - most;
  auto first = catalog_.steps().begin();
  for (;; ++first) {
    if (first->has_data && old-- == 0) break;
  }
  forgotten_ = first->step;
  catalog_.Forget(forgotten_);
}

bool Scanner::IsWorthForgetting(int64_t step) const {
  const Catalog::Steps& steps = catalog_.steps();
  return step > forgotten_ && 2 * steps.CountBefore(step) >= steps.size();
}

void Scanner::Forget(int64_t step) {
  forgotten_ = step;
  catalog_.Forget(step);
}

Scanner::BadSteps& Scanner::WritableDamaged() {
  if (!std::exchange(owns_damaged_, true)) {
    damaged_ = std::make_shared<BadSteps>(*damaged_);
  }
  return *damaged_;
}

void Scanner::Read(const steps::StepItem& item) {
  if (item.step >= 0) {
    if (!options_->range.Holds(item.step) || item.step < forgotten_) return;
    if (options_->only_worker && item.worker != *options_->only_worker) return;
    if (catalog_.Has(item.step, item.worker)) return;
  }
  if (damaged_->contains(item.name)) return;
  auto kind = DamageKind::kBadIndex;
  try {
    if (item.step < 0) {
      kind = DamageKind::kBadName;
      throw FormatError(item.name, "is not the name of an index file");
    }
    const std::optional<steps::StepRecord> record = source_->ReadIndex(item);
    if (!record) return;  // Moved aside by another job since it was listed.
    catalog_.Add(item.step, item.worker, *record, item.name, options_->range);
  } catch (const FormatError& error) {
    base::LogWarning("{}/{}", options_->run, error.what());
    WritableDamaged().emplace(item.name,
                              BadStep{item, std::string(error.reason()), kind});
    return;
  }
  if (catalog_.FindStep(item.step)->workers >= num_workers_) {
    last_complete_step_ = std::max(last_complete_step_, item.step);
  }
}

// A file that is being copied into place can be whole the next time.
void Scanner::ReadAgainWhatChanged() {
  std::vector<steps::StepItem> changed;
  for (const auto& [name, bad] : *damaged_) {
    const std::optional<steps::StepItem> now = source_->Look(name);
    if (now != bad.item) changed.push_back(now.value_or(bad.item));
  }
  for (const steps::StepItem& item : changed) {
    const auto bad = WritableDamaged().extract(item.name);
    try {
      Read(item);
    } catch (const IoError&) {
      // It is not listed again, so it must be looked at again.
      damaged_->emplace(item.name, bad.mapped());
      throw;
    }
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
  const Catalog::Steps& steps = catalog_.steps();
  for (auto it = steps.LowerBound(last_complete_step_ + 1); it != steps.end();
       ++it) {
    if (it->workers > 0) waiting.push_back(it->step);
  }
  const auto window = static_cast<size_t>(options_->window);
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
  token_ = source_->CursorAfter(step, last_worker_);
}

}  // namespace smdebug::trial
