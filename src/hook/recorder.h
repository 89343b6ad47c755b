#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "smdebug/config.h"
#include "smdebug/hook.h"
#include "smdebug/internal/arriving.h"
#include "smdebug/storage.h"
#include "smdebug/tensor.h"
#include "src/base/fork.h"
#include "src/base/mutex.h"
#include "src/hook/buffer_pool.h"
#include "src/hook/captured.h"
#include "src/hook/capturer.h"
#include "src/hook/fail_open.h"
#include "src/hook/recent_tensors.h"
#include "src/hook/selector.h"
#include "src/hook/step_counter.h"
#include "src/hook/step_history.h"
#include "src/hook/tally.h"
#include "src/hook/writer.h"
#include "src/run/doorkeeper.h"
#include "src/run/run_folder.h"

namespace smdebug::hook {

// What stands behind a Hook: counts steps, decides, captures, and hands over to
// the writer. The calls mean what they mean on Hook; they may throw, and are
// made by Guard().
//
// Lock order: mu_ before the locks of the pool, the tally and the writer.
// Thread-safe.
class Recorder {
 public:
  Recorder(HookConfig config, const Worker& worker,
           const RuntimeOptions& runtime, std::shared_ptr<Storage> storage,
           std::shared_ptr<Storage> tensorboard);

  // See Hook.
  static std::shared_ptr<void> CheckOutDir(const HookConfig& config,
                                           const Worker& worker);

  // In a forked child: the locks and the thread are the parent's, so nothing
  // but this may be called, and the object must not be destroyed.
  bool InChild() const noexcept {
    return base::ForkGeneration() != fork_generation_;
  }

  // The writer's thread hangs in the file system: the object must not be
  // destroyed.
  bool stuck() const noexcept { return stuck_; }

  // Runs `body` as FailOpen does, unless in a forked child.
  template <typename Body>
  void Guard(std::string_view kind, const Body& body) {
    if (!InChild()) fail_open_.Run(kind, body);
  }

  const HookConfig& config() const noexcept { return config_; }
  // As readers have it.
  const std::string& worker() const noexcept { return worker_; }
  const std::shared_ptr<Storage>& storage() const noexcept { return storage_; }
  const std::string& run_id() const noexcept;
  HookStats stats() const;
  // Bytes of the buffer in use by what was captured and is not written.
  uint64_t held_bytes() const { return pool_.in_use() + pool_.reserved(); }
  StepCounter counter() const SMDEBUG_EXCLUDES(mu_);
  std::optional<Collection> GetCollection(std::string_view name) const
      SMDEBUG_EXCLUDES(mu_);

  std::vector<Collection> Collections() const SMDEBUG_EXCLUDES(mu_);

  void Configure(HookConfig config) SMDEBUG_EXCLUDES(mu_);
  void SetCollection(const Collection& collection) SMDEBUG_EXCLUDES(mu_);
  void AddHints(std::span<const std::string> hints) SMDEBUG_EXCLUDES(mu_);
  void Observe(std::shared_ptr<StepObserver> observer) SMDEBUG_EXCLUDES(mu_);
  void SetMode(Mode mode) SMDEBUG_EXCLUDES(mu_);
  void BeginStep(std::optional<int64_t> number) SMDEBUG_EXCLUDES(mu_);
  bool BeginIdleStep() SMDEBUG_EXCLUDES(mu_);
  // Whether BeginIdleStep() would leave the next step to the caller.
  bool NextIsDue() const SMDEBUG_EXCLUDES(mu_);
  void EndStep() SMDEBUG_EXCLUDES(mu_);
  bool Flush(std::optional<std::chrono::milliseconds> timeout)
      SMDEBUG_EXCLUDES(mu_);
  // `ending` is unset for a job that starts over.
  void Close(std::optional<Ending> ending, std::string_view reason)
      SMDEBUG_EXCLUDES(mu_);
  void Skip(std::string_view name, std::string_view reason);
  bool LeaveOut(std::string_view name, std::string_view reason) {
    return fail_open_.LeaveOut(name, reason);
  }

