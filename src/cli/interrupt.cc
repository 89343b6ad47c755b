#include "src/cli/interrupt.h"

#include <atomic>

namespace smdebug::cli {
namespace {

std::atomic<bool> interrupted_now = false;
static_assert(std::atomic<bool>::is_always_lock_free);

extern "C" void NoteInterrupt(int /*signal*/) { interrupted_now = true; }

}  // namespace

InterruptScope::InterruptScope() {
  interrupted_now = false;
  struct sigaction action = {};
  action.sa_handler = NoteInterrupt;
  // Not restarted: a call that waits returns at once.
  sigaction(SIGINT, &action, &before_interrupt_);
  sigaction(SIGTERM, &action, &before_terminate_);
}

InterruptScope::~InterruptScope() {
  sigaction(SIGINT, &before_interrupt_, nullptr);
  sigaction(SIGTERM, &before_terminate_, nullptr);
}

bool InterruptScope::interrupted() const noexcept { return interrupted_now; }

}  // namespace smdebug::cli
