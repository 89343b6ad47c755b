#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "smdebug/query.h"
#include "src/query/json.h"

namespace smdebug::query {

// As `smdebug plot --json` has it (docs/reference/cli.md).
Json ToJson(const TensorSeries& series);

// The same, with `buckets` of the series in place of its points.
Json ToJson(const TensorSeries& series, std::span<const SeriesBucket> buckets);

// "fc.weight:abs_mean" taken apart, unless the run has a tensor of that name.
// Throws Error, naming the reductions, if the end is none and the rest is a
// tensor.
struct ReducedName {
  std::string tensor;
  std::optional<Reduction> reduction;
};
ReducedName SplitReduced(Trial& trial, const std::string& name);

// At most `most` of `steps`, evenly spread, the first and the last among them
// (the last alone if it is one); all of them for 0.
std::vector<int64_t> SpreadEvenly(const std::vector<int64_t>& steps,
                                  size_t most);

}  // namespace smdebug::query