  bool StepIsDue() const noexcept {
    return due_.load(std::memory_order_relaxed) == Due::kSomething &&
           !InChild();
  }
  // Whether a Save() now has nothing to do, not even to count.
  bool IsIdle() const noexcept {
    return due_.load(std::memory_order_relaxed) == Due::kNothing;
  }
  // Whether it comes after the end of a step of which something was due, or
  // after Close().
  bool IsLate() const noexcept {
    return due_.load(std::memory_order_relaxed) == Due::kTooLate;
  }
  void CountLate(std::string_view name) SMDEBUG_EXCLUDES(mu_);
  bool IsDue(std::string_view name) SMDEBUG_EXCLUDES(mu_);
  bool IsDue(TensorName& name) SMDEBUG_EXCLUDES(mu_);
  bool AnyIsDue(std::string_view prefix) SMDEBUG_EXCLUDES(mu_);
  uint64_t due_key() const SMDEBUG_EXCLUDES(mu_);

  void Save(std::string_view name, const TensorView& tensor)
      SMDEBUG_EXCLUDES(mu_);
  void Save(TensorName& name, const TensorView& tensor) SMDEBUG_EXCLUDES(mu_);
  void SaveAs(std::span<const std::string_view> names, const TensorView& tensor)
      SMDEBUG_EXCLUDES(mu_);
  void SaveTensor(std::string_view name, const TensorView& tensor,
                  std::span<const std::string_view> collections)
      SMDEBUG_EXCLUDES(mu_);
  void SaveTensorForNextStep(std::string_view name, const TensorView& tensor,
                             std::span<const std::string_view> collections)
      SMDEBUG_EXCLUDES(mu_);
  // Where something is `arriving`, it has the value.
  void SaveScalar(
      std::string_view name, double value, const ScalarOptions& options,
      std::shared_ptr<const internal::ArrivingScalar> arriving = nullptr)
      SMDEBUG_EXCLUDES(mu_);

  internal::Wanted WantedOf(std::string_view name) SMDEBUG_EXCLUDES(mu_);
  internal::Wanted WantedOf(std::string_view name,
                            std::span<const std::string_view> collections)
      SMDEBUG_EXCLUDES(mu_);
  std::shared_ptr<const void> Reserve(std::span<const std::string_view> names,
                                      uint64_t bytes, bool waits)
      SMDEBUG_EXCLUDES(mu_);
  void SaveArriving(std::string_view name,
                    const internal::ArrivingTensor& tensor)
      SMDEBUG_EXCLUDES(mu_);

 private:
  // A copy of a tensor that belongs to the next step.
  struct WaitingTensor {
    std::string name;
    std::vector<std::string> collections;
    CapturedTensor captured;  // Without plan and form.
    Reservation room;         // For all of that but the content.
  };

  // The most room that is kept for what comes next.
  static constexpr uint64_t kMostCredit = uint64_t{64} << 10;

  // What Save() would do.
  enum class Due : uint8_t { kNothing, kSomething, kTooLate };

  // Throws Error if the first step has begun; `what` can no longer be done.
  void CheckNotBegunLocked(std::string_view what) const SMDEBUG_REQUIRES(mu_);
  void ReplaceConfigLocked(HookConfig config) SMDEBUG_REQUIRES(mu_);

  // Whether anything that is saved now could be written.
  bool Writes() const noexcept {
    return writer_ != nullptr && !writer_->silent();
  }

  std::shared_ptr<TensorPlan> FindLocked(std::string_view name)
      SMDEBUG_REQUIRES(mu_);
  const std::shared_ptr<TensorPlan>& FindLocked(TensorName& name)
      SMDEBUG_REQUIRES(mu_);
  // Whether `name` is kept for reductions; if so, what has it is skipped.
  bool SkipReserved(std::string_view name);
  void CountLateLocked(const TensorPlan& tensor) SMDEBUG_REQUIRES(mu_);

