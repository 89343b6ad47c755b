#pragma once

#include <optional>
#include <string>

#include "src/query/saved_entry.h"
#include "src/query/tensor_compare.h"

namespace smdebug::query {

struct EntryDifference {
  std::string what;  // "value", the name of a reduction, "shape" or "form".
  Comparison comparison = {};
};

// Compares what two workers saved of a tensor at a step: the values if both
// have one; else the reductions that both saved, or that one saved and the
// other's value gives; else the shapes. nullopt if nothing differs. "form" if
// they have nothing in common that could be compared. Throws FormatError for a
// damaged value.
std::optional<EntryDifference> CompareEntries(const SavedEntry& a,
                                              const SavedEntry& b,
                                              Tolerance tolerance);

}  // namespace smdebug::query
