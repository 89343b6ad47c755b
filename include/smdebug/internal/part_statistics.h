#pragma once

namespace smdebug::internal {

// What some of the elements of a tensor were reduced to, elsewhere than in the
// core: by the device that has them. How many there are is told beside it.
//
// Only the counts mean anything where a NaN was counted, and only they and the
// extremes where an infinity was. What nobody asks for may be anything.
struct PartStatistics {
  double nan;
  double pos_inf;
  double neg_inf;
  double zero;
  double min;
  double max;
  double abs_min;
  double sum;
  double abs_sum;
  double sum_squares;     // Of x.
  double deviations;      // Sum of (x - mean)^2.
  double abs_deviations;  // Sum of (|x| - mean |x|)^2.
};

}  // namespace smdebug::internal
