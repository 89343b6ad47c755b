#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include <hwy/targets.h>

#include "smdebug/tensor.h"

// Elements of every dtype, made and read without any of the code under test.
namespace smdebug::reduce::testing {

// All types but kString.
inline constexpr auto kReducible = [] {
  std::array<DType, kElementTypes.size() - 1> dtypes{};
  size_t count = 0;
  for (const ElementType& type : kElementTypes) {
    if (type.kind != ElementKind::kText) dtypes[count++] = type.dtype;
  }
  return dtypes;
}();

// Runs `body` once on every CPU target of this machine.
template <class Body>
void OnEveryTarget(const Body& body) {
  for (const int64_t target : hwy::SupportedAndGeneratedTargets()) {
    hwy::SetSupportedTargetsForTest(target);
    body(std::string(hwy::TargetName(target)));
  }
  hwy::SetSupportedTargetsForTest(0);
}

// The value of a small float: `mantissa` bits below `exponent` bits below the
// sign. The largest exponent is special if `ieee`; otherwise only all ones are
// NaN.
inline double DecodeFloat(uint32_t bits, int exponent, int mantissa,
                          bool ieee) {
  const int bias = (1 << (exponent - 1)) - 1;
  const int e = static_cast<int>(bits >> mantissa) & ((1 << exponent) - 1);
  const int m = static_cast<int>(bits) & ((1 << mantissa) - 1);
  const bool top = e == (1 << exponent) - 1;
  const double sign = (bits >> (exponent + mantissa)) & 1 ? -1 : 1;
  if (ieee && top && m == 0) return sign * HUGE_VAL;
  if (top && (ieee || m == (1 << mantissa) - 1)) return NAN;
  const double value =
      e == 0 ? std::ldexp(m, 1 - bias - mantissa)
             : std::ldexp(m + (1 << mantissa), e - bias - mantissa);
  return sign * value;
}

template <typename T>
T ReadAs(const std::byte* element) {
  T value;
  std::memcpy(&value, element, sizeof(T));
  return value;
}

template <typename T>
double MagnitudeAt(const std::byte* element) {
  const auto z = ReadAs<std::complex<T>>(element);
  if (std::isinf(z.real()) || std::isinf(z.imag())) return HUGE_VAL;
  const long double re = z.real();
  const long double im = z.imag();
  return static_cast<double>(std::sqrt(re * re + im * im));
}

// The element as a reduction sees it.
inline double Decode(DType dtype, const std::byte* element) {
  switch (dtype) {
    case DType::kFloat32:
      return ReadAs<float>(element);
    case DType::kFloat64:
      return ReadAs<double>(element);
    case DType::kInt32:
      return ReadAs<int32_t>(element);
    case DType::kUint8:
      return ReadAs<uint8_t>(element);
    case DType::kInt16:
      return ReadAs<int16_t>(element);
    case DType::kInt8:
      return ReadAs<int8_t>(element);
    case DType::kComplex64:
      return MagnitudeAt<float>(element);
    case DType::kInt64:
      return static_cast<double>(ReadAs<int64_t>(element));
    case DType::kBool:
      return ReadAs<uint8_t>(element) != 0 ? 1 : 0;
    case DType::kBfloat16:
      return DecodeFloat(ReadAs<uint16_t>(element), 8, 7, true);
    case DType::kUint16:
      return ReadAs<uint16_t>(element);
    case DType::kComplex128:
      return MagnitudeAt<double>(element);
    case DType::kFloat16:
      return DecodeFloat(ReadAs<uint16_t>(element), 5, 10, true);
    case DType::kUint32:
      return ReadAs<uint32_t>(element);
    case DType::kUint64:
      return static_cast<double>(ReadAs<uint64_t>(element));
    case DType::kFloat8E5M2:
      return DecodeFloat(ReadAs<uint8_t>(element), 5, 2, true);
    case DType::kFloat8E4M3FN:
      return DecodeFloat(ReadAs<uint8_t>(element), 4, 3, false);
    case DType::kString:
      break;
  }
  return NAN;
}

// What random elements are made of.
enum class Mix {
  kPlain,     // Finite, of the order of one for floats; any integer.
  kWide,      // Any finite bits, subnormal numbers included.
  kZeros,     // Plain, and zeros of both signs, and subnormal numbers.
  kInfinite,  // Plain, and a few infinities of both signs.
  kNan,       // All of the above, and NaN.
};

// A dense tensor of rank 1 with its values as doubles. Its first element lies
// `offset` elements after a multiple of 64 bytes.
class Elements {
 public:
  Elements(DType dtype, size_t count, Mix mix, uint64_t seed, size_t offset = 0)
      : dtype_(dtype),
        shape_{static_cast<int64_t>(count)},
        bytes_((count + offset) * ItemSize(dtype) + kAlignment) {
    std::mt19937_64 random(seed);
    const auto address = reinterpret_cast<uintptr_t>(bytes_.data());
    first_ = (kAlignment - address % kAlignment) % kAlignment +
             offset * ItemSize(dtype);
    for (size_t i = 0; i < count; ++i) {
      Make(mix, random, i);
      values_.push_back(Decode(dtype, At(i)));
    }
  }

