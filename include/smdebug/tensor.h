#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>

namespace smdebug {

// Element types, in the numbering of the event format (TensorFlow's DataType).
enum class DType : uint8_t {
  kFloat32 = 1,
  kFloat64 = 2,
  kInt32 = 3,
  kUint8 = 4,
  kInt16 = 5,
  kInt8 = 6,
  kString = 7,  // Written with the type left out, as smdebug 1.0 does.
  kComplex64 = 8,
  kInt64 = 9,
  kBool = 10,
  kBfloat16 = 14,
  kUint16 = 17,
  kComplex128 = 18,
  kFloat16 = 19,
  kUint32 = 22,
  kUint64 = 23,
  kFloat8E5M2 = 24,
  kFloat8E4M3FN = 25,
};

// Bytes per element; 0 for kString.
size_t ItemSize(DType dtype) noexcept;

// NumPy's (or ml_dtypes') name: "float32", "bfloat16", "float8_e4m3fn", "str".
std::string_view DTypeName(DType dtype) noexcept;

// The inverse of DTypeName; nullopt for any other text.
std::optional<DType> ParseDType(std::string_view name) noexcept;

namespace internal {
template <typename T>
constexpr DType DTypeOf();
}  // namespace internal

// A tensor in memory that its framework owns.
//
// `data` points at the element with all indices 0. `strides` count elements,
// may be zero or negative, and are empty for a dense C-order tensor. A view of
// kString points at std::string_view objects and has rank 1.
//
// A view borrows everything it points at, and is valid for the call it is
// passed to.
struct TensorView {
  const void* data = nullptr;
  DType dtype = DType::kFloat32;
  std::span<const int64_t> shape = {};
  std::span<const int64_t> strides = {};

  // Number of elements: the product of `shape`, 1 for rank 0. The largest
  // number there is for a product beyond it, 0 with a negative axis.
  int64_t size() const noexcept;

  // size() * ItemSize(dtype), at most the largest number; the sum of the
  // lengths for kString.
  uint64_t byte_size() const noexcept;

  // Whether the elements lie in C order without gaps.
  bool dense() const noexcept;
};

// A dense view over `values`, shaped `shape`, whose product must be
// values.size(). T is one of the C++ arithmetic types, bool,
// std::complex<float>, std::complex<double> or std::string_view.
template <typename T>
TensorView ViewOf(std::span<const T> values, std::span<const int64_t> shape) {
  return {values.data(), internal::DTypeOf<T>(), shape, {}};
}

namespace internal {
template <typename T>
inline constexpr bool kAlwaysFalse = false;

template <typename T>
constexpr DType DTypeOf() {
  if constexpr (std::is_same_v<T, float>) {
    return DType::kFloat32;
  } else if constexpr (std::is_same_v<T, double>) {
    return DType::kFloat64;
  } else if constexpr (std::is_same_v<T, bool>) {
    return DType::kBool;
  } else if constexpr (std::is_integral_v<T> && std::is_signed_v<T>) {
    return sizeof(T) == 1   ? DType::kInt8
           : sizeof(T) == 2 ? DType::kInt16
           : sizeof(T) == 4 ? DType::kInt32
                            : DType::kInt64;
  } else if constexpr (std::is_integral_v<T>) {
    return sizeof(T) == 1   ? DType::kUint8
           : sizeof(T) == 2 ? DType::kUint16
           : sizeof(T) == 4 ? DType::kUint32
                            : DType::kUint64;
  } else if constexpr (std::is_same_v<T, std::complex<float>>) {
    return DType::kComplex64;
  } else if constexpr (std::is_same_v<T, std::complex<double>>) {
    return DType::kComplex128;
  } else if constexpr (std::is_same_v<T, std::string_view>) {
    return DType::kString;
  } else {
    static_assert(kAlwaysFalse<T>, "no DType for this element type");
  }
}
}  // namespace internal

}  // namespace smdebug
