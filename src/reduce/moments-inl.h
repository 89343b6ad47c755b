// Per-target kernels: what every element of a block goes through once, and the
// second look at what is rare. Included once per CPU target, without a guard
// that would last.
#if defined(SMDEBUG_REDUCE_MOMENTS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SMDEBUG_REDUCE_MOMENTS_INL_H_
#undef SMDEBUG_REDUCE_MOMENTS_INL_H_
#else
#define SMDEBUG_REDUCE_MOMENTS_INL_H_
#endif

#include <algorithm>
#include <cmath>
#include <limits>

#include "hwy/highway.h"
#include "src/reduce/kernels.h"

HWY_BEFORE_NAMESPACE();
namespace smdebug::reduce::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Doubles = hn::ScalableTag<double>;

// As many elements of T, read as doubles, as a vector of doubles holds.
inline hn::Vec<Doubles> LoadDoubles(Doubles d, const double* x) {
  return hn::LoadU(d, x);
}
inline hn::Vec<Doubles> LoadDoubles(Doubles d, const float* x) {
  return hn::PromoteTo(d, hn::LoadU(hn::Rebind<float, Doubles>(), x));
}

// a + b, on the multiplication ports where they can add: the addition ports
// are the narrow place of Moments().
inline hn::Vec<Doubles> AddByMultiplier(hn::Vec<Doubles> a,
                                        hn::Vec<Doubles> b) {
#if HWY_TARGET <= HWY_AVX2
  return hn::MulAdd(b, hn::Set(Doubles(), 1.0), a);
#else
  return hn::Add(a, b);
#endif
}

inline double SumOf(hn::Vec<Doubles> a, hn::Vec<Doubles> b) {
  const Doubles d;
  return hn::GetLane(hn::SumOfLanes(d, hn::Add(a, b)));
}

template <typename T>
BlockMoments Moments(const T* x, size_t count) {
  const Doubles dd;
  const hn::ScalableTag<T> dt;
  const size_t lanes = hn::Lanes(dd);
  const size_t step = 2 * lanes;
  auto min = hn::Set(dt, std::numeric_limits<T>::infinity());
  auto max = hn::Neg(min);
  auto abs_min = min;
  auto sum0 = hn::Zero(dd);
  auto sum1 = sum0;
  auto abs_sum0 = sum0;
  auto abs_sum1 = sum0;
  auto squares0 = sum0;
  auto squares1 = sum0;
  size_t i = 0;
  for (; i + step <= count; i += step) {
    for (size_t j = 0; j < step; j += hn::Lanes(dt)) {
      const auto v = hn::LoadU(dt, x + i + j);
      min = hn::Min(min, v);
      max = hn::Max(max, v);
      abs_min = hn::Min(abs_min, hn::Abs(v));
    }
    const auto d0 = LoadDoubles(dd, x + i);
    const auto d1 = LoadDoubles(dd, x + i + lanes);
    sum0 = AddByMultiplier(sum0, d0);
    sum1 = AddByMultiplier(sum1, d1);
    abs_sum0 = hn::Add(abs_sum0, hn::Abs(d0));
    abs_sum1 = hn::Add(abs_sum1, hn::Abs(d1));
    squares0 = hn::MulAdd(d0, d0, squares0);
    squares1 = hn::MulAdd(d1, d1, squares1);
  }
  BlockMoments m = {hn::GetLane(hn::MinOfLanes(dt, min)),
                    hn::GetLane(hn::MaxOfLanes(dt, max)),
                    hn::GetLane(hn::MinOfLanes(dt, abs_min)),
                    SumOf(sum0, sum1),
                    SumOf(abs_sum0, abs_sum1),
                    SumOf(squares0, squares1)};
  for (; i < count; ++i) {
    const double v = x[i];
    m.min = std::min(m.min, v);
    m.max = std::max(m.max, v);
    m.abs_min = std::min(m.abs_min, std::abs(v));
    m.sum += v;
    m.abs_sum += std::abs(v);
    m.sum_squares += v * v;
  }
  return m;
}

template <typename T>
Residuals ResidualsOf(const T* x, size_t count, double shift, bool abs) {
  const Doubles d;
  const size_t lanes = hn::Lanes(d);
  const auto center = hn::Set(d, shift);
  // Clears the sign bit of |x|, nothing of x.
  const auto signs = abs ? hn::SignBit(d) : hn::Zero(d);
  auto sum0 = hn::Zero(d);
  auto sum1 = sum0;
  auto squares0 = sum0;
  auto squares1 = sum0;
  size_t i = 0;
  for (; i + 2 * lanes <= count; i += 2 * lanes) {
    const auto v0 = hn::AndNot(signs, LoadDoubles(d, x + i));
    const auto v1 = hn::AndNot(signs, LoadDoubles(d, x + i + lanes));
    const auto r0 = hn::Sub(v0, center);
    const auto r1 = hn::Sub(v1, center);
    sum0 = hn::Add(sum0, r0);
    sum1 = hn::Add(sum1, r1);
    squares0 = hn::MulAdd(r0, r0, squares0);
    squares1 = hn::MulAdd(r1, r1, squares1);
  }
  Residuals result = {SumOf(sum0, sum1), SumOf(squares0, squares1)};
  for (; i < count; ++i) {
    const double v = x[i];
    const double r = (abs ? std::abs(v) : v) - shift;
    result.sum += r;
    result.sum_squares += r * r;
  }
  return result;
}

template <typename T>
int64_t CountZeros(const T* x, size_t count) {
  const hn::ScalableTag<T> d;
  const hn::RebindToSigned<decltype(d)> di;
  auto zeros = hn::Zero(di);  // Counts downwards: a true lane is -1.
  size_t i = 0;
  for (; i + hn::Lanes(d) <= count; i += hn::Lanes(d)) {
    const auto is_zero = hn::Eq(hn::LoadU(d, x + i), hn::Zero(d));
    zeros = hn::Add(zeros, hn::BitCast(di, hn::VecFromMask(d, is_zero)));
  }
  int64_t result = -int64_t{hn::GetLane(hn::SumOfLanes(di, zeros))};
  for (; i < count; ++i) result += x[i] == 0 ? 1 : 0;
  return result;
}

template <typename T>
Specials CountSpecials(const T* x, size_t count) {
  const hn::ScalableTag<T> d;
  const auto inf = hn::Set(d, std::numeric_limits<T>::infinity());
  Specials result;
  size_t i = 0;
  for (; i + hn::Lanes(d) <= count; i += hn::Lanes(d)) {
    const auto v = hn::LoadU(d, x + i);
    const auto add = [d](auto mask, int64_t& total) {
      total += static_cast<int64_t>(hn::CountTrue(d, mask));
    };
    // Highway 0.16, that of Ubuntu 22.04, has no IsNaN.
    add(hn::Not(hn::Eq(v, v)), result.nan);
    add(hn::Eq(v, inf), result.pos_inf);
    add(hn::Eq(v, hn::Neg(inf)), result.neg_inf);
    add(hn::Eq(v, hn::Zero(d)), result.zero);
  }
  for (; i < count; ++i) {
    if (std::isnan(x[i])) {
      ++result.nan;
    } else if (std::isinf(x[i])) {
      ++(x[i] > 0 ? result.pos_inf : result.neg_inf);
    } else if (x[i] == 0) {
      ++result.zero;
    }
  }
  return result;
}

}  // namespace smdebug::reduce::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // SMDEBUG_REDUCE_MOMENTS_INL_H_
