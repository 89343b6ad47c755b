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
  // `tensorboard` may be null. The thread starts with the first Submit(), or
  // with ShowLife().
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

  // Asks for everything queued so far of steps up to `ended` to be published.
  // Requests come in the order of their steps. Returns what AwaitFlush() takes.
  uint64_t RequestFlush(const Stamp& ended) SMDEBUG_EXCLUDES(mu_);

  // Waits until that has been done. False if it has not: after `timeout`, if
  // nothing moved for runtime.stuck_after, if a scalar waits for the next step,
  // or if the thread itself asks.
  bool AwaitFlush(uint64_t flush,
                  std::optional<std::chrono::milliseconds> timeout)
      SMDEBUG_EXCLUDES(mu_);

  // Shows others that this process is alive, and goes on doing so: nothing need
  // have been submitted. Observe() may still be called.
  void ShowLife() SMDEBUG_EXCLUDES(mu_);

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
  static constexpr uint64_t kNoFlush = UINT64_MAX;

  // How the run ends.
  struct End {
    Stamp stamp = {};
    std::optional<Ending> ending = {};
    std::string reason = {};
  };

  void StartLocked() SMDEBUG_REQUIRES(mu_);
  // False if `is_over`, which is called with the lock held, does not become
  // true within `timeout`, or nothing moved for runtime.stuck_after.
  template <typename IsOver>
  bool WaitUntilLocked(const IsOver& is_over,
                       std::optional<std::chrono::milliseconds> timeout)
      SMDEBUG_REQUIRES(mu_);
  bool WaitUntilFinished() SMDEBUG_EXCLUDES(mu_);
  void Flushed(uint64_t flush, bool is_all_out) SMDEBUG_EXCLUDES(mu_);
  void Run() SMDEBUG_EXCLUDES(mu_);
  // The next batch; nothing if no more come.
  std::optional<Batch> Next();

  const std::chrono::milliseconds stuck_after_;
  const std::chrono::milliseconds heartbeat_;
  const std::shared_ptr<Storage> storage_;
  Tally* const tally_;
  FailOpen* const fail_open_;
  BatchQueue queue_;
  StepWriter steps_;  // The thread's own.

  base::Mutex mu_;
  base::CondVar has_moved_;  // finished_ or flushed_.
  bool started_ SMDEBUG_GUARDED_BY(mu_) = false;
  std::thread::id thread_id_ SMDEBUG_GUARDED_BY(mu_);
  bool finished_ SMDEBUG_GUARDED_BY(mu_) = false;
  End end_ SMDEBUG_GUARDED_BY(mu_);
  uint64_t last_flush_ SMDEBUG_GUARDED_BY(mu_) = 0;  // Asked for.
  uint64_t flushed_ SMDEBUG_GUARDED_BY(mu_) = 0;     // Done.
  bool is_all_out_ SMDEBUG_GUARDED_BY(mu_) = false;  // By the last flush.

  std::atomic<int> hurried_{0};          // By so many.
  std::atomic<bool> is_hurried_{false};  // Since the sink was last told.
  std::atomic<bool> silent_{false};

  // Not a jthread: a thread that hangs in the file system is let go.
  std::thread thread_;
};

}  // namespace smdebug::hook
