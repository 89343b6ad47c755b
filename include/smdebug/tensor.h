#pragma once

#include <array>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>

namespace smdebug {

// Element types, in the numbering of the event format (TensorFlow's DataType).
// A new one is a number here, a row in kElementTypes, and how its bits are
// read; what else there is to know of a type follows from these.
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

enum class ElementKind : uint8_t {
  kText,
  kBoolean,  // A byte that is 0 or not.
  kSigned,
  kUnsigned,
  kFloat,
  kComplex,
};

// All that is known of an element type but how its bits are read, which is in
// src/reduce/convert-inl.h.
struct ElementType {
  DType dtype;
  std::string_view name;  // NumPy's, or that of ml_dtypes.
  uint8_t item_size;      // In bytes; 0 for kString.
  ElementKind kind;
  bool in_numpy;  // If not, float32 is the nearest type that NumPy has.
  uint8_t dlpack_code;
  std::string_view torch_name;  // LibTorch's; empty for what it lacks.
};

inline constexpr auto kElementTypes = [] {
  using enum DType;
  using enum ElementKind;
  return std::to_array<ElementType>({
      {kFloat32, "float32", 4, kFloat, true, 2, "Float"},
      {kFloat64, "float64", 8, kFloat, true, 2, "Double"},
      {kInt32, "int32", 4, kSigned, true, 0, "Int"},
      {kUint8, "uint8", 1, kUnsigned, true, 1, "Byte"},
      {kInt16, "int16", 2, kSigned, true, 0, "Short"},
      {kInt8, "int8", 1, kSigned, true, 0, "Char"},
      {kString, "str", 0, kText, true, 3, ""},
      {kComplex64, "complex64", 8, kComplex, true, 5, "ComplexFloat"},
      {kInt64, "int64", 8, kSigned, true, 0, "Long"},
      {kBool, "bool", 1, kBoolean, true, 6, "Bool"},
      {kBfloat16, "bfloat16", 2, kFloat, false, 4, "BFloat16"},
      {kUint16, "uint16", 2, kUnsigned, true, 1, "UInt16"},
      {kComplex128, "complex128", 16, kComplex, true, 5, "ComplexDouble"},
      {kFloat16, "float16", 2, kFloat, true, 2, "Half"},
      {kUint32, "uint32", 4, kUnsigned, true, 1, "UInt32"},
      {kUint64, "uint64", 8, kUnsigned, true, 1, "UInt64"},
      {kFloat8E5M2, "float8_e5m2", 1, kFloat, false, 12, "Float8_e5m2"},
      {kFloat8E4M3FN, "float8_e4m3fn", 1, kFloat, false, 10, "Float8_e4m3fn"},
  });
}();

namespace internal {
// By the number of a type, where it is in kElementTypes, counted from 1.
inline constexpr auto kElementRows = [] {
  std::array<uint8_t, 256> rows{};
  uint8_t row = 0;
  for (const ElementType& type : kElementTypes) {
    rows[static_cast<uint8_t>(type.dtype)] = ++row;
  }
  return rows;
}();
}  // namespace internal

// nullptr for a number that is no element type.
constexpr const ElementType* FindElementType(DType dtype) noexcept {
  const uint8_t row = internal::kElementRows[static_cast<uint8_t>(dtype)];
  return row == 0 ? nullptr : &kElementTypes[row - 1];
}

// kText for a number that is no element type, as for kString.
constexpr ElementKind KindOf(DType dtype) noexcept {
  const ElementType* type = FindElementType(dtype);
  return type == nullptr ? ElementKind::kText : type->kind;
}

// Bytes per element; 0 for kString.
constexpr size_t ItemSize(DType dtype) noexcept {
  const ElementType* type = FindElementType(dtype);
  return type == nullptr ? 0 : type->item_size;
}

// NumPy's (or ml_dtypes') name: "float32", "bfloat16", "float8_e4m3fn", "str".
constexpr std::string_view DTypeName(DType dtype) noexcept {
  const ElementType* type = FindElementType(dtype);
  return type == nullptr ? "unknown" : type->name;
}

// The inverse of DTypeName; nullopt for any other text.
constexpr std::optional<DType> ParseDType(std::string_view name) noexcept {
  for (const ElementType& type : kElementTypes) {
    if (type.name == name) return type.dtype;
  }
  return std::nullopt;
}

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

// What the values of a tensor were like when it was reduced, kept where only
// reductions were saved. Runs of smdebug 1.0 have none.
struct ValueCounts {
  DType dtype = DType::kFloat32;
  int64_t count = 0;
  int64_t nan = 0;
  int64_t pos_inf = 0;
  int64_t neg_inf = 0;
  int64_t zero = 0;

  friend bool operator==(const ValueCounts&, const ValueCounts&) = default;
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
