#pragma once

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <optional>
#include <stdexcept>

namespace smdebug::actions {

// A process that waits to be ended, and is when the object is.
class Child {
 public:
  enum class OnTerm { kEnd, kIgnore };

  // In the group of this process, in its own (0), or in another's.
  explicit Child(OnTerm on_term = OnTerm::kEnd,
                 std::optional<pid_t> group = std::nullopt) {
    std::array<int, 2> ready{};
    if (pipe(ready.data()) != 0) throw std::runtime_error("pipe");
    pid_ = fork();
    if (pid_ < 0) throw std::runtime_error("fork");
    if (pid_ == 0) {
      if (group) setpgid(0, *group);
      signal(SIGTERM, on_term == OnTerm::kIgnore ? SIG_IGN : SIG_DFL);
      if (write(ready[1], "", 1) != 1) _exit(1);
      for (;;) pause();
    }
    char byte = 0;
    const bool is_ready = read(ready[0], &byte, 1) == 1;
    close(ready[0]);
    close(ready[1]);
    if (!is_ready) throw std::runtime_error("read");
  }

  ~Child() {
    if (!reaped_) {
      kill(pid_, SIGKILL);
      waitpid(pid_, nullptr, 0);
    }
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  pid_t pid() const noexcept { return pid_; }

  bool IsAlive() const {
    siginfo_t info{};
    waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT);
    return info.si_pid == 0;
  }

  // The signal that it ended by; 0 if it did not.
  int EndedBy() {
    int status = 0;
    waitpid(pid_, &status, 0);
    reaped_ = true;
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  }

 private:
  pid_t pid_ = 0;
  bool reaped_ = false;
};

}  // namespace smdebug::actions
