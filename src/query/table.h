#pragma once

#include "smdebug/query.h"
#include "src/query/json.h"

namespace smdebug::query {

// Lists of equal length: `step`, `mode`, `mode_step`, `worker`, `tensor` and
// `value`; and `reductions`, such lists by name. NaN where there is no number.
Json ToJson(const Table& table);

}  // namespace smdebug::query
