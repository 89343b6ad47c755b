#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "smdebug/trial.h"
#include "src/query/json.h"
#include "src/query/tensor_compare.h"

namespace smdebug::query {

struct CompareOptions {
  Tolerance tolerance = {};
  std::vector<std::string> regexes = {};
  Mode mode = Mode::kGlobal;
  size_t limit = 10;  // How many of the largest differences to keep.
};

// What differs of one tensor at one step of one worker.
struct RunDifference {
  int64_t step = 0;  // Of the mode.
  std::string tensor;
  std::string worker;
  std::string what;  // "value", the name of a reduction, "shape" or "form".
  Comparison comparison;
};

// How two runs compare. "A" and "B" are the first and the second.
struct RunComparison {
  std::vector<int64_t> steps_only_a;
  std::vector<int64_t> steps_only_b;
  std::vector<std::string> tensors_only_a;
  std::vector<std::string> tensors_only_b;
  // Saved in one only, though both have the step and the tensor.
  int64_t entries_only_a = 0;
  int64_t entries_only_b = 0;

  int64_t compared = 0;           // Tensors at a step of a worker.
  int64_t damaged = 0;            // Not compared: one cannot be read.
  int64_t different = 0;          // Of those compared.
  int64_t tensors_different = 0;  // By name.
  std::optional<RunDifference> first;
  std::vector<RunDifference> largest;  // The largest first.

  // Whether everything could be compared and nothing differs.
  bool equal() const;
  // Whether something differs, of what could be compared.
  bool differ() const;
};

// Compares what both runs saved, by step and name: values where both have them,
// else the reductions that both have or that can be had from a value, else
// shapes. Calls `started` once with the number of steps to come, and `done`
// after each. What is damaged is left out and counted; the trials list it.
RunComparison CompareRuns(Trial& a, Trial& b, const CompareOptions& options,
                          const std::function<void(uint64_t)>& started,
                          const std::function<void()>& done);

// The same facts, whole (docs/reference/cli.md, `smdebug diff --json`).
Json ToJson(const RunComparison& result);

}  // namespace smdebug::query
