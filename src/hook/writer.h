#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "smdebug/config.h"
#include "smdebug/hook.h"
#include "smdebug/storage.h"
#include "src/base/mutex.h"
#include "src/hook/batch_queue.h"
#include "src/hook/captured.h"
#include "src/hook/step_encoder.h"
#include "src/hook/tally.h"
#include "src/hook/tensorboard_writer.h"
#include "src/run/run_folder.h"
#include "src/steps/step_sink.h"

namespace smdebug::hook {

// Writes what a hook captured, on a thread of its own, step after step.
//
// A step counts, and observers hear of it, when the sink reports it. One that
// is lost is counted and left behind; the next one is tried anew. Scalars of
// steps that are not sealed, or lost, wait for the next step that is, within
// the limits of RuntimeOptions.
//
// Thread-safe. Everything borrowed outlives the writer.
class Writer final : private steps::SinkListener {
 public:
  struct Options {
    std::string worker = {};
    int64_t num_workers = 1;
    RuntimeOptions runtime = {};
    Spread spread = Spread::kPopulation;
  };

  // `tensorboard` may be null. The thread starts with the first Submit().
  Writer(Options options, std::shared_ptr<Storage> storage,
         std::shared_ptr<Storage> tensorboard, run::RunFolder* folder,
         Tally* tally);

  // Only after Close() has returned true.
  ~Writer() override = default;
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  // Before the first Submit().
  void Observe(std::shared_ptr<StepObserver> observer) {
    observers_.push_back(std::move(observer));
  }

  // Queues `batch`, as BatchQueue::Add() does.
  std::vector<CapturedTensor> Submit(Batch batch) SMDEBUG_EXCLUDES(mu_);

  // As long as one lives somebody waits for room: what is queued is written at
  // once, and the sink keeps nothing back.
  class Haste {
   public:
    explicit Haste(Writer* writer) : writer_(*writer) {
      ++writer_.hurried_;
      writer_.is_hurried_ = true;
      writer_.queue_.Wake();
    }
    ~Haste() { --writer_.hurried_; }
    Haste(const Haste&) = delete;
    Haste& operator=(const Haste&) = delete;

   private:
    Writer& writer_;
  };
  bool IsHurried() const noexcept {
    return hurried_.load(std::memory_order_relaxed) != 0;
  }

  // The highest step begun so far, for the ledger.
  void NoteStep(int64_t step) noexcept {
    last_step_.store(step, std::memory_order_relaxed);
  }

  // Writes everything queued, the leftover scalars at `end` or later, the
  // collections and the ledger, and ends the thread. Without an `ending` the
  // run is left for one that starts over.
  //
  // Returns false if nothing moved for runtime.stuck_after: what is left is
  // then counted as dropped, the thread is on its own, and the writer and all
  // it borrows must stay alive for good. So it is if the sink does not report.
  bool Close(const Stamp& end, std::optional<Ending> ending,
             std::string_view reason) SMDEBUG_EXCLUDES(mu_);

  // Grows while the thread gets anything done.
  const std::atomic<uint64_t>& progress() const noexcept { return progress_; }

  // The thread has failed: nothing need be captured any more.
  bool silent() const noexcept {
    return silent_.load(std::memory_order_relaxed);
  }

  // The first error of the thread, once. For strict hooks.
  std::exception_ptr TakeError() SMDEBUG_EXCLUDES(mu_);

 private:
  // State of the thread alone.
  struct Session;

  // steps::SinkListener.
  void OnProgress() noexcept override { ++progress_; }
  void OnReports(std::span<const steps::StepReport> reports) noexcept override
      SMDEBUG_EXCLUDES(mu_);

  void StartLocked() SMDEBUG_REQUIRES(mu_);
  // False if nothing moved for runtime.stuck_after.
  bool WaitUntilFinished() SMDEBUG_EXCLUDES(mu_);
  void Run();
  std::optional<Batch> Next(Session& session);
  void Process(Session& session, Batch& batch);
  StepEncoder& EncoderFor(Session& session, const Stamp& stamp);
  void WriteTensors(Session& session, Batch& batch);
  void FinishStep(Session& session, const Stamp& stamp, bool closing);
  void SealStep(Session& session, const Stamp& stamp);
  // Counts and tells what the sink has reported so far.
  void TakeReports(Session& session) SMDEBUG_EXCLUDES(mu_);
  // Returns when the sink has reported every sealed step.
  void AwaitReports(Session& session) SMDEBUG_EXCLUDES(mu_);
  // The same after the thread has failed: the sink still knows the writer.
  void LetGo(std::optional<Session>& session) noexcept;
  void LimitScalars(Session& session);
  void NoteCollections(Session& session, const CollectionChanges& changes);
  void PublishCollections(Session& session);
  void FeedTensorboard(Session& session, Batch& batch);
  void FlushTensorboard(Session& session);
  void CloseTensorboard(Session& session);
  void UpdateLedger(Session& session);
  void Finish(Session& session) SMDEBUG_EXCLUDES(mu_);
  // Tells each observer; one that throws is told no more.
  void Tell(const std::function<void(StepObserver&)>& what);

  // Counts an error, by default the one now being handled; a strict hook
  // rethrows it later.
  void Fail(std::string_view kind,
            const std::exception_ptr& error = std::current_exception())
      SMDEBUG_EXCLUDES(mu_);

  const Options options_;
  const std::shared_ptr<Storage> storage_;
  const std::shared_ptr<steps::StepSink> sink_;
  const std::shared_ptr<Storage> tensorboard_;
  run::RunFolder* const folder_;  // The thread's own.
  Tally* const tally_;

  std::vector<std::shared_ptr<StepObserver>> observers_;  // The thread's own.

  BatchQueue queue_;
  base::Mutex mu_;
  base::CondVar has_finished_;
  bool started_ SMDEBUG_GUARDED_BY(mu_) = false;
  std::optional<Ending> ending_ SMDEBUG_GUARDED_BY(mu_);
  std::string reason_ SMDEBUG_GUARDED_BY(mu_);
  bool finished_ SMDEBUG_GUARDED_BY(mu_) = false;
  Stamp end_ SMDEBUG_GUARDED_BY(mu_);
  std::exception_ptr error_ SMDEBUG_GUARDED_BY(mu_);
  base::CondVar has_reports_;
  // Of sealed steps in their order: why each is lost, or null.
  std::vector<std::exception_ptr> reports_ SMDEBUG_GUARDED_BY(mu_);

  std::atomic<std::thread::id> thread_id_;
  std::atomic<bool> has_report_{false};  // Whether to look.
  std::atomic<int> hurried_{0};          // By so many.
  std::atomic<bool> is_hurried_{false};  // Since the sink was last told.
  std::atomic<uint64_t> progress_{0};
  // Tensors and scalars that were taken from the queue and are neither
  // published nor given up.
  std::atomic<int64_t> in_hand_{0};
  std::atomic<int64_t> last_step_{-1};
  std::atomic<bool> silent_{false};

  // Not a jthread: a thread that hangs in the file system is let go.
  std::thread thread_;
};

}  // namespace smdebug::hook
