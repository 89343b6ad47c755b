#include "src/hook/sink_reports.h"

namespace smdebug::hook {

void SinkReports::OnReports(
    std::span<const steps::StepReport> reports) noexcept {
  ++progress_;
  // With the last report the writer may be destroyed, so that nothing of it is
  // touched once the lock is let go.
  const base::MutexLock lock(mu_);
  for (const steps::StepReport& report : reports) {
    reports_.push_back(report.error);  // There is room.
  }
  has_any_ = true;
  came_.notify_all();
  // The thread itself looks as soon as the step is finished.
  if (std::this_thread::get_id() != taker_.load()) queue_->Wake();
}

void SinkReports::Expect(size_t steps) {
  const base::MutexLock lock(mu_);
  reports_.reserve(steps);
}

std::vector<std::exception_ptr> SinkReports::Take(size_t steps) {
  std::vector<std::exception_ptr> taken;
  if (!has_any_.exchange(false)) return taken;
  const base::MutexLock lock(mu_);
  taken.swap(reports_);
  reports_.reserve(steps);
  return taken;
}

void SinkReports::Await() {
  const base::MutexLock lock(mu_);
  came_.wait(mu_, [&] {
    mu_.AssertHeld();
    return !reports_.empty();
  });
}

}  // namespace smdebug::hook
