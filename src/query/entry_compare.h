#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "smdebug/trial.h"
#include "src/query/tensor_compare.h"

namespace smdebug::query {

struct TensorOfWorker {
  Tensor tensor;
  std::string worker;
};

struct EntryDifference {
  std::string what;  // "value", the name of a reduction, "shape" or "form".
  Comparison comparison = {};
};

// Compares what two workers saved of a tensor at a step of `mode`: the values
// if both have one; else the reductions that both saved, or that one saved and
// the other's value gives; else the shapes. nullopt if nothing differs. "form"
// if they have nothing in common that could be compared. Throws FormatError for
// a damaged value.
std::optional<EntryDifference> CompareEntries(const TensorOfWorker& a,
                                              const TensorOfWorker& b,
                                              int64_t step, Mode mode,
                                              Tolerance tolerance);

}  // namespace smdebug::query
