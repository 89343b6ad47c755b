#pragma once

#include <signal.h>

namespace smdebug::cli {

// While it lives, Ctrl-C and a request to terminate only set a mark, so that
// what was begun can be put in order. One at a time, in one thread.
class InterruptScope {
 public:
  InterruptScope();
  ~InterruptScope();

  InterruptScope(const InterruptScope&) = delete;
  InterruptScope& operator=(const InterruptScope&) = delete;

  // Whether it came since the scope began.
  bool interrupted() const noexcept;

 private:
  struct sigaction before_interrupt_ = {};
  struct sigaction before_terminate_ = {};
};

}  // namespace smdebug::cli
