#pragma once

#include <array>
#include <cstdint>

#include "smdebug/mode.h"

namespace smdebug::hook {

// Where in a job something happened.
struct Stamp {
  int64_t step = -1;  // Over all modes.
  Mode mode = Mode::kGlobal;
  int64_t mode_step = -1;

  friend bool operator==(const Stamp&, const Stamp&) = default;
};

// The step counters of a hook: one over all modes and one per mode. GLOBAL's
// own counter always equals the first. One thread at a time.
class StepCounter {
 public:
  // The mode of the steps to come.
  void SetMode(Mode mode) noexcept { mode_ = mode; }

  // Begins the next step.
  void Advance() noexcept { Begin(step_ + 1, mode_steps_[Index(mode_)] + 1); }

  // Begins step number `step` of the job and of the mode.
  void AdvanceTo(int64_t step) noexcept { Begin(step, step); }

  int64_t step() const noexcept { return step_; }
  Mode mode() const noexcept { return mode_; }
  int64_t mode_step(Mode mode) const noexcept {
    return mode_steps_[Index(mode)];
  }

  Stamp current() const noexcept { return {step_, mode_, mode_step(mode_)}; }

  // What a scalar saved now belongs to: the latest step of the current mode, or
  // the step about to begin if the mode has had none.
  Stamp ForScalar() const noexcept {
    const size_t at = Index(mode_);
    if (mode_steps_[at] < 0) return {step_ + 1, mode_, 0};
    return {last_step_[at], mode_, mode_steps_[at]};
  }

 private:
  static size_t Index(Mode mode) noexcept { return ModeIndex(mode); }

  void Begin(int64_t step, int64_t mode_step) noexcept {
    step_ = step;
    mode_steps_[Index(mode_)] = mode_step;
    last_step_[Index(mode_)] = step;
    mode_steps_[Index(Mode::kGlobal)] = step;
    last_step_[Index(Mode::kGlobal)] = step;
  }

  int64_t step_ = -1;
  Mode mode_ = Mode::kGlobal;
  std::array<int64_t, 4> mode_steps_ = {-1, -1, -1, -1};
  std::array<int64_t, 4> last_step_ = {-1, -1, -1, -1};
};

}  // namespace smdebug::hook
