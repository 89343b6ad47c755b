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

// Adds up blocks to everything in Statistics but the product and the medians.
// Totals are long double, so that what fits a double in the end cannot overflow
// on the way.
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

  Statistics Finish() const noexcept;

 private:
  void AddFinite(std::span<const T> block, const BlockMoments& m) noexcept;
  void AddUnusual(std::span<const T> block, const BlockMoments& m) noexcept;
  void AddHuge(std::span<const T> block) noexcept;
  void AddExtremes(const BlockMoments& m) noexcept;
  Deviations DeviationsOf(std::span<const T> block, double sum,
                          double sum_squares, bool abs) const noexcept;

  const BlockKernels<T>& kernels_;
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

extern template class MomentSums<float>;
extern template class MomentSums<double>;

}  // namespace smdebug::reduce
