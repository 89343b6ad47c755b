#pragma once

#include <cstdint>

namespace smdebug::base {

// How many fork() calls lie between the start of the program and this process.
// A change tells an object that it is now a copy in a child. Costs one load.
uint64_t ForkGeneration() noexcept;

}  // namespace smdebug::base
