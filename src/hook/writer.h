#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "smdebug/hook.h"
#include "smdebug/storage.h"
#include "src/base/mutex.h"
#include "src/hook/batch_queue.h"
#include "src/hook/fail_open.h"
#include "src/hook/step_writer.h"
#include "src/hook/tally.h"
#include "src/run/run_folder.h"

namespace smdebug::hook {

// Writes what a hook captured, on a thread of its own, step after step.
//
// Thread-safe. Everything borrowed outlives the writer.
class Writer {
 public:
  // `tensorboard` may be null. The thread starts with the first Submit().
  Writer(const WriterOptions& options, std::shared_ptr<Storage> storage,
         std::shared_ptr<Storage> tensorboard, run::RunFolder* folder,
         Tally* tally, FailOpen* fail_open);

  // Only after Close() has returned true.
  ~Writer() = default;
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  // Before the first Submit().
  void Observe(std::shared_ptr<StepObserver> observer) {
    steps_.Observe(std::move(observer));
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
  void NoteStep(int64_t step) noexcept { steps_.NoteStep(step); }

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
  const std::atomic<uint64_t>& progress() const noexcept {
    return steps_.progress();
  }

  // The thread has failed: nothing need be captured any more.
  bool silent() const noexcept {
    return silent_.load(std::memory_order_relaxed);
  }

 private:
  // How the run ends.
  struct End {
    Stamp stamp = {};
    std::optional<Ending> ending = {};
    std::string reason = {};
  };

  void StartLocked() SMDEBUG_REQUIRES(mu_);
  // False if nothing moved for runtime.stuck_after.
  bool WaitUntilFinished() SMDEBUG_EXCLUDES(mu_);
  void Run() SMDEBUG_EXCLUDES(mu_);
  // The next batch; nothing if no more come.
  std::optional<Batch> Next();

  const std::chrono::milliseconds stuck_after_;
  const std::shared_ptr<Storage> storage_;
  Tally* const tally_;
  FailOpen* const fail_open_;
  BatchQueue queue_;
  StepWriter steps_;  // The thread's own.

  base::Mutex mu_;
  base::CondVar has_finished_;
  bool started_ SMDEBUG_GUARDED_BY(mu_) = false;
  bool finished_ SMDEBUG_GUARDED_BY(mu_) = false;
  End end_ SMDEBUG_GUARDED_BY(mu_);

  std::atomic<int> hurried_{0};          // By so many.
  std::atomic<bool> is_hurried_{false};  // Since the sink was last told.
  std::atomic<bool> silent_{false};

  // Not a jthread: a thread that hangs in the file system is let go.
  std::thread thread_;
};

}  // namespace smdebug::hook
