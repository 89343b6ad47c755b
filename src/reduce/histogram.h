#pragma once

#include <cstdint>
#include <vector>

#include "smdebug/tensor.h"

namespace smdebug::reduce {

// A histogram in TensorBoard's fixed buckets: edges grow by 10 % from 1e-12 to
// 1e20 on both sides of zero.
//
// `limits` and `counts` have equal length; counts[i] is the number of values in
// [limits[i-1], limits[i]). limits[0] is the left edge of the first value's
// bucket and counts[0] is 0. Runs of empty buckets are merged into one. Both
// are empty if no value falls into any bucket.
struct Histogram {
  double min = 0;  // Over the finite values, as are max, sum, sum_squares.
  double max = 0;
  int64_t num = 0;  // Finite values.
  double sum = 0;
  double sum_squares = 0;
  std::vector<double> limits;
  std::vector<double> counts;

  int64_t nan = 0;  // Left out of all of the above.
  int64_t pos_inf = 0;
  int64_t neg_inf = 0;
};

// Of any dtype but kString. Finite values beyond the last edge are counted in
// the outermost bucket. Complex elements count by their magnitude.
Histogram MakeHistogram(const TensorView& tensor);

}  // namespace smdebug::reduce
