#pragma once

#include <chrono>
#include <memory>
#include <string_view>

#include "smdebug/internal/arriving.h"
#include "src/hook/batch_queue.h"
#include "src/hook/captured.h"
#include "src/hook/fail_open.h"
#include "src/hook/sink_reports.h"
#include "src/hook/tally.h"

namespace smdebug::hook {

// Waits, on the writer's thread, for what devices were told to copy.
//
// One thread at a time. What is borrowed outlives this.
class Arrivals {
 public:
  // Nothing is waited for longer than `patience`. What comes is progress.
  Arrivals(std::chrono::milliseconds patience, SinkReports* progress,
           Tally* tally, FailOpen* fail_open)
      : patience_(patience),
        progress_(progress),
        tally_(tally),
        fail_open_(fail_open) {}

  // Returns when all of `batch` is there, and tensors that were reduced by
  // their devices have their digests. What does not come is taken out of the
  // batch and counted as lost.
  void Await(Batch& batch);

 private:
  // Whether what `name` waits for is there; if not, that is told once.
  bool IsThere(const std::shared_ptr<internal::Arrival>& arrival,
               std::string_view name);
  bool Settle(internal::Arrival& arrival, std::string_view name);

  const std::chrono::milliseconds patience_;
  SinkReports* const progress_;
  Tally* const tally_;
  FailOpen* const fail_open_;
  // Tensors that come together share one.
  std::shared_ptr<internal::Arrival> last_;
  bool last_is_there_ = true;
  // Something has not come in time: until something does, nobody waits.
  bool is_overdue_ = false;
};

}  // namespace smdebug::hook
