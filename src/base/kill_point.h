#pragma once

// SMDEBUG_KILL_POINT("name") ends the process by SIGKILL when the environment
// variable SMDEBUG_KILL_AT is "name:n" and this is the n-th time (from 1) that
// the point is reached. Compiled in for the crash tests alone (tests/crash);
// otherwise nothing.
#if defined(SMDEBUG_KILL_POINTS)
namespace smdebug::base {
void ReachKillPoint(const char* name) noexcept;
}  // namespace smdebug::base
#define SMDEBUG_KILL_POINT(name) ::smdebug::base::ReachKillPoint(name)
#else
#define SMDEBUG_KILL_POINT(name) static_cast<void>(0)
#endif
