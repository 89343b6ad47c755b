#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <span>
#include <thread>
#include <vector>

#include "src/base/mutex.h"
#include "src/hook/batch_queue.h"
#include "src/steps/step_sink.h"

namespace smdebug::hook {

// What a sink has reported of sealed steps and the writer's thread has not
// looked at yet. Thread-safe.
class SinkReports final : public steps::SinkListener {
 public:
  // `queue`, whose taker is woken to look, is borrowed and outlives this.
  explicit SinkReports(BatchQueue* queue) : queue_(queue) {}

  // steps::SinkListener.
  void OnProgress() noexcept override { ++progress_; }
  void OnReports(std::span<const steps::StepReport> reports) noexcept override
      SMDEBUG_EXCLUDES(mu_);

  // Grows with every step and every part of one that is stored, or that
  // OnProgress() is called for.
  const std::atomic<uint64_t>& progress() const noexcept { return progress_; }

  // What follows is for the writer's thread.

  // It is this one, which need not be woken by itself.
  void SetTaker() noexcept { taker_ = std::this_thread::get_id(); }

  // Makes room for the reports of `steps` sealed steps.
  void Expect(size_t steps) SMDEBUG_EXCLUDES(mu_);

  // Of sealed steps in their order: why each is lost, or null. Room is made
  // for the rest of `steps`. Costs one load if there is nothing.
  std::vector<std::exception_ptr> Take(size_t steps) SMDEBUG_EXCLUDES(mu_);

  // Waits for something to take.
  void Await() SMDEBUG_EXCLUDES(mu_);

 private:
  BatchQueue* const queue_;
  std::atomic<uint64_t> progress_{0};
  std::atomic<std::thread::id> taker_;
  std::atomic<bool> has_any_{false};  // Whether to look.
  base::Mutex mu_;
  base::CondVar came_;
  std::vector<std::exception_ptr> reports_ SMDEBUG_GUARDED_BY(mu_);
};

}  // namespace smdebug::hook
