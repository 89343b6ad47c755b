#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "smdebug/trial.h"
#include "src/query/json.h"
#include "src/query/open_run.h"
#include "src/query/value_summary.h"

namespace smdebug::query {

// Everything saved of one tensor at one step by one worker.
struct TensorReport {
  std::string tensor;
  StepId step;
  std::string worker;
  int64_t workers = 1;  // Who saved something of it at the step.
  std::optional<Value> value = {};
  std::optional<ValueSummary> summary = {};  // Of a value of numbers.
  std::vector<std::pair<Reduction, double>> reductions = {};
  std::optional<ValueCounts> counts = {};
  std::optional<std::vector<int64_t>> shape = {};

  // Where the run tells.
  std::optional<DType> dtype() const;
};

// Bins of the histogram of a value.
inline constexpr size_t kReportBins = 16;

// `step` is one of the tensor's in `mode`. Throws Error if `worker` has nothing
// of it there, and FormatError if it is damaged.
TensorReport ReadReport(Trial& trial, const Tensor& tensor, int64_t step,
                        Mode mode, const std::optional<std::string>& worker);

// The same facts, as `smdebug show --json` has them (docs/reference/cli.md);
// the values as lists in lists if there are no more than `most_values`.
Json ToJson(const TensorReport& report, int64_t most_values);

}  // namespace smdebug::query
