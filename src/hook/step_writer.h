#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "smdebug/config.h"
#include "smdebug/hook.h"
#include "smdebug/storage.h"
#include "src/hook/arrivals.h"
#include "src/hook/batch_queue.h"
#include "src/hook/collections_writer.h"
#include "src/hook/fail_open.h"
#include "src/hook/ledger_writer.h"
#include "src/hook/scalar_backlog.h"
#include "src/hook/sink_reports.h"
#include "src/hook/step_encoder.h"
#include "src/hook/tally.h"
#include "src/hook/tensorboard_writer.h"
#include "src/run/run_folder.h"
#include "src/steps/step_sink.h"

namespace smdebug::hook {

// What is written, and for whom.
struct WriterOptions {
  std::string worker = {};
  int64_t num_workers = 1;
  RuntimeOptions runtime = {};
  Spread spread = Spread::kPopulation;
};

// Makes steps of batches, and hands them to the sink.
//
// A step counts, and observers hear of it, when the sink reports it. One that
// is lost is counted and left behind; the next one is tried anew. Scalars of
// steps that are not sealed, or lost, wait for the next step that is.
//
// One thread at a time, but for the calls at the end. What is borrowed outlives
// the writer, and the writer the report of every step that it has sealed.
class StepWriter {
 public:
  // `tensorboard` may be null. `queue` is woken by reports of the sink.
  StepWriter(const WriterOptions& options,
             const std::shared_ptr<Storage>& storage,
             std::shared_ptr<Storage> tensorboard, run::RunFolder* folder,
             BatchQueue* queue, Tally* tally, FailOpen* fail_open);

  // Before the thread begins.
  void Observe(std::shared_ptr<StepObserver> observer) {
    listeners_.push_back({.observer = std::move(observer)});
  }

  // On the thread that makes the calls that follow.
  void Begin() noexcept { reports_.SetTaker(); }

  void Write(Batch& batch);

  // Publishes what there is of steps up to `ended`. False if a scalar of those
  // is left for the next step, since its own was sealed before it came.
  bool Flush(const Stamp& ended);

  // Counts and tells what the sink has reported so far.
  void TakeReports();

  // Shows others that this process is alive.
  void KeepLedger() { ledger_.Update(); }

  // The sink is to keep nothing back.
  void Hurry() { sink_->Hurry(); }

  // Writes the leftover scalars at `end` or later, and the collections, and
  // leaves the run.
  void Finish(const Stamp& end, std::optional<Ending> ending,
              std::string_view reason);

  // After a failure, instead of the rest: returns when the sink has reported.
  void GiveUp() noexcept;

  // Frees what was needed for writing. Nothing is written after that.
  void Free() noexcept;

  // From any thread.

  void NoteStep(int64_t step) noexcept { ledger_.NoteStep(step); }

  // Grows while anything gets done.
  const std::atomic<uint64_t>& progress() const noexcept {
    return reports_.progress();
  }

  // Tensors and scalars that were taken in and are neither published nor given
  // up.
  int64_t in_hand() const noexcept { return in_hand_; }

 private:
  // A step that was sealed, until the sink reports it.
  struct SealedStep {
    int64_t step = 0;
    int64_t captured = 0;  // Tensors.
    int64_t saved = 0;     // Tensors and reductions.
    uint64_t bytes = 0;
    std::vector<CapturedScalar> scalars;
  };

  StepEncoder& EncoderFor(const Stamp& stamp);
  void Digest(Batch& batch);
  void WriteTensors(Batch& batch);
  void FinishStep(const Stamp& stamp, bool closing);
  void SealStep(const Stamp& stamp);
  void CountPublished(const SealedStep& step);
  // Returns when the sink has reported every sealed step.
  void AwaitReports();
  void LimitScalars();
  // Tells each observer; one that throws is told no more.
  void Tell(const std::function<void(StepObserver&)>& what);
  // The first that an observer says; empty if the job has not failed.
  std::string WhyFailed() const;

  // A step up to this one is not written again.
  int64_t last_sealed() const noexcept {
    return sealed_.empty() ? last_published_ : sealed_.back().step;
  }

  const std::string worker_;
  const Spread spread_;
  const std::shared_ptr<steps::StepSink> sink_;
  const std::shared_ptr<Storage> tensorboard_store_;
  Tally* const tally_;
  FailOpen* const fail_open_;
  struct Listener {
    std::shared_ptr<StepObserver> observer;
    bool is_told = true;
  };
  std::vector<Listener> listeners_;
  SinkReports reports_;
  LedgerWriter ledger_;
  CollectionsWriter collections_;
  TensorboardWriter tensorboard_;
  ScalarBacklog scalars_;
  Arrivals arrivals_;

  std::optional<steps::StepBuilder::Workspace> workspace_{std::in_place};
  std::optional<StepEncoder> encoder_;  // Of the step now being written.
  int64_t captured_ = 0;                // Tensors of that step so far.
  bool failed_ = false;                 // That step is lost.
  std::deque<SealedStep> sealed_;       // In the order in which they were.
  int64_t last_published_ = -1;

  std::atomic<int64_t> in_hand_{0};
};

}  // namespace smdebug::hook
