#pragma once

#include <chrono>
#include <cstdint>

#include "smdebug/rule.h"

namespace smdebug::rules {

// A rule that takes its time over a step, and must not hold up the others: it
// is asked about a step first, and Check() of that step is called once it has
// answered. One thread at a time.
class DeferredRule : public Rule {
 public:
  // Asks about `step`, after Check() of the one before it.
  virtual void Ask(int64_t step) = 0;

  // Whether Check() would not wait, because there is an answer or never will
  // be; waits for it at most so long.
  virtual bool HasAnswered(std::chrono::milliseconds wait) = 0;

  // How long it has not answered.
  virtual double SecondsSinceAsked() const = 0;

  // Nobody waits for the answer any more.
  virtual void GiveUp() noexcept = 0;
};

}  // namespace smdebug::rules
