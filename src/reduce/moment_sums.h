#pragma once

#include <cstdint>
#include <span>

#include "src/reduce/kernels.h"
#include "src/reduce/reduce.h"

namespace smdebug::reduce {

// Mean and sum of squared deviations from it, joined block by block (Chan,
// Golub and LeVeque), which cancels nothing.
struct Deviations {
  int64_t count = 0;
  long double mean = 0;
  long double sum_squares = 0;

  void Join(const Deviations& other) noexcept;
};

// Everything in Statistics but the product and the medians, joined of parts of
// a tensor. Totals are long double, so that what fits a double in the end
// cannot overflow on the way.
//
// One thread at a time.
class MomentTotals {
 public:
  // Of each part, in any order but for the last call. With a NaN in the tensor
  // nothing but the counts is ever asked for; with an infinity, nothing but the
  // counts and the extremes.
  void Add(const Specials& specials) noexcept;
  void AddExtremes(double min, double max, double abs_min) noexcept;
  void AddSums(long double sum, long double abs_sum, long double sum_squares,
               const Deviations& plain, const Deviations& abs) noexcept;
  // Last: how many elements the part has.
  void AddCount(int64_t count) noexcept { count_ += count; }

  Statistics Finish() const noexcept;

 private:
  int64_t count_ = 0;
  Specials specials_;
  double min_ = 0;  // Unset while count_ is 0, as are the next two.
  double max_ = 0;
  double abs_min_ = 0;
  long double sum_ = 0;
  long double abs_sum_ = 0;
  long double sum_squares_ = 0;
  Deviations plain_;
  Deviations abs_;
};

// Adds up blocks to MomentTotals.
//
// Borrows the kernels. One thread at a time.
template <typename T>
class MomentSums {
 public:
  explicit MomentSums(const BlockKernels<T>& kernels) : kernels_(kernels) {}

  // Returns the moments of `block`, which is not empty.
  BlockMoments Add(std::span<const T> block) noexcept;

  // As above, where the moments are known already.
  void Add(std::span<const T> block, const BlockMoments& m) noexcept;

  Statistics Finish() const noexcept { return totals_.Finish(); }

 private:
  void AddFinite(std::span<const T> block, const BlockMoments& m) noexcept;
  void AddUnusual(std::span<const T> block, const BlockMoments& m) noexcept;
  void AddHuge(std::span<const T> block) noexcept;
  Deviations DeviationsOf(std::span<const T> block, double sum,
                          double sum_squares, bool abs) const noexcept;

  const BlockKernels<T>& kernels_;
  MomentTotals totals_;
};

extern template class MomentSums<float>;
extern template class MomentSums<double>;

}  // namespace smdebug::reduce
