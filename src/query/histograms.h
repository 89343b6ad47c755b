#pragma once

#include "smdebug/query.h"
#include "src/query/json.h"

namespace smdebug::query {

// `tensor`, `mode`, `worker` (null if not asked for) and `steps`, a list of
// `step`, `from` ("value" or "reductions"), `statistics` and `bins`.
Json ToJson(const TensorHistograms& histograms);

}  // namespace smdebug::query
