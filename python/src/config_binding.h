#pragma once

#include <nanobind/nanobind.h>

#include "smdebug/config.h"

namespace smdebug::python {

// The configuration that `settings` hold, a dict with a key for each member of
// HookConfig. Throws ConfigError.
HookConfig ConfigFrom(const nanobind::dict& settings);

}  // namespace smdebug::python
