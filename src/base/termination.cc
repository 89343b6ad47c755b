#include "smdebug/internal/termination.h"

#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <system_error>
#include <thread>

#include "src/base/blocked_signals.h"

namespace smdebug::base {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

// What a signal handler may look at.
std::atomic<pid_t> owner{0};
std::atomic<int> wake{-1};
struct sigaction next {};  // Set before the handler that reads it.

void PassOn(int number, siginfo_t* info, void* context) {
  if ((next.sa_flags & SA_SIGINFO) != 0) {
    next.sa_sigaction(number, info, context);
  } else if (next.sa_handler != SIG_DFL && next.sa_handler != SIG_IGN) {
    next.sa_handler(number);
  }
}

void OnTermination(int number, siginfo_t* info, void* context) {
  const int error = errno;
  if (getpid() == owner) eventfd_write(wake, 1);
  PassOn(number, info, context);
  errno = error;
}

// Ends the process if nobody heeds a signal in time. It lives as long as the
// process does, and so does its thread.
class Watchman {
 public:
  Watchman() {
    const int fd = eventfd(0, EFD_CLOEXEC);
    if (fd < 0) throw std::system_error(errno, std::generic_category());
    const BlockedSignals blocked;
    std::thread([this, fd] { Watch(fd); }).detach();
    owner = getpid();
    wake = fd;
  }

  void set_grace(milliseconds grace) {
    const std::lock_guard lock(mu_);
    grace_ = grace;
  }

  void Heed() {
    const std::lock_guard lock(mu_);
    ++heeded_;
    changed_.notify_all();
  }

 private:
  void Watch(int fd) {
    eventfd_t signals = 0;
    while (true) {
      const int64_t before = heeded();
      if (eventfd_read(fd, &signals) == 0 && !IsHeeded(before)) End();
    }
  }

  int64_t heeded() {
    const std::lock_guard lock(mu_);
    return heeded_;
  }

  // A handler that was faster than this thread counts, too.
  bool IsHeeded(int64_t before) {
    std::unique_lock lock(mu_);
    return changed_.wait_until(lock, steady_clock::now() + grace_,
                               [&] { return heeded_ > before; });
  }

  static void End() {
    struct sigaction standard {};
    standard.sa_handler = SIG_DFL;
    sigaction(SIGTERM, &standard, nullptr);
    sigset_t term;
    sigemptyset(&term);
    sigaddset(&term, SIGTERM);
    pthread_sigmask(SIG_UNBLOCK, &term, nullptr);
    raise(SIGTERM);
  }

  std::mutex mu_;
  std::condition_variable changed_;
  milliseconds grace_{0};
  int64_t heeded_ = 0;
};

std::mutex installing;
std::atomic<Watchman*> watchman{nullptr};

}  // namespace

void GuardTermination(milliseconds grace) {
  const std::lock_guard lock(installing);
  if (watchman == nullptr || owner != getpid()) {
    try {
      watchman = new Watchman;
    } catch (const std::system_error&) {
      return;  // No thread or descriptor is left: the handler stands alone.
    }
  }
  watchman.load()->set_grace(grace);
  struct sigaction now {};
  if (sigaction(SIGTERM, nullptr, &now) != 0) return;
  if ((now.sa_flags & SA_SIGINFO) != 0 && now.sa_sigaction == OnTermination) {
    return;
  }
  next = now;
  struct sigaction guarded = now;
  guarded.sa_flags |= SA_SIGINFO;
  guarded.sa_sigaction = OnTermination;
  sigaction(SIGTERM, &guarded, nullptr);
}

void HeedTermination() noexcept {
  Watchman* const there = watchman;
  if (there != nullptr && owner == getpid()) there->Heed();
}

}  // namespace smdebug::base
