#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "smdebug/trial.h"
#include "src/trial/found.h"
#include "src/trial/reader.h"

namespace smdebug::query {

// What one worker saved of a tensor at a step that a sweep has moved to. Valid
// until it moves on.
struct SavedEntry {
  trial::Reader& reader;
  const trial::Found& found;

  const std::string& tensor() const { return found.name(); }
  const std::string& worker() const { return found.worker(); }

  // As those of Tensor, but NaN for what only has the name of a reduction, so
  // that it does not hide the rest of the run.
  Value ReadValue() const { return reader.ValueOf(found); }
  double ReadReduction(Reduction reduction) const {
    return reader.ReductionOrNan(found, reduction);
  }
  std::vector<std::pair<Reduction, double>> ReadReductions() const {
    return reader.ReductionsOf(found);
  }
  std::vector<int64_t> ReadShape() const { return reader.ShapeOf(found); }
};

}  // namespace smdebug::query
