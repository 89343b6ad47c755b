#include "src/query/elements.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <type_traits>

#include <fmt/format.h>

#include "src/base/bytes.h"
#include "src/query/text.h"
#include "src/reduce/kernels.h"

namespace smdebug::query {
namespace {

const std::byte* Address(const TensorView& tensor, int64_t index) {
  return static_cast<const std::byte*>(tensor.data) +
         static_cast<size_t>(index) * ItemSize(tensor.dtype);
}

// An integer of at most eight bytes, of which the first is the lowest.
uint64_t LoadBits(const std::byte* from, size_t size) {
  uint64_t bits = 0;
  std::memcpy(&bits, from, size);
  return bits;
}

void FloatsToDoubles(std::span<const float> from, double* to) {
  std::ranges::copy(from, to);
}

}  // namespace

void ToFloats(const void* from, DType dtype, size_t count, float* to) noexcept {
  reduce::BestKernels().to_float(from, dtype, count, to);
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
  const size_t size = ItemSize(tensor.dtype);
  const std::byte* from = Address(tensor, index);
  switch (KindOf(tensor.dtype)) {
    case ElementKind::kBoolean:
      return LoadBits(from, size) != 0;
    case ElementKind::kUnsigned:
      return LoadBits(from, size);
    case ElementKind::kSigned: {
      const size_t unused = 64 - 8 * size;
      return static_cast<int64_t>(LoadBits(from, size) << unused) >> unused;
    }
    case ElementKind::kComplex:
      return size == sizeof(std::complex<float>)
                 ? std::complex<double>(
                       base::LoadLittleEndian<std::complex<float>>(from))
                 : base::LoadLittleEndian<std::complex<double>>(from);
    case ElementKind::kText:
      return static_cast<const std::string_view*>(tensor.data)[index];
    case ElementKind::kFloat:
      break;
  }
  if (tensor.dtype == DType::kFloat64)
    return base::LoadLittleEndian<double>(from);
  if (tensor.dtype == DType::kFloat32)
    return base::LoadLittleEndian<float>(from);
  float value = 0;
  ToFloats(from, tensor.dtype, 1, &value);
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
