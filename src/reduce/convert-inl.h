// Per-target kernels: from any element type to float or double.
#if defined(SMDEBUG_REDUCE_CONVERT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SMDEBUG_REDUCE_CONVERT_INL_H_
#undef SMDEBUG_REDUCE_CONVERT_INL_H_
#else
#define SMDEBUG_REDUCE_CONVERT_INL_H_
#endif

#include <bit>
#include <cmath>
#include <complex>

#include "hwy/highway.h"
#include "src/reduce/kernels.h"

HWY_BEFORE_NAMESPACE();
namespace smdebug::reduce::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// A float of fewer bits: sign, exponent and mantissa, in this order, in the
// unsigned integer U. kBias is that of its exponent. A magnitude of kSpecial
// or above is no finite number.
template <typename U, int kMantissa, int kBias, uint32_t kSpecial>
struct SmallFloat {
  using Bits = U;
  static constexpr int kSignShift = 8 * static_cast<int>(sizeof(U)) - 1;
  static constexpr int kShift = 23 - kMantissa;
  static constexpr uint32_t kLastFinite = kSpecial - 1;

  // Shifted into place, the bits are those of a float that is too small by
  // this factor, subnormal numbers included.
  static constexpr float kScale =
      std::bit_cast<float>(static_cast<uint32_t>(127 + 127 - kBias) << 23);
};

using Float16 = SmallFloat<uint16_t, 10, 15, 0x7C00>;
using Float8E5M2 = SmallFloat<uint8_t, 2, 15, 0x7C>;
using Float8E4M3FN = SmallFloat<uint8_t, 3, 7, 0x7F>;  // Has no infinity.

template <class F, class D, class V>
HWY_INLINE hn::Vec<D> FromSmallFloat(D d, V bits) {
  const hn::RebindToUnsigned<D> du;
  const auto sign = hn::ShiftLeft<31>(hn::ShiftRight<F::kSignShift>(bits));
  const auto magnitude = hn::And(bits, hn::Set(du, (1u << F::kSignShift) - 1));
  const auto scaled =
      hn::Mul(hn::BitCast(d, hn::ShiftLeft<F::kShift>(magnitude)),
              hn::Set(d, F::kScale));
  // The exponent of all ones makes an infinity of a mantissa of zero, and a
  // NaN of any other. That of Float8E4M3FN's NaN is not zero.
  const auto is_special = hn::Gt(magnitude, hn::Set(du, F::kLastFinite));
  const auto special =
      hn::IfThenElseZero(is_special, hn::Set(du, uint32_t{0x7F800000}));
  return hn::BitCast(d, hn::Or(hn::BitCast(du, scaled), hn::Or(special, sign)));
}

// Applies `convert` to vectors of From, widened to 32 bits, and stores floats.
template <typename From, class Convert>
void ToFloats(const void* from, size_t count, float* to,
              const Convert& convert) {
  const hn::ScalableTag<float> d;
  using Wide = std::conditional_t<std::is_signed_v<From>, int32_t, uint32_t>;
  const hn::Rebind<Wide, decltype(d)> dw;
  const hn::Rebind<From, decltype(d)> dn;
  const auto* x = static_cast<const From*>(from);
  size_t i = 0;
  for (; i + hn::Lanes(d) <= count; i += hn::Lanes(d)) {
    const auto wide = hn::PromoteTo(dw, hn::LoadU(dn, x + i));
    hn::StoreU(convert(d, wide), d, to + i);
  }
  if (i == count) return;
  HWY_ALIGN From rest[hn::MaxLanes(hn::ScalableTag<float>())] = {};
  HWY_ALIGN float floats[hn::MaxLanes(hn::ScalableTag<float>())];
  std::copy(x + i, x + count, rest);
  const auto wide = hn::PromoteTo(dw, hn::LoadU(dn, rest));
  hn::Store(convert(d, wide), d, floats);
  std::copy(floats, floats + (count - i), to + i);
}

template <class F>
void SmallFloatsToFloat(const void* from, size_t count, float* to) {
  ToFloats<typename F::Bits>(from, count, to, [](auto d, auto bits) {
    return FromSmallFloat<F>(d, bits);
  });
}

