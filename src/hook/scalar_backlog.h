#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <vector>

#include "smdebug/hook.h"
#include "src/hook/captured.h"

namespace smdebug::hook {

// Scalars that wait for a step to be sealed, within the limits of
// RuntimeOptions. One thread at a time.
class ScalarBacklog {
 public:
  explicit ScalarBacklog(const RuntimeOptions& runtime)
      : limit_(static_cast<size_t>(runtime.scalar_limit)),
        delay_(runtime.scalar_delay) {}

  std::span<const CapturedScalar> scalars() const noexcept { return scalars_; }
  bool empty() const noexcept { return scalars_.empty(); }
  int64_t size() const noexcept {
    return static_cast<int64_t>(scalars_.size());
  }

  // Whether there are so many of them, or they wait for so long, that a step
  // without tensors is sealed for them.
  bool IsDue() const;

  void Add(std::vector<CapturedScalar>& scalars);
  std::vector<CapturedScalar> Take();
  // Only those of steps after `step`.
  std::vector<CapturedScalar> TakeAfter(int64_t step);

  // Puts those of a step that is lost back, in front of those that came later.
  void PutBack(std::vector<CapturedScalar> scalars);

  // Gives up the oldest, where too many wait. Returns how many.
  int64_t Limit();

 private:
  using Clock = std::chrono::steady_clock;

  const size_t limit_;
  const std::chrono::milliseconds delay_;
  std::vector<CapturedScalar> scalars_;
  uint64_t bytes_ = 0;
  Clock::time_point oldest_;
};

}  // namespace smdebug::hook
