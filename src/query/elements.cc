#include "src/query/elements.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <type_traits>

#include <fmt/format.h>

#include "src/query/text.h"
#include "src/reduce/kernels.h"

namespace smdebug::query {
namespace {

const std::byte* Address(const TensorView& tensor, int64_t index) {
  return static_cast<const std::byte*>(tensor.data) +
         static_cast<size_t>(index) * ItemSize(tensor.dtype);
}

template <typename T>
T Load(const TensorView& tensor, int64_t index) {
  T value;
  std::memcpy(&value, Address(tensor, index), sizeof(T));
  return value;
}

void FloatsToDoubles(std::span<const float> from, double* to) {
  std::ranges::copy(from, to);
}

}  // namespace

void ToFloats(const void* from, DType dtype, size_t count, float* to) noexcept {
  reduce::BestKernels().to_float(from, dtype, count, to);
}

bool IsForeignFloat(DType dtype) noexcept {
  return dtype == DType::kBfloat16 || dtype == DType::kFloat8E5M2 ||
         dtype == DType::kFloat8E4M3FN;
}

std::span<const double> DoubleBlocks::Next() {
  const auto left = static_cast<size_t>(tensor_.size() - done_);
  const size_t count = std::min(kBlock, left);
  if (count == 0) return {};
  const std::byte* from = Address(tensor_, done_);
  done_ += static_cast<int64_t>(count);
  switch (tensor_.dtype) {
    case DType::kFloat64:
      return {reinterpret_cast<const double*>(from), count};
    case DType::kFloat32:
      FloatsToDoubles({reinterpret_cast<const float*>(from), count},
                      block_.data());
      break;
    default:
      if (reduce::ComputesInFloat(tensor_.dtype)) {
        std::array<float, kBlock> floats;
        ToFloats(from, tensor_.dtype, count, floats.data());
        FloatsToDoubles({floats.data(), count}, block_.data());
      } else {
        reduce::BestKernels().to_double(from, tensor_.dtype, count,
                                        block_.data());
      }
  }
  return {block_.data(), count};
}

ShallowView::ShallowView(const TensorView& tensor)
    : size_(tensor.size()), tensor_(tensor) {
  constexpr size_t kMostAxes = 64;
  if (tensor.shape.size() > kMostAxes) tensor_.shape = {&size_, 1};
}

Element ElementAt(const TensorView& tensor, int64_t index) {
  switch (tensor.dtype) {
    case DType::kFloat32:
      return Load<float>(tensor, index);
    case DType::kFloat64:
      return Load<double>(tensor, index);
    case DType::kInt8:
      return int64_t{Load<int8_t>(tensor, index)};
    case DType::kInt16:
      return int64_t{Load<int16_t>(tensor, index)};
    case DType::kInt32:
      return int64_t{Load<int32_t>(tensor, index)};
    case DType::kInt64:
      return Load<int64_t>(tensor, index);
    case DType::kUint8:
      return uint64_t{Load<uint8_t>(tensor, index)};
    case DType::kUint16:
      return uint64_t{Load<uint16_t>(tensor, index)};
    case DType::kUint32:
      return uint64_t{Load<uint32_t>(tensor, index)};
    case DType::kUint64:
      return Load<uint64_t>(tensor, index);
    case DType::kBool:
      return Load<uint8_t>(tensor, index) != 0;
    case DType::kComplex64:
      return std::complex<double>(Load<std::complex<float>>(tensor, index));
    case DType::kComplex128:
      return Load<std::complex<double>>(tensor, index);
    case DType::kString:
      return static_cast<const std::string_view*>(tensor.data)[index];
    case DType::kFloat16:
    case DType::kBfloat16:
    case DType::kFloat8E5M2:
    case DType::kFloat8E4M3FN:
      break;
  }
  float value = 0;
  ToFloats(Address(tensor, index), tensor.dtype, 1, &value);
  return value;
}

std::string ElementText(const Element& element) {
  return std::visit(
      [](const auto& value) -> std::string {
        using T = std::decay_t<decltype(value)>;
        if constexpr (std::is_same_v<T, bool>) {
          return value ? "True" : "False";
        } else if constexpr (std::is_integral_v<T>) {
          return fmt::format("{}", value);
        } else if constexpr (std::is_floating_point_v<T>) {
          return ShortNumber(static_cast<double>(value));
        } else if constexpr (std::is_same_v<T, std::complex<double>>) {
          const std::string imaginary = ShortNumber(value.imag());
          return fmt::format("{}{}{}j", ShortNumber(value.real()),
                             imaginary.starts_with('-') ? "" : "+", imaginary);
        } else {
          return fmt::format("'{}'", Printable(value));
        }
      },
      element);
}

}  // namespace smdebug::query