template <typename From>
void IntegersToFloat(const void* from, size_t count, float* to) {
  ToFloats<From>(from, count, to, [](auto d, auto wide) {
    const hn::RebindToSigned<decltype(d)> di;
    return hn::ConvertTo(d, hn::BitCast(di, wide));
  });
}

inline void BoolsToFloat(const void* from, size_t count, float* to) {
  ToFloats<uint8_t>(from, count, to, [](auto d, auto wide) {
    const hn::RebindToSigned<decltype(d)> di;
    const auto one =
        hn::Min(wide, hn::Set(hn::RebindToUnsigned<decltype(d)>(), 1u));
    return hn::ConvertTo(d, hn::BitCast(di, one));
  });
}

inline void Bfloat16ToFloat(const void* from, size_t count, float* to) {
  ToFloats<uint16_t>(from, count, to, [](auto d, auto wide) {
    return hn::BitCast(d, hn::ShiftLeft<16>(wide));
  });
}

inline void ConvertToFloat(const void* from, DType dtype, size_t count,
                           float* to) {
  switch (dtype) {
    case DType::kFloat16:
      return SmallFloatsToFloat<Float16>(from, count, to);
    case DType::kFloat8E5M2:
      return SmallFloatsToFloat<Float8E5M2>(from, count, to);
    case DType::kFloat8E4M3FN:
      return SmallFloatsToFloat<Float8E4M3FN>(from, count, to);
    case DType::kBfloat16:
      return Bfloat16ToFloat(from, count, to);
    case DType::kInt8:
      return IntegersToFloat<int8_t>(from, count, to);
    case DType::kUint8:
      return IntegersToFloat<uint8_t>(from, count, to);
    case DType::kInt16:
      return IntegersToFloat<int16_t>(from, count, to);
    case DType::kUint16:
      return IntegersToFloat<uint16_t>(from, count, to);
    case DType::kBool:
      return BoolsToFloat(from, count, to);
    case DType::kFloat32:  // Is what is asked for.
    case DType::kFloat64:  // And those that ConvertToDouble() takes, or nobody.
    case DType::kInt32:
    case DType::kUint32:
    case DType::kInt64:
    case DType::kUint64:
    case DType::kComplex64:
    case DType::kComplex128:
    case DType::kString:
      return;
  }
}

template <typename From>
void NumbersToDouble(const void* from, size_t count, double* to) {
  const auto* x = static_cast<const From*>(from);
  for (size_t i = 0; i < count; ++i) to[i] = static_cast<double>(x[i]);
}

inline double Magnitude(std::complex<float> z) {
  // Neither overflows nor underflows in double.
  const double re = z.real();
  const double im = z.imag();
  if (std::isinf(re) || std::isinf(im)) return HUGE_VAL;
  return std::sqrt(re * re + im * im);
}

inline double Magnitude(std::complex<double> z) {
  const double square = z.real() * z.real() + z.imag() * z.imag();
  constexpr double kLeast = 0x1p-900;
  constexpr double kMost = 0x1p1000;
  if (square > kLeast && square < kMost) return std::sqrt(square);
  return std::hypot(z.real(), z.imag());
}

template <typename Complex>
void MagnitudesToDouble(const void* from, size_t count, double* to) {
  const auto* x = static_cast<const Complex*>(from);
  for (size_t i = 0; i < count; ++i) to[i] = Magnitude(x[i]);
}

inline void ConvertToDouble(const void* from, DType dtype, size_t count,
                            double* to) {
  switch (dtype) {
    case DType::kInt32:
      return NumbersToDouble<int32_t>(from, count, to);
    case DType::kUint32:
      return NumbersToDouble<uint32_t>(from, count, to);
    case DType::kInt64:
      return NumbersToDouble<int64_t>(from, count, to);
    case DType::kUint64:
      return NumbersToDouble<uint64_t>(from, count, to);
    case DType::kComplex64:
      return MagnitudesToDouble<std::complex<float>>(from, count, to);
    case DType::kComplex128:
      return MagnitudesToDouble<std::complex<double>>(from, count, to);
    default:
      return;
  }
}

}  // namespace smdebug::reduce::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // SMDEBUG_REDUCE_CONVERT_INL_H_
