// Per-target kernel: where the elements of a block lie against two values.
#if defined(SMDEBUG_REDUCE_CUT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SMDEBUG_REDUCE_CUT_INL_H_
#undef SMDEBUG_REDUCE_CUT_INL_H_
#else
#define SMDEBUG_REDUCE_CUT_INL_H_
#endif

#include <bit>
#include <cmath>
#include <type_traits>

#include "hwy/highway.h"
#include "src/reduce/kernels.h"

HWY_BEFORE_NAMESPACE();
namespace smdebug::reduce::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// The lanes of `mask`, the first in the lowest bit.
template <class D, class M>
HWY_INLINE uint64_t BitsOf(D d, M mask) {
  // As narrow as it can be, so that what was stored is read back quickly;
  // vectors of SVE have up to 64 lanes.
  constexpr size_t kMost = hn::MaxLanes(D());
  static_assert(kMost <= 64);
  using Wide = std::conditional_t<(kMost > 16), uint64_t, uint16_t>;
  std::conditional_t<(kMost > 8), Wide, uint8_t> bits = 0;
  hn::StoreMaskBits(d, mask, reinterpret_cast<uint8_t*>(&bits));
  return bits;
}

// Few elements lie in between, so they are noted as one bit each and picked up
// once per 64: a loop that is short, and wrongly predicted once.
template <typename T>
Cut CutBlock(const T* x, size_t count, T low, T high, bool abs, T* between) {
  constexpr size_t kGroup = 64;
  const hn::ScalableTag<T> d;
  const hn::RebindToSigned<decltype(d)> di;
  const auto lows = hn::Set(d, low);
  const auto highs = hn::Set(d, high);
  const auto signs = abs ? hn::SignBit(d) : hn::Zero(d);
  auto below = hn::Zero(di);  // These count downwards: a true lane is -1.
  auto at_low = below;
  auto at_high = below;
  T* out = between;
  size_t i = 0;
  for (; i + kGroup <= count; i += kGroup) {
    uint64_t inside = 0;
    for (size_t j = 0; j < kGroup; j += hn::Lanes(d)) {
      const auto v = hn::AndNot(signs, hn::LoadU(d, x + i + j));
      const auto lt_low = hn::VecFromMask(d, hn::Lt(v, lows));
      const auto eq_low = hn::VecFromMask(d, hn::Eq(v, lows));
      const auto eq_high = hn::VecFromMask(d, hn::Eq(v, highs));
      below = hn::Add(below, hn::BitCast(di, lt_low));
      at_low = hn::Add(at_low, hn::BitCast(di, eq_low));
      at_high = hn::Add(at_high, hn::BitCast(di, eq_high));
      inside |= BitsOf(d, hn::And(hn::Gt(v, lows), hn::Lt(v, highs))) << j;
    }
    for (; inside != 0; inside &= inside - 1) {
      const T v = x[i + static_cast<size_t>(std::countr_zero(inside))];
      *out++ = abs ? std::abs(v) : v;
    }
  }
  Cut cut = {-int64_t{hn::GetLane(hn::SumOfLanes(di, below))},
             -int64_t{hn::GetLane(hn::SumOfLanes(di, at_low))}, 0,
             -int64_t{hn::GetLane(hn::SumOfLanes(di, at_high))}};
  for (; i < count; ++i) {
    const T v = abs ? std::abs(x[i]) : x[i];
    cut.below += v < low ? 1 : 0;
    cut.equal_low += v == low ? 1 : 0;
    cut.equal_high += v == high ? 1 : 0;
    if (v > low && v < high) *out++ = v;
  }
  cut.between = out - between;
  if (low == high) cut.equal_high = 0;
  return cut;
}

}  // namespace smdebug::reduce::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // SMDEBUG_REDUCE_CUT_INL_H_
