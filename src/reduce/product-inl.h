// Per-target kernel: the product of a block, mantissa and exponent apart.
#if defined(SMDEBUG_REDUCE_PRODUCT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SMDEBUG_REDUCE_PRODUCT_INL_H_
#undef SMDEBUG_REDUCE_PRODUCT_INL_H_
#else
#define SMDEBUG_REDUCE_PRODUCT_INL_H_
#endif

#include <bit>

#include "hwy/highway.h"
#include "src/reduce/kernels.h"
#include "src/reduce/moments-inl.h"

HWY_BEFORE_NAMESPACE();
namespace smdebug::reduce::HWY_NAMESPACE {

inline constexpr uint64_t kExponentBits = 0x7FF0000000000000;
inline constexpr uint64_t kOneBits = 0x3FF0000000000000;
inline constexpr int kMantissaWidth = 52;
inline constexpr int64_t kExponentBias = 1023;

using Exponents = hn::Vec<hn::RebindToUnsigned<Doubles>>;

// Moves the exponent of each lane of `v`, with its bias, into `exponents`, and
// leaves 1 <= |v| < 2 whatever `v` was: a zero or an infinity keeps its sign.
inline hn::Vec<Doubles> TakeExponent(hn::Vec<Doubles> v, Exponents& exponents) {
  const Doubles d;
  const hn::RebindToUnsigned<Doubles> du;
  const auto mask = hn::Set(du, kExponentBits);
  const auto bits = hn::BitCast(du, v);
  exponents =
      hn::Add(exponents, hn::ShiftRight<kMantissaWidth>(hn::And(bits, mask)));
  return hn::BitCast(d, hn::Or(hn::AndNot(mask, bits), hn::Set(du, kOneBits)));
}

inline void TakeExponent(ScaledProduct& product) {
  const auto bits = std::bit_cast<uint64_t>(product.mantissa);
  product.exponent +=
      static_cast<int64_t>((bits & kExponentBits) >> kMantissaWidth) -
      kExponentBias;
  product.mantissa = std::bit_cast<double>((bits & ~kExponentBits) | kOneBits);
}

// Factors of a product in the form in which it can take kFactors of them before
// it must give its exponent away.
template <typename T>
struct Factors;

// Floats lie within 2^-149 and 2^128: six of them times a mantissa stay inside
// of double's range.
template <>
struct Factors<float> {
  static constexpr size_t kFactors = 6;
  static constexpr bool kTaken = false;
  static hn::Vec<Doubles> Load(const float* x, Exponents& /*exponents*/) {
    return LoadDoubles(Doubles(), x);
  }
};

// Doubles give their own exponents away; of mantissas it may be many.
template <>
struct Factors<double> {
  static constexpr size_t kFactors = 16;
  static constexpr bool kTaken = true;
  static hn::Vec<Doubles> Load(const double* x, Exponents& exponents) {
    return TakeExponent(LoadDoubles(Doubles(), x), exponents);
  }
};

template <typename T>
ScaledProduct Product(const T* x, size_t count) {
  using F = Factors<T>;
  const Doubles d;
  const hn::RebindToUnsigned<Doubles> du;
  const size_t lanes = hn::Lanes(d);
  auto product0 = hn::Set(d, 1.0);
  auto product1 = product0;
  auto product2 = product0;
  auto product3 = product0;
  Exponents exponents = hn::Zero(du);
  size_t taken = 0;  // Vectors added to `exponents`, each with its bias.
  size_t i = 0;
  while (i + 4 * F::kFactors * lanes <= count) {
    for (size_t j = 0; j < F::kFactors; ++j, i += 4 * lanes) {
      const T* at = x + i;
      product0 = hn::Mul(product0, F::Load(at, exponents));
      product1 = hn::Mul(product1, F::Load(at + lanes, exponents));
      product2 = hn::Mul(product2, F::Load(at + 2 * lanes, exponents));
      product3 = hn::Mul(product3, F::Load(at + 3 * lanes, exponents));
    }
    product0 = TakeExponent(product0, exponents);
    product1 = TakeExponent(product1, exponents);
    product2 = TakeExponent(product2, exponents);
    product3 = TakeExponent(product3, exponents);
    taken += 4 + (F::kTaken ? 4 * F::kFactors : 0);
  }
  for (; i + lanes <= count; i += lanes) {
    product0 = hn::Mul(product0, F::Load(x + i, exponents));
    product0 = TakeExponent(product0, exponents);
    taken += 1 + (F::kTaken ? 1 : 0);
  }
  // Four mantissas multiply up to less than 16.
  const auto product =
      hn::Mul(hn::Mul(product0, product1), hn::Mul(product2, product3));

  HWY_ALIGN double mantissas[hn::MaxLanes(Doubles())];
  hn::Store(product, d, mantissas);
  const uint64_t sum = hn::GetLane(hn::SumOfLanes(du, exponents));
  ScaledProduct result = {
      1.0, static_cast<int64_t>(sum) -
               kExponentBias * static_cast<int64_t>(taken * lanes)};
  for (size_t lane = 0; lane < lanes; ++lane) {
    result.mantissa *= mantissas[lane];
    TakeExponent(result);
  }
  for (; i < count; ++i) {
    ScaledProduct factor = {static_cast<double>(x[i]), 0};
    TakeExponent(factor);
    result.mantissa *= factor.mantissa;
    result.exponent += factor.exponent;
    TakeExponent(result);
  }
  return result;
}

}  // namespace smdebug::reduce::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // SMDEBUG_REDUCE_PRODUCT_INL_H_
