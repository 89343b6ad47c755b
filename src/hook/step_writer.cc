#include "src/hook/step_writer.h"

#include <utility>

#include "src/steps/open_sink.h"

namespace smdebug::hook {

StepWriter::StepWriter(const WriterOptions& options,
                       const std::shared_ptr<Storage>& storage,
                       std::shared_ptr<Storage> tensorboard,
                       run::RunFolder* folder, BatchQueue* queue, Tally* tally,
                       FailOpen* fail_open)
    : worker_(options.worker),
      spread_(options.spread),
      sink_(steps::OpenSink(storage, options.runtime.durability)),
      tensorboard_store_(std::move(tensorboard)),
      tally_(tally),
      fail_open_(fail_open),
      reports_(queue),
      ledger_(folder, tally, fail_open),
      collections_(storage.get(), options.runtime.durability, options.worker,
                   options.num_workers),
      tensorboard_(tensorboard_store_.get(), fail_open),
      scalars_(options.runtime),
      // Half, so that those who wait for this thread do not give it up.
      arrivals_(options.runtime.stuck_after / 2, &reports_, tally, fail_open) {}

void StepWriter::Write(Batch& batch) {
  if (batch.collections != nullptr) collections_.Note(*batch.collections);
  const auto count = [&] {
    return static_cast<int64_t>(batch.tensors.size() + batch.scalars.size());
  };
  const int64_t handed_over = count();
  in_hand_ += handed_over;
  arrivals_.Await(batch);
  in_hand_ -= handed_over - count();
  captured_ += static_cast<int64_t>(batch.tensors.size());
  Digest(batch);
  WriteTensors(batch);
  scalars_.Add(batch.scalars);
  if (batch.last_of_step) FinishStep(batch.stamp, /*closing=*/false);
  reports_.OnProgress();
}

void StepWriter::Digest(Batch& batch) {
  for (CapturedTensor& tensor : batch.tensors) {
    if (!tensor.digest && tensor.NeedsDigest()) {
      tensor.digest = MakeDigest(tensor.View(), *tensor.form);
    }
    tensorboard_.Add(tensor, batch.stamp);
    // Nobody else needs it, and it may be large.
    if (tensor.digest) tensor.digest->histogram.reset();
  }
  for (const CapturedScalar& scalar : batch.scalars) tensorboard_.Add(scalar);
  if (tensorboard_.IsMuch()) tensorboard_.Flush();
}

StepEncoder& StepWriter::EncoderFor(const Stamp& stamp) {
  if (!encoder_) {
    encoder_.emplace(steps::StepBuilder(sink_.get(), &reports_,
                                        {worker_, stamp.step}, &*workspace_),
                     stamp, spread_);
  }
  return *encoder_;
}

void StepWriter::WriteTensors(Batch& batch) {
  if (batch.tensors.empty() || failed_) return;
  try {
    // Kept by the sink as long as it keeps a part.
    auto room = std::make_shared<const Reservation>(std::move(batch.room));
    EncoderFor(batch.stamp).Append(batch.tensors, std::move(room));
  } catch (...) {
    encoder_.reset();
    failed_ = true;
    fail_open_->Keep("write");
  }
}

void StepWriter::FinishStep(const Stamp& stamp, bool closing) {
  const bool has_tensors = encoder_ && !encoder_->empty();
  const bool scalars_due = !scalars_.empty() && stamp.step > last_sealed() &&
                           (closing || has_tensors || scalars_.IsDue());
  if (!failed_ && (has_tensors || scalars_due)) {
    try {
      SealStep(stamp);
    } catch (...) {
      failed_ = true;
      fail_open_->Keep("write");
    }
  }
  if (failed_) {
    tally_->AddLost(captured_);
    LimitScalars();
  }
  encoder_.reset();
  in_hand_ -= std::exchange(captured_, 0);
  failed_ = false;
  TakeReports();
  tensorboard_.Flush();
  ledger_.Update();
}

void StepWriter::SealStep(const Stamp& stamp) {
  StepEncoder& encoder = EncoderFor(stamp);
  encoder.Append(scalars_.scalars());
  collections_.Publish();
  const int64_t saved = encoder.saved() - scalars_.size();
  sealed_.push_back({.step = stamp.step,
                     .captured = std::exchange(captured_, 0),
                     .saved = saved,
                     .bytes = encoder.bytes(),
                     .scalars = scalars_.Take()});
  reports_.Expect(sealed_.size());
  try {
    encoder.Seal();
  } catch (...) {
    // It never came to the sink, and is lost as others are.
    const steps::StepReport report = {.key = {worker_, stamp.step},
                                      .error = std::current_exception()};
    reports_.OnReports({&report, 1});
  }
}

bool StepWriter::Flush(const Stamp& ended) {
  try {
    collections_.Publish();
  } catch (...) {
    fail_open_->Keep("write");
  }
  std::vector<CapturedScalar> later = scalars_.TakeAfter(ended.step);
  // Else the step that is now being written takes them along.
  if (captured_ == 0) FinishStep(ended, /*closing=*/true);
  AwaitReports();
  const bool is_all_out = scalars_.empty();
  scalars_.Add(later);
  return is_all_out;
}

void StepWriter::TakeReports() {
  std::exception_ptr counted;  // Steps that are lost together share an error.
  for (const std::exception_ptr& error : reports_.Take(sealed_.size())) {
    SealedStep step = std::move(sealed_.front());
    sealed_.pop_front();
    in_hand_ -= step.captured;
    if (error == nullptr) {
      CountPublished(step);
      continue;
    }
    if (error != counted) fail_open_->Keep("write", error);
    counted = error;
    tally_->AddLost(step.captured);
    scalars_.PutBack(std::move(step.scalars));
    LimitScalars();
  }
}

void StepWriter::CountPublished(const SealedStep& step) {
  const auto scalars = static_cast<int64_t>(step.scalars.size());
  in_hand_ -= scalars;
  tally_->AddStep(step.saved, step.bytes, scalars);
  last_published_ = step.step;
  Tell([&](StepObserver& observer) { observer.OnStep(step.step); });
}

void StepWriter::AwaitReports() {
  while (!sealed_.empty()) {
    sink_->Hurry();
    reports_.Await();
    TakeReports();
  }
}

void StepWriter::LimitScalars() {
  const int64_t lost = scalars_.Limit();
  tally_->AddLost(lost);
  in_hand_ -= lost;
}

void StepWriter::Tell(const std::function<void(StepObserver&)>& what) {
  for (Listener& listener : listeners_) {
    if (!listener.is_told) continue;
    try {
      what(*listener.observer);
    } catch (...) {
      listener.is_told = false;
      fail_open_->Keep("observer");
    }
  }
}

std::string StepWriter::WhyFailed() const {
  for (const Listener& listener : listeners_) {
    std::string reason = listener.observer->WhyFailed();
    if (!reason.empty()) return reason;
  }
  return {};
}

void StepWriter::Finish(const Stamp& end, std::optional<Ending> ending,
                        std::string_view reason) {
  AwaitReports();
  if (!scalars_.empty()) {
    // A published step is never written again, so leftovers of the last one
    // need a step number of their own.
    Stamp stamp = end;
    if (stamp.step <= last_sealed()) {
      stamp.step = last_sealed() + 1;
      ++stamp.mode_step;
    }
    FinishStep(stamp, /*closing=*/true);
    AwaitReports();
    tally_->AddLost(scalars_.size());
  }
  try {
    collections_.Publish();
  } catch (...) {
    fail_open_->Keep("collections");
  }
  tensorboard_.Publish();
  Tell([stats = tally_->stats()](StepObserver& observer) {
    observer.OnEnd(stats);
  });
  const std::string failure = ending == Ending::kFinished ? WhyFailed() : "";
  if (failure.empty()) {
    ledger_.Leave(ending, reason);
  } else {
    ledger_.Leave(Ending::kFailed, failure);
  }
}

void StepWriter::GiveUp() noexcept {
  try {
    AwaitReports();
  } catch (...) {
    fail_open_->Keep("writer");
  }
}

void StepWriter::Free() noexcept {
  encoder_.reset();
  workspace_.reset();
  sealed_.clear();
  scalars_.Take();
}

}  // namespace smdebug::hook
