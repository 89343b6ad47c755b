#pragma once

#include <cstdint>
#include <string>

namespace smdebug::base {

// This machine's name; "localhost" if it has none.
std::string HostName();

// When process `pid` of this machine started, in a unit that only ever grows
// while the machine is up; 0 if there is no such process. A pid and its start
// tell a process from a later one with the same number.
uint64_t ProcessStart(int64_t pid);

}  // namespace smdebug::base