  // Save() for either kind of name.
  template <typename Name>
  void SaveNamed(Name& name, const TensorView& tensor) SMDEBUG_EXCLUDES(mu_);

  // Gives the writer what this step has so far.
  void HandOver() SMDEBUG_EXCLUDES(mu_);

  // Calls `attempt` until it finds room and returns true. False if none comes:
  // at once if the hook drops, or if the writer is stuck.
  template <typename Attempt>
  bool WithRoom(const Attempt& attempt) SMDEBUG_EXCLUDES(mu_);
  template <typename Attempt>
  bool AwaitRoom(const Attempt& attempt) SMDEBUG_EXCLUDES(mu_);
  void CountFull(std::string_view kind, std::string_view name);
  void CountClosed(std::string_view kind, std::string_view name);

  // Whether there is room for `bytes` more in the batch.
  bool PayLocked(uint64_t bytes) SMDEBUG_REQUIRES(mu_);

  // Fills in plan and form of what is saved as `name` now; false for nothing.
  template <typename Name>
  bool ChooseLocked(Name& name, CapturedTensor& captured) SMDEBUG_REQUIRES(mu_);

  // What SaveTensor() saves of `name` now; null for nothing, which is counted
  // if it comes too late.
  std::shared_ptr<const Form> JoinLocked(
      std::string_view name, std::span<const std::string_view> collections,
      std::shared_ptr<TensorPlan>& plan) SMDEBUG_REQUIRES(mu_);

  // Ends the step if one is open, and begins the one that `next` has reached.
  void BeginLocked(const StepCounter& next) SMDEBUG_REQUIRES(mu_);
  // Ends the step if one is open and hands over what is left of it.
  void EndStepLocked() SMDEBUG_REQUIRES(mu_);
  void SubmitLocked(bool last_of_step) SMDEBUG_REQUIRES(mu_);

  // Whether a tensor of `bytes` may wait for the next step; counted if not.
  bool MayWait(std::string_view name, uint64_t bytes) SMDEBUG_EXCLUDES(mu_);
  void KeepWaiting(WaitingTensor waiting) SMDEBUG_EXCLUDES(mu_);

  // Fills in what is on its way. Where there is no form yet, it may need all.
  static void TakeArriving(const internal::ArrivingTensor& tensor,
                           CapturedTensor& captured);
  void SaveArrivingForNextStep(std::string_view name,
                               const internal::ArrivingTensor& tensor)
      SMDEBUG_EXCLUDES(mu_);

  // Gives the open step what waited for it.
  void TakeWaitingLocked() SMDEBUG_REQUIRES(mu_);
  // Gives the last step, if it is open, what would wait for ever.
  void TakeLeftoversLocked() SMDEBUG_REQUIRES(mu_);
  void AddWaitingLocked(WaitingTensor waiting) SMDEBUG_REQUIRES(mu_);

  // Takes what is so small that to capture it costs less than to take the lock
  // once more. Whether it is settled: added, or nothing to add.
  bool TakeSmallLocked(const TensorView& tensor, const CapturedTensor* twin,
                       CapturedTensor& captured) SMDEBUG_REQUIRES(mu_);

  // Fills in `captured` by `capture`, which tells what it took, and adds it to
  // the open step if that is still `step`. False if it was not added.
  template <typename Capture>
  bool CaptureAndAdd(CapturedTensor& captured, int64_t step,
                     const Capture& capture) SMDEBUG_EXCLUDES(mu_);
  // The same for what was captured already.
  bool AddCaptured(CapturedTensor& captured, int64_t step)
      SMDEBUG_EXCLUDES(mu_);
  void CountOverLocked(std::string_view name, int64_t step)
      SMDEBUG_REQUIRES(mu_);
  // False if there is no room for it.
  bool TryAddLocked(CapturedTensor& captured) SMDEBUG_REQUIRES(mu_);
  void AddLocked(CapturedTensor&& captured, uint64_t held)
      SMDEBUG_REQUIRES(mu_);

