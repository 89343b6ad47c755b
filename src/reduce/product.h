#pragma once

#include <cstdint>
#include <span>

#include "src/reduce/kernels.h"
#include "src/reduce/reduce.h"

namespace smdebug::reduce {

// The product of a tensor, put off where it cannot matter.
//
// The geometric mean is never above the arithmetic mean, so the sum of the
// magnitudes of a block bounds its product. The product of a large tensor whose
// magnitudes are below one on average is too small for a double, and the
// bounds alone prove it. Blocks with a low bound are therefore skipped at
// first; needs_all() tells in the end whether they are wanted after all.
//
// Borrows the kernels. One thread at a time.
template <typename T>
class LazyProduct {
 public:
  explicit LazyProduct(const BlockKernels<T>& kernels) : kernels_(kernels) {}

  // Multiplies or skips `block`, whose moments are `m`.
  void Add(std::span<const T> block, const BlockMoments& m) noexcept;

  // Multiplies `block`.
  void Multiply(std::span<const T> block) noexcept;

  // Whether the product, given what else is known of the tensor, takes the
  // blocks that were skipped: a new LazyProduct must Multiply() all of them.
  bool needs_all(const Statistics& statistics) const noexcept;

  // Requires that needs_all() is false. A zero is never negative.
  double Value(const Statistics& statistics) const noexcept;

 private:
  void Multiply(std::span<const T> block, double abs_min) noexcept;

  const BlockKernels<T>& kernels_;
  long double mantissa_ = 1;  // 0.5 <= |mantissa_| < 1, but for the start.
  int64_t exponent_ = 0;
  bool skipped_ = false;
  double skipped_log2_ = 0;  // At least the log2 of all that was skipped.
};

extern template class LazyProduct<float>;
extern template class LazyProduct<double>;

}  // namespace smdebug::reduce
