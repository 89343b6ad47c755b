#include "smdebug/tensor.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

namespace smdebug {
namespace {

struct DTypeRow {
  DType dtype;
  size_t item_size;
  std::string_view name;
};

constexpr std::array<DTypeRow, 18> kDTypes = {{
    {DType::kFloat32, 4, "float32"},
    {DType::kFloat64, 8, "float64"},
    {DType::kInt32, 4, "int32"},
    {DType::kUint8, 1, "uint8"},
    {DType::kInt16, 2, "int16"},
    {DType::kInt8, 1, "int8"},
    {DType::kString, 0, "str"},
    {DType::kComplex64, 8, "complex64"},
    {DType::kInt64, 8, "int64"},
    {DType::kBool, 1, "bool"},
    {DType::kBfloat16, 2, "bfloat16"},
    {DType::kUint16, 2, "uint16"},
    {DType::kComplex128, 16, "complex128"},
    {DType::kFloat16, 2, "float16"},
    {DType::kUint32, 4, "uint32"},
    {DType::kUint64, 8, "uint64"},
    {DType::kFloat8E5M2, 1, "float8_e5m2"},
    {DType::kFloat8E4M3FN, 1, "float8_e4m3fn"},
}};

const DTypeRow* FindRow(DType dtype) noexcept {
  const auto row = std::ranges::find(kDTypes, dtype, &DTypeRow::dtype);
  return row == kDTypes.end() ? nullptr : &*row;
}

}  // namespace

size_t ItemSize(DType dtype) noexcept {
  const DTypeRow* row = FindRow(dtype);
  return row == nullptr ? 0 : row->item_size;
}

std::string_view DTypeName(DType dtype) noexcept {
  const DTypeRow* row = FindRow(dtype);
  return row == nullptr ? "unknown" : row->name;
}

std::optional<DType> ParseDType(std::string_view name) noexcept {
  const auto row = std::ranges::find(kDTypes, name, &DTypeRow::name);
  if (row == kDTypes.end()) return std::nullopt;
  return row->dtype;
}

int64_t TensorView::size() const noexcept {
  if (std::ranges::any_of(shape, [](int64_t n) { return n <= 0; })) return 0;
  int64_t size = 1;
  for (const int64_t extent : shape) {
    if (__builtin_mul_overflow(size, extent, &size)) {
      return std::numeric_limits<int64_t>::max();
    }
  }
  return size;
}

uint64_t TensorView::byte_size() const noexcept {
  const auto count = static_cast<uint64_t>(size());
  if (dtype != DType::kString) {
    uint64_t total = 0;
    const bool overflows =
        __builtin_mul_overflow(count, uint64_t{ItemSize(dtype)}, &total);
    return overflows ? std::numeric_limits<uint64_t>::max() : total;
  }
  const auto* text = static_cast<const std::string_view*>(data);
  uint64_t bytes = 0;
  for (uint64_t i = 0; i < count; ++i) bytes += text[i].size();
  return bytes;
}

bool TensorView::dense() const noexcept {
  if (strides.empty() || size() == 0) return true;
  int64_t expected = 1;
  for (size_t axis = shape.size(); axis-- > 0;) {
    if (shape[axis] != 1 && strides[axis] != expected) return false;
    // A product beyond all strides matches none.
    if (__builtin_mul_overflow(expected, shape[axis], &expected)) return false;
  }
  return true;
}

}  // namespace smdebug
