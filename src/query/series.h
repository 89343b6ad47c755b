#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "smdebug/trial.h"
#include "src/query/json.h"

namespace smdebug::query {

// A number at each of some steps, which rise.
struct Series {
  std::vector<int64_t> steps;
  std::vector<double> values;
};

struct SeriesQuery {
  std::string tensor = {};  // Or "<tensor>:<reduction>".
  std::optional<Reduction> reduction = {};
  Mode mode = Mode::kGlobal;
  std::optional<std::string> worker = {};
};

// One number of a tensor at each of its steps.
struct TensorSeries {
  std::string tensor;
  std::optional<Reduction> reduction = {};  // Unset: the one element itself.
  std::optional<std::string> worker = {};
  Mode mode = Mode::kGlobal;
  Series series = {};
};

// The elements of a tensor of one element, unless a reduction is asked for;
// else the reduction, by default the mean, saved or computed from the value.
// Steps at which there is nothing of the kind are left out. Throws Error if
// nothing is left, or for a tensor of strings.
TensorSeries ReadSeries(Trial& trial, const SeriesQuery& query);

// As `smdebug plot --json` has it (docs/reference/cli.md).
Json ToJson(const TensorSeries& series);

// "fc.weight:abs_mean" taken apart, unless the run has a tensor of that name or
// the end is no reduction.
struct ReducedName {
  std::string tensor;
  std::optional<Reduction> reduction;
};
ReducedName SplitReduced(Trial& trial, const std::string& name);

}  // namespace smdebug::query
