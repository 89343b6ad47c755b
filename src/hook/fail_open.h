#pragma once

#include <exception>
#include <string_view>

#include "src/base/mutex.h"
#include "src/hook/tally.h"

namespace smdebug::hook {

// What a hook does with what goes wrong once it is made: nothing of it is
// thrown into training. It is counted, and told once for each kind. A strict
// hook throws it as well: at once if it was thrown in a call of the training,
// else from the next such call.
//
// Thread-safe. `tally` is borrowed and outlives this.
class FailOpen {
 public:
  FailOpen(bool strict, Tally* tally) : strict_(strict), tally_(tally) {}

  // Runs `body`, a call of the training.
  template <typename Body>
  void Run(std::string_view kind, const Body& body) {
    try {
      body();
    } catch (const std::exception& error) {
      tally_->AddError(kind, error.what());
      if (strict_) throw;
    }
    if (strict_) ThrowKept();
  }

  // Takes in an error that no call of the training can throw, by default the
  // one now being handled.
  void Keep(std::string_view kind,
            const std::exception_ptr& error = std::current_exception())
      SMDEBUG_EXCLUDES(mu_);

  // Takes in that a shim failed in `name`, a tensor or a part of its own, and
  // goes on without. True if the hook is strict: the shim throws what it has
  // caught, and nothing is counted.
  bool LeaveOut(std::string_view name, std::string_view reason);

 private:
  void ThrowKept() SMDEBUG_EXCLUDES(mu_);

  const bool strict_;
  Tally* const tally_;
  base::Mutex mu_;
  // The first that was kept since the last was thrown.
  std::exception_ptr kept_ SMDEBUG_GUARDED_BY(mu_);
};

}  // namespace smdebug::hook
