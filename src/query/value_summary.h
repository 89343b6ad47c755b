#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "smdebug/query.h"
#include "smdebug/tensor.h"
#include "src/query/json.h"

namespace smdebug::query {

// Of a dense tensor of numbers. Pure.
ValueSummary Summarize(const TensorView& tensor);

// Counts the finite values of a dense tensor of numbers in at most `most` bins
// of equal width from summary.min to summary.max, which may be beyond those of
// the tensor, or one per number if they are few whole ones. Empty if there is
// no finite value. Pure.
std::vector<Bin> CountBins(const TensorView& tensor,
                           const ValueSummary& summary, size_t most);

Json ToJson(const ValueSummary& summary);
// A list of `low`, `high`, `count`.
Json ToJson(std::span<const Bin> bins);

}  // namespace smdebug::query
