#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "smdebug/config.h"
#include "smdebug/hook.h"
#include "smdebug/storage.h"
#include "src/base/mutex.h"
#include "src/config/plan.h"
#include "src/hook/batch_queue.h"
#include "src/hook/captured.h"
#include "src/hook/step_file.h"
#include "src/hook/tally.h"
#include "src/hook/tensorboard_writer.h"
#include "src/run/run_folder.h"

namespace smdebug::hook {

// Writes what a hook captured, on a thread of its own, step after step.
//
// A step that fails is discarded, counted and left behind; the next one is
// tried anew. Scalars of steps that have no files wait for the next step that
// has, within the limits of RuntimeOptions.
//
// Thread-safe. Everything borrowed outlives the writer.
class Writer {
 public:
  struct Options {
    std::string worker = {};
    int64_t num_workers = 1;
    RuntimeOptions runtime = {};
  };

  // `tensorboard` may be null. The thread starts with the first Submit();
  // `config` must not change from then on.
  Writer(const HookConfig& config, Options options,
         std::shared_ptr<Storage> storage, std::shared_ptr<Storage> tensorboard,
         run::RunFolder* folder, Tally* tally);

  // Only after Close() has returned true.
  ~Writer() = default;
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  // Before the first Submit().
  void Observe(std::shared_ptr<StepObserver> observer) {
    observers_.push_back(std::move(observer));
  }

  // Queues `batch`, as BatchQueue::Add() does.
  std::vector<CapturedTensor> Submit(Batch batch) SMDEBUG_EXCLUDES(mu_);

  // Somebody waits for room: what is queued is written now.
  void Hurry() { queue_.Hurry(); }

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
  // it borrows must stay alive for good.
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

  void StartLocked() SMDEBUG_REQUIRES(mu_);
  // False if nothing moved for runtime.stuck_after.
  bool WaitUntilFinished() SMDEBUG_EXCLUDES(mu_);
  void Run();
  std::optional<Batch> Next(Session& session);
  void Process(Session& session, Batch& batch);
  StepFile& FileFor(Session& session, const Stamp& stamp);
  void WriteTensors(Session& session, Batch& batch);
  void FinishStep(Session& session, const Stamp& stamp, bool closing);
  void PublishStep(Session& session, const Stamp& stamp);
  void PublishCollections(Session& session);
  void FeedTensorboard(Session& session, const Batch& batch);
  void FlushTensorboard(Session& session);
  void UpdateLedger(Session& session, bool even_if_recent);
  void Finish(Session& session) SMDEBUG_EXCLUDES(mu_);
  // Tells each observer; one that throws is told no more.
  void Tell(const std::function<void(StepObserver&)>& what);

  // Counts the exception now being handled; a strict hook rethrows it later.
  void Fail(std::string_view kind) SMDEBUG_EXCLUDES(mu_);

  const HookConfig& config_;
  const Options options_;
  const std::shared_ptr<Storage> storage_;
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

  std::atomic<uint64_t> progress_{0};
  std::atomic<int64_t> last_step_{-1};
  std::atomic<bool> silent_{false};

  // Not a jthread: a thread that hangs in the file system is let go.
  std::thread thread_;
};

}  // namespace smdebug::hook
