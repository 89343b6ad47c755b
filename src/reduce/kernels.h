#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "smdebug/tensor.h"

// The loops that touch every element, compiled once per CPU target. They see
// one block at a time: few enough elements that a second look at the block, for
// what is rare, finds it in the first-level cache.
//
// Every kernel is pure, takes any alignment of its element type, and allocates
// nothing. docs/design/simd.md tells how they fit together.
namespace smdebug::reduce {

// Elements per block: 16 KiB, half of a common first-level data cache.
template <typename T>
inline constexpr size_t kBlock = 16384 / sizeof(T);

// Meaningless if the block holds a NaN; sum_squares is finite only if every
// element is.
struct BlockMoments {
  double min;
  double max;
  double abs_min;
  double sum;
  double abs_sum;
  double sum_squares;
};

// Sums of (x - shift) and its square.
struct Residuals {
  double sum;
  double sum_squares;
};

struct Specials {
  int64_t nan = 0;
  int64_t pos_inf = 0;
  int64_t neg_inf = 0;
  int64_t zero = 0;
};

// mantissa * 2^exponent, with 1 <= |mantissa| < 2.
struct ScaledProduct {
  double mantissa;
  int64_t exponent;
};

// Where the elements lie against two values low <= high.
struct Cut {
  int64_t below = 0;       // x < low
  int64_t equal_low = 0;   // x == low
  int64_t between = 0;     // low < x < high
  int64_t equal_high = 0;  // x == high, and 0 if low == high.
};

// Kernels over blocks of T, float or double, that are not empty.
template <typename T>
struct BlockKernels {
  BlockMoments (*moments)(const T* x, size_t count);

  // Of x, or of |x|. Every element is finite.
  Residuals (*residuals)(const T* x, size_t count, double shift, bool abs);

  int64_t (*zeros)(const T* x, size_t count);
  Specials (*specials)(const T* x, size_t count);

  // The sign is right for any block. The rest is right if every element is
  // finite, not zero and, for double, not subnormal.
  ScaledProduct (*product)(const T* x, size_t count);

  // Cuts x, or |x|, and stores the values in between in their order. `between`
  // has room for `count` values. There is no NaN.
  Cut (*cut)(const T* x, size_t count, T low, T high, bool abs, T* between);
};

struct Kernels {
  BlockKernels<float> f32;
  BlockKernels<double> f64;

  // Converts `count` elements of `dtype`, aligned for it. float takes the types
  // that it holds exactly, double the wider ones; see ComputesInFloat().
  void (*to_float)(const void* from, DType dtype, size_t count, float* to);
  void (*to_double)(const void* from, DType dtype, size_t count, double* to);
};

template <typename T>
const BlockKernels<T>& For(const Kernels& kernels) noexcept;
template <>
inline const BlockKernels<float>& For(const Kernels& kernels) noexcept {
  return kernels.f32;
}
template <>
inline const BlockKernels<double>& For(const Kernels& kernels) noexcept {
  return kernels.f64;
}

// The kernels of the best target that this CPU supports. Never ends its life.
const Kernels& BestKernels() noexcept;

// The targets that the kernels were compiled for and this CPU supports, the one
// in use first, such as "AVX2".
std::vector<std::string> UsableTargets();

// Whether a tensor of `dtype` is reduced in blocks of float rather than double.
bool ComputesInFloat(DType dtype) noexcept;

}  // namespace smdebug::reduce