  Elements(const Elements&) = delete;
  Elements& operator=(const Elements&) = delete;

  TensorView view() const { return {At(0), dtype_, shape_, {}}; }
  const std::vector<double>& values() const { return values_; }

 private:
  static constexpr size_t kAlignment = 64;

  const std::byte* At(size_t index) const {
    return bytes_.data() + first_ + index * ItemSize(dtype_);
  }

  template <typename T>
  void Put(size_t index, T value, size_t part = 0) {
    std::memcpy(
        bytes_.data() + first_ + index * ItemSize(dtype_) + part * sizeof(T),
        &value, sizeof(T));
  }

  void Make(Mix mix, std::mt19937_64& random, size_t index) {
    switch (dtype_) {
      case DType::kFloat32:
        return Put(index, AnyFloat<uint32_t>(mix, random, 8, 23, true));
      case DType::kFloat64:
        return Put(index, AnyFloat<uint64_t>(mix, random, 11, 52, true));
      case DType::kFloat16:
        return Put(index, AnyFloat<uint16_t>(mix, random, 5, 10, true));
      case DType::kBfloat16:
        return Put(index, AnyFloat<uint16_t>(mix, random, 8, 7, true));
      case DType::kFloat8E5M2:
        return Put(index, AnyFloat<uint8_t>(mix, random, 5, 2, true));
      case DType::kFloat8E4M3FN:
        return Put(index, AnyFloat<uint8_t>(mix, random, 4, 3, false));
      case DType::kComplex64:
        Put(index, AnyFloat<uint32_t>(mix, random, 8, 23, true), 0);
        return Put(index, AnyFloat<uint32_t>(mix, random, 8, 23, true), 1);
      case DType::kComplex128:
        Put(index, AnyFloat<uint64_t>(mix, random, 11, 52, true), 0);
        return Put(index, AnyFloat<uint64_t>(mix, random, 11, 52, true), 1);
      default: {
        const bool zero = mix == Mix::kZeros && random() % 3 == 0;
        const uint64_t bits = zero ? 0 : random();
        std::memcpy(bytes_.data() + first_ + index * ItemSize(dtype_), &bits,
                    ItemSize(dtype_));
      }
    }
  }

  // The bits of a float of the given format.
  template <typename Bits>
  static Bits AnyFloat(Mix mix, std::mt19937_64& random, int exponent,
                       int mantissa, bool ieee) {
    const uint64_t sign = (random() & 1) << (exponent + mantissa);
    const uint64_t bias = (uint64_t{1} << (exponent - 1)) - 1;
    const uint64_t top = ((uint64_t{1} << exponent) - 1) << mantissa;
    const uint64_t fraction = random() & ((uint64_t{1} << mantissa) - 1);
    const uint64_t plain =
        sign | ((bias - 2 + random() % 4) << mantissa) | fraction;
    const uint64_t dice = random() % 16;
    uint64_t bits = plain;
    const bool mixed = mix == Mix::kNan;
    if (mix == Mix::kWide) {
      bits = sign | (random() % (top >> mantissa) << mantissa) | fraction;
    } else if ((mix == Mix::kZeros || mixed) && dice < 4) {
      bits = dice == 0 ? (sign | fraction) : sign;
    } else if ((mix == Mix::kInfinite || mixed) && dice == 5 && ieee) {
      bits = sign | top;
    } else if (mixed && dice == 6) {
      bits = sign | top | ((uint64_t{1} << mantissa) - 1);
    }
    return static_cast<Bits>(bits);
  }

  DType dtype_;
  std::array<int64_t, 1> shape_;
  std::vector<std::byte> bytes_;
  size_t first_ = 0;
  std::vector<double> values_;
};

// A dense view of rank 1 that keeps its shape.
template <typename T>
struct Dense {
  explicit Dense(std::span<const T> values)
      : shape{static_cast<int64_t>(values.size())},
        view{values.data(), internal::DTypeOf<T>(), shape, {}} {}
  Dense(const Dense&) = delete;
  Dense& operator=(const Dense&) = delete;

  std::array<int64_t, 1> shape;
  TensorView view;
};

}  // namespace smdebug::reduce::testing
