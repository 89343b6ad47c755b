#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace smdebug::base {

// This machine's name; "localhost" if it has none.
std::string HostName();

// Tells this machine, since it was started, and this table of processes (a
// container has its own) from all others: where it is the same, a process id
// means the same process. Empty if the system does not tell.
std::string MachineId();

// When this machine was started, in seconds since the epoch; 0 if the system
// does not tell.
double BootSeconds();

// What the system tells of a process.
struct ProcessStatus {
  char state = 'X';
  int64_t parent = 0;
  int64_t group = 0;
  // In a unit that only ever grows while the machine is up. A pid and its start
  // tell a process from a later one with the same number.
  uint64_t start = 0;

  bool HasEnded() const noexcept { return state == 'Z' || state == 'X'; }
};

// Of process `pid` of this machine; nullopt if there is none.
std::optional<ProcessStatus> FindProcessStatus(int64_t pid);

// When process `pid` started; 0 if there is none.
uint64_t ProcessStart(int64_t pid);

}  // namespace smdebug::base
