#pragma once

#include <nanobind/nanobind.h>

#include "smdebug/config.h"

namespace smdebug::python {

// The configuration that `settings` hold, a dict with a key for each member of
// HookConfig. With `complete`, whether users can change collections no more,
// what could never save anything is left out. With a model's `modules`, (name,
// class) of each, and the `names` of its other tensors, patterns may mean
// classes, too. Throws ConfigError.
HookConfig ConfigFrom(const nanobind::dict& settings);

}  // namespace smdebug::python
