// The waiting of Reader.

#include <algorithm>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "smdebug/error.h"
#include "src/base/clock.h"
#include "src/base/log.h"
#include "src/run/doorkeeper.h"
#include "src/run/survey.h"
#include "src/trial/place.h"
#include "src/trial/reader.h"

namespace smdebug::trial {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

// When a wait for a run that does not appear is worth a word.
constexpr milliseconds kPatience{20'000};

// How often one who waits is asked whether to go on.
constexpr milliseconds kAskEvery{100};

}  // namespace

void Reader::AwaitRun() {
  const Clock::time_point start = Clock::now();
  bool warned = false;
  bool looked = false;
  bool asked = false;
  while (true) {
    const uint64_t known = watch_ != nullptr ? watch_->Changes() : 0;
    // The marker first: what was there before it is seen by the listing.
    const run::Survey survey = run::LookAt(*storage_);
    const bool ended = survey.marker || survey.info.over();
    if (survey.is_starting()) {
      // What lies there is of the run before.
      if (ended) throw FormatError(storage_->root(), run::WhyNoRun(*storage_));
      Wait(known, kPatience);
      continue;
    }
    Snapshot draft = Known()->Draft();
    ReadCollections(draft);
    const auto collections = Commit(std::move(draft))->collections;
    if (collections->complete()) return;
    if (ended) {
      // A run with an identity tells by its ledgers which worker never came, so
      // that what the others wrote is read.
      if (!survey.id.empty() && !collections->workers().empty()) return;
      throw MissingCollectionFiles(storage_->root());
    }
    if (!std::exchange(looked, true)) {
      if (!run::HoldsRun(*storage_) &&
          !run::HintAtRunsBelow(storage_->root()).empty()) {
        throw FormatError(storage_->root(), run::WhyNoRun(*storage_));
      }
      const std::string awaited = WhichFolderIsAwaited(storage_->root());
      if (!awaited.empty()) {
        base::LogWarning("{}: {}", storage_->root(), awaited);
      }
    }
    const bool is_own = survey.claim && run::IsOwn(*survey.claim);
    if (is_own && !std::exchange(asked, true)) {
      // What has ended may only wait to be written.
      run::AwaitWriters(*storage_, survey.id, options_.while_waiting);
      continue;
    }
    if (!warned && (is_own || Clock::now() - start > kPatience)) {
      warned = true;
      base::LogWarning(
          "{}: {}", storage_->root(),
          run::WhatIsAwaited(
              survey, fmt::format("{} of {}", collections->workers().size(),
                                  collections->num_workers())));
    }
    Wait(known, kPatience);
  }
}

// Jobs of smdebug 1.0 write the marker when the first worker is done.
void Reader::AwaitStragglers(const Snapshot& known,
                             const FileInfo& marker) const {
  const milliseconds delay = end_delay_;
  const std::chrono::duration<double> age(base::WallSeconds() -
                                          marker.modified);
  if (age >= delay || AllWorkersClosed(known)) return;
  const auto left = std::chrono::ceil<milliseconds>(delay - age);
  Pause(std::min(left, delay));
}

Reader::Turn::Turn(Reader* reader) : reader_(reader) {
  const auto take = [this](milliseconds patience) {
    const base::MutexLock lock(reader_->mu_);
    if (reader_->looking_ && patience.count() > 0) {
      reader_->turn_free_.wait_for(reader_->mu_, patience);
    }
    return !std::exchange(reader_->looking_, true);
  };
  bool taken = take(milliseconds(0));
  while (!taken) {
    taken = take(reader_->KeepWaiting(base::DeadlineAfter(kLookAnywayAfter)));
  }
}

Reader::Turn::~Turn() {
  const base::MutexLock lock(reader_->mu_);
  reader_->looking_ = false;
  reader_->turn_free_.notify_one();
}

milliseconds Reader::KeepWaiting(Clock::time_point until) const {
  if (options_.while_waiting) options_.while_waiting();
  const auto left = std::max(
      std::chrono::ceil<milliseconds>(until - Clock::now()), milliseconds(0));
  return options_.while_waiting ? std::min(left, kAskEvery) : left;
}

void Reader::Pause(milliseconds duration) const {
  const Clock::time_point until = base::DeadlineAfter(duration);
  do {
    std::this_thread::sleep_for(KeepWaiting(until));
  } while (Clock::now() < until);
}

bool Reader::Wait(uint64_t known, milliseconds timeout) const {
  if (watch_ == nullptr) {
    Pause(std::min(timeout, options_.poll_interval));
    return true;
  }
  const Clock::time_point until =
      base::DeadlineAfter(std::min(timeout, kLookAnywayAfter));
  do {
    if (watch_->Wait(known, KeepWaiting(until))) return true;
  } while (Clock::now() < until);
  return false;
}

bool Reader::WaitForSteps(std::span<const int64_t> steps, Mode mode,
                          std::optional<milliseconds> timeout) {
  const Clock::time_point start = Clock::now();
  for (const int64_t step : steps) {
    // What can be read stays so.
    if (Known()->StateOf(step, mode) == StepState::kAvailable) continue;
    while (true) {
      const SnapshotPtr known = RefreshNow();
      const StepState state = known->StateOf(step, mode);
      if (state == StepState::kAvailable) break;
      if (state == StepState::kUnavailable) ThrowPassed(*known, step, mode);
      milliseconds left = kLookAnywayAfter;
      if (timeout) {
        const auto spent = Clock::now() - start;
        if (spent >= *timeout) return false;
        left = std::chrono::ceil<milliseconds>(*timeout - spent);
      }
      Wait(known->change, left);
    }
  }
  return true;
}

void Reader::ThrowPassed(const Snapshot& known, int64_t step, Mode mode) {
  const int64_t last = known.catalog().LastStep(mode);
  if (known.loaded_all && step >= last) throw NoMoreData(step, mode, last);
  throw StepUnavailable(step, mode);
}

bool Reader::WaitForChange(milliseconds timeout) {
  const SnapshotPtr known = Known();
  if (known->loaded_all) return false;
  return Wait(known->change, timeout);
}

}  // namespace smdebug::trial
