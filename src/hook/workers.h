#pragma once

#include <span>

#include "smdebug/hook.h"

namespace smdebug::hook {

// Throws ConfigError for a worker that cannot be one.
void Check(const Worker& worker);

// The same for all workers that one process is.
void Check(std::span<const Worker> workers);

}  // namespace smdebug::hook
