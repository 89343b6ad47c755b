#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "src/base/fd.h"

namespace smdebug::base {

// A process that is known by more than its number, which may be given again.
struct ProcessId {
  pid_t pid = 0;
  uint64_t start = 0;  // ProcessStart(pid)

  friend bool operator==(const ProcessId&, const ProcessId&) = default;
};

// A hold on a living process, by which it can be signalled and awaited and
// never mistaken. One thread at a time.
class Process {
 public:
  // nullopt if it has ended, or its number is another's now. Throws
  // std::system_error if the system has no such holds (Linux before 5.3).
  static std::optional<Process> Open(const ProcessId& id);

  const ProcessId& id() const noexcept { return id_; }

  // Whether the signal reached a process; throws std::system_error if it is not
  // allowed to be sent.
  bool Signal(int signal) const;

  // Waits until it has ended, and tells whether it has.
  bool WaitUntil(std::chrono::steady_clock::time_point deadline) const;

  // Readable once it has ended.
  int fd() const noexcept { return fd_.get(); }

 private:
  Process(const ProcessId& id, Fd fd) : id_(id), fd_(std::move(fd)) {}

  ProcessId id_;
  Fd fd_;
};

// The living process with this number now.
std::optional<ProcessId> FindProcess(pid_t pid);

// The living processes of a group.
std::vector<ProcessId> GroupMembers(pid_t group);

// When a process began, in seconds since the epoch; exact to about a second.
double StartedAt(const ProcessId& id);

// How processes ended.
struct Ended {
  int asked = 0;   // By SIGTERM, or by themselves.
  int killed = 0;  // By SIGKILL.
};

// Ends the processes that `list` gives, which is asked again for those that
// came meanwhile: SIGTERM, `grace`, SIGKILL. Throws std::system_error if one
// may not be signalled or does not end.
Ended EndProcesses(const std::function<std::vector<ProcessId>()>& list,
                   std::chrono::milliseconds grace);

}  // namespace smdebug::base
