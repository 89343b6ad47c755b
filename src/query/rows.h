#pragma once

#include "smdebug/query.h"
#include "src/query/json.h"

namespace smdebug::query {

// `step`, `mode`, `mode_step`, `worker`, `tensor`, `value` (null without) and
// `reductions` by name.
Json ToJson(const Row& row);

}  // namespace smdebug::query
