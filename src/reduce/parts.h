#pragma once

#include <cstdint>

#include "smdebug/internal/part_statistics.h"
#include "src/reduce/moment_sums.h"
#include "src/reduce/reduce.h"

namespace smdebug::reduce {

// Joins what the parts of a tensor were reduced to elsewhere to what Reduce()
// gives for all of it, to the rounding of those sums; without product and
// medians.
//
// One thread at a time.
class PartSums {
 public:
  // Of `count` elements, at least one.
  void Add(const internal::PartStatistics& part, int64_t count) noexcept;

  Statistics Finish() const noexcept { return totals_.Finish(); }

 private:
  MomentTotals totals_;
};

}  // namespace smdebug::reduce
