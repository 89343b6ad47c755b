#pragma once

#include <chrono>

namespace smdebug::base {

// Ends the process by SIGTERM if a handler of it that waits for its turn, as
// those of Python do, does not call HeedTermination() within `grace`: of a
// program that is stuck in a library the signal would never be heard.
//
// Stands before the handler that is installed now; whoever installs another one
// takes it off. Does nothing where it stands already; a forked child that wants
// it calls this itself. Thread-safe.
void GuardTermination(std::chrono::milliseconds grace);

// The handler has its turn. Thread-safe.
void HeedTermination() noexcept;

}  // namespace smdebug::base
