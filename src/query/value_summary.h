#pragma once

#include <cstdint>
#include <vector>

#include "smdebug/tensor.h"

namespace smdebug::query {

// What a person wants to know of a tensor's values at one glance. One NaN must
// not hide the rest, so the numbers are of the finite values.
struct ValueSummary {
  int64_t count = 0;
  int64_t zero = 0;
  int64_t nan = 0;
  int64_t pos_inf = 0;
  int64_t neg_inf = 0;
  double min = 0;  // NaN if there is no finite value, as are the next three.
  double max = 0;
  double mean = 0;
  double std = 0;  // Of the population.
  double l2 = 0;

  int64_t finite() const { return count - nan - pos_inf - neg_inf; }
};

// Of a dense tensor of numbers. Pure.
ValueSummary Summarize(const TensorView& tensor);

// Values in [low, high), or also high itself in the last bin. low == high: this
// very number.
struct Bin {
  double low = 0;
  double high = 0;
  int64_t count = 0;
};

// Counts the finite values of a dense tensor of numbers in at most `most` bins
// of equal width, or one per number if they are few whole ones. Empty if there
// is no finite value. Pure.
std::vector<Bin> CountBins(const TensorView& tensor,
                           const ValueSummary& summary, size_t most);

}  // namespace smdebug::query