  // Gives scalars that were saved without any step steps of their own.
  void NumberScalarsLocked() SMDEBUG_REQUIRES(mu_);

  // Adds `scalar`, which has its stamp, to the batch or to those that wait for
  // their step. False if there is no room for it.
  bool TryAddLocked(CapturedScalar& scalar) SMDEBUG_REQUIRES(mu_);
  bool TryKeepLocked(CapturedScalar& scalar) SMDEBUG_REQUIRES(mu_);
  // Adds those that waited for a step up to the one that has begun, or all.
  void TakeLaterLocked() SMDEBUG_REQUIRES(mu_);
  void TakeAllLaterLocked() SMDEBUG_REQUIRES(mu_);
  void AddFirstLaterLocked(Stamp stamp) SMDEBUG_REQUIRES(mu_);

  HookConfig config_;  // Fixed once the first step began.
  const std::string worker_;
  const RuntimeOptions runtime_;
  const uint64_t fork_generation_;
  std::shared_ptr<Storage> storage_;  // Null if this worker writes nothing.
  std::unique_ptr<run::RunFolder> folder_;  // Likewise.
  Tally tally_;
  FailOpen fail_open_;
  // Room in it may be given back by a shim after the end.
  const std::shared_ptr<BufferPool> shared_pool_;
  BufferPool& pool_ = *shared_pool_;
  Capturer capturer_;
  std::unique_ptr<Writer> writer_;  // Null if this worker writes nothing.
  std::unique_ptr<run::Doorkeeper> doorkeeper_;  // Likewise, and once closed.

  mutable base::Mutex mu_;
  std::unique_ptr<Selector> selector_ SMDEBUG_GUARDED_BY(mu_);
  StepCounter counter_ SMDEBUG_GUARDED_BY(mu_);
  StepHistory history_ SMDEBUG_GUARDED_BY(mu_);
  Stamp begun_ SMDEBUG_GUARDED_BY(mu_);  // Of the last step begun.
  Stamp ended_ SMDEBUG_GUARDED_BY(mu_);  // Of the last step ended.
  bool open_ SMDEBUG_GUARDED_BY(mu_) = false;
  bool closed_ SMDEBUG_GUARDED_BY(mu_) = false;
  Batch batch_ SMDEBUG_GUARDED_BY(mu_);
  // Room for the batch, and some more so that not each tensor asks the pool.
  Reservation credit_ SMDEBUG_GUARDED_BY(mu_);
  RecentTensors recent_ SMDEBUG_GUARDED_BY(mu_);    // Of this step.
  bool submitted_ SMDEBUG_GUARDED_BY(mu_) = false;  // A part of this step.
  bool is_shown_ SMDEBUG_GUARDED_BY(mu_) = false;   // The writer was given any.
  std::vector<WaitingTensor> waiting_ SMDEBUG_GUARDED_BY(mu_);
  uint64_t waiting_bytes_ SMDEBUG_GUARDED_BY(mu_) = 0;
  // Names of what the last step begun got so.
  std::set<std::string, std::less<>> waited_ SMDEBUG_GUARDED_BY(mu_);

  // Scalars of steps that have not begun, by step, and the room that they take.
  std::multimap<int64_t, CapturedScalar> later_ SMDEBUG_GUARDED_BY(mu_);
  Reservation later_room_ SMDEBUG_GUARDED_BY(mu_);

  std::atomic<Due> due_{Due::kNothing};
  std::atomic<uint64_t> stuck_at_{UINT64_MAX};  // The writer's progress then.
  std::atomic<bool> stuck_{false};
};

}  // namespace smdebug::hook
