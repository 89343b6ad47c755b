#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "smdebug/reduction.h"
#include "smdebug/tensor.h"

namespace smdebug::reduce {

// Everything one pass over a tensor tells. Sums accumulate in double; NaN
// propagates as in NumPy. Complex elements count by their magnitude, bool as 0
// and 1.
struct Statistics {
  int64_t count = 0;
  int64_t nan = 0;
  int64_t pos_inf = 0;
  int64_t neg_inf = 0;
  int64_t zero = 0;

  double min = 0;  // NaN for an empty tensor, as are max, abs_min, abs_max.
  double max = 0;
  double abs_min = 0;
  double abs_max = 0;
  double sum = 0;
  double abs_sum = 0;         // Also the l1 norm.
  double sum_squares = 0;     // Of x; l2 is its root.
  double deviations = 0;      // Sum of (x - mean)^2, without cancellation.
  double abs_deviations = 0;  // Sum of (|x| - mean |x|)^2.
  double prod = 1;    // Neither overflows nor underflows on the way; never -0.
  double median = 0;  // Set where asked for; mean of the two middle values
  double abs_median = 0;  // for an even count; NaN if any element is NaN.

  // The value of `reduction`, which must have been asked for if it is a median
  // or a product.
  double Value(Reduction reduction, Spread spread) const noexcept;
};

// What costs extra and is computed on demand.
struct Wanted {
  bool prod = false;
  bool median = false;
  bool abs_median = false;

  static Wanted For(std::span<const Reduction> reductions) noexcept;

  friend bool operator==(const Wanted&, const Wanted&) = default;
};

// Whether Reduce() takes tensors of `dtype`: all but kString.
bool IsReducible(DType dtype) noexcept;

// Statistics of `tensor`, dense or strided, of any size. One pass over its
// memory; medians take a second and, rarely, so does a product. Allocates only
// for medians and for strided tensors, and then no more than a small part of
// the tensor's own size at a time. Pure; picks its CPU target once per call,
// and gives the same bits for the same input on the same target. Throws Error
// unless IsReducible().
Statistics Reduce(const TensorView& tensor, Wanted wanted);

}  // namespace smdebug::reduce
