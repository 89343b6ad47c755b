#include "smdebug/tensor.h"

#include <algorithm>
#include <limits>

namespace smdebug {

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
