#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "smdebug/trial.h"
#include "src/cli/json_output.h"
#include "src/cli/open_run.h"
#include "src/cli/terminal.h"
#include "src/cli/value_summary.h"

namespace smdebug::cli {

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
};

// `step` is one of the tensor's in `mode`. Throws Error if `worker` has nothing
// of it there, and FormatError if it is damaged.
TensorReport ReadReport(Trial& trial, const Tensor& tensor, int64_t step,
                        Mode mode, const std::optional<std::string>& worker);

struct ReportOptions {
  int64_t values = 100;  // At most that many, about.
  bool ascii = false;
};

// For people: the facts, a histogram, the values.
std::string ReportText(const TensorReport& report, const ReportOptions& options,
                       const Terminal& terminal);

// The same facts; the values as lists in lists if there are no more than asked
// for.
Json ReportJson(const TensorReport& report, const ReportOptions& options);

}  // namespace smdebug::cli
