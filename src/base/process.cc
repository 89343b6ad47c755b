#include "src/base/process.h"

#include <dirent.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <memory>
#include <system_error>

#include <fmt/format.h>

#include "src/base/clock.h"
#include "src/base/host.h"
#include "src/base/text.h"

namespace smdebug::base {
namespace {

using std::chrono::steady_clock;

[[noreturn]] void Throw(int code, const std::string& what) {
  throw std::system_error(code, std::generic_category(), what);
}

double BootedAt() {
  std::ifstream file("/proc/stat");
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("btime ")) continue;
    return static_cast<double>(ParseInt(line.substr(6)).value_or(0));
  }
  return 0;
}

// Whether all have ended at the deadline.
bool WaitForAll(const std::vector<Process>& processes,
                steady_clock::time_point deadline) {
  return std::ranges::all_of(processes, [&](const Process& process) {
    return process.WaitUntil(deadline);
  });
}

}  // namespace

std::optional<Process> Process::Open(const ProcessId& id) {
  Fd fd(static_cast<int>(syscall(SYS_pidfd_open, id.pid, 0)));
  if (!fd.valid()) {
    if (errno == ESRCH) return std::nullopt;
    Throw(errno, fmt::format("cannot get hold of process {}", id.pid));
  }
  Process process(id, std::move(fd));
  // The hold is on whoever has the number now, who may be another.
  if (ProcessStart(id.pid) != id.start ||
      process.WaitUntil(steady_clock::now())) {
    return std::nullopt;
  }
  return process;
}

bool Process::Signal(int signal) const {
  if (syscall(SYS_pidfd_send_signal, fd_.get(), signal, nullptr, 0) == 0)
    return true;
  if (errno == ESRCH) return false;
  Throw(errno,
        fmt::format("cannot send signal {} to process {}", signal, id_.pid));
}

bool Process::WaitUntil(steady_clock::time_point deadline) const {
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(
        deadline - steady_clock::now());
    constexpr int64_t kLongest = 60'000;
    pollfd end{.fd = fd_.get(), .events = POLLIN, .revents = 0};
    const int ready =
        poll(&end, 1,
             static_cast<int>(std::clamp<int64_t>(left.count(), 0, kLongest)));
    if (ready > 0) return true;
    if (ready < 0 && errno != EINTR) {
      Throw(errno, fmt::format("cannot wait for process {}", id_.pid));
    }
    if (steady_clock::now() >= deadline) return false;
  }
}

std::optional<ProcessId> FindProcess(pid_t pid) {
  const auto status = FindProcessStatus(pid);
  if (!status || status->HasEnded()) return std::nullopt;
  return ProcessId{.pid = pid, .start = status->start};
}

std::vector<ProcessId> GroupMembers(pid_t group) {
  std::vector<ProcessId> members;
  const std::unique_ptr<DIR, int (*)(DIR*)> proc(opendir("/proc"), closedir);
  if (proc == nullptr) return members;
  // NOLINTNEXTLINE(concurrency-mt-unsafe): the stream is this call's own.
  while (const dirent* entry = readdir(proc.get())) {
    const auto pid = ParseInt(entry->d_name);
    if (!pid) continue;
    const auto status = FindProcessStatus(*pid);
    if (!status || status->group != group || status->HasEnded()) continue;
    members.push_back(
        {.pid = static_cast<pid_t>(*pid), .start = status->start});
  }
  return members;
}

double StartedAt(const ProcessId& id) {
  const auto ticks = static_cast<double>(sysconf(_SC_CLK_TCK));
  return BootedAt() + static_cast<double>(id.start) / ticks;
}

Ended EndProcesses(const std::function<std::vector<ProcessId>()>& list,
                   std::chrono::milliseconds grace) {
  std::vector<Process> processes;
  // Opens those that are not held yet.
  const auto open_new = [&] {
    for (const ProcessId& id : list()) {
      if (std::ranges::any_of(processes, [&](const Process& known) {
            return known.id() == id;
          })) {
        continue;
      }
      if (auto process = Process::Open(id)) {
        processes.push_back(*std::move(process));
      }
    }
  };

  open_new();
  for (const Process& process : processes) process.Signal(SIGTERM);
  const auto grace_end = DeadlineAfter(grace);
  WaitForAll(processes, grace_end);

  constexpr std::chrono::seconds kKillTime(10);
  const auto kill_end = DeadlineAfter(kKillTime);
  Ended ended;
  for (;;) {
    open_new();
    std::erase_if(processes, [&](const Process& process) {
      const bool gone = process.WaitUntil(steady_clock::now());
      if (gone) ++ended.asked;
      return gone;
    });
    if (processes.empty()) return ended;
    for (const Process& process : processes) {
      if (process.Signal(SIGKILL)) ++ended.killed;
    }
    if (!WaitForAll(processes, kill_end) || steady_clock::now() >= kill_end) {
      Throw(ETIMEDOUT, fmt::format("process {} has not ended after SIGKILL",
                                   processes.front().id().pid));
    }
    processes.clear();
  }
}

}  // namespace smdebug::base
