#include "src/tensor/gather.h"

#include <cstring>

namespace smdebug::tensor {
namespace {

// Copies the sub-tensor at `from` whose leading axis is `axis` and returns the
// end of what it wrote.
std::byte* CopyAxis(const TensorView& view, size_t axis, const std::byte* from,
                    size_t item_size, std::byte* out) noexcept {
  if (axis == view.shape.size()) {
    std::memcpy(out, from, item_size);
    return out + item_size;
  }
  const auto extent = static_cast<size_t>(view.shape[axis]);
  const ptrdiff_t step = view.strides[axis] * static_cast<ptrdiff_t>(item_size);
  const bool innermost = axis + 1 == view.shape.size();
  if (innermost && view.strides[axis] == 1) {
    std::memcpy(out, from, extent * item_size);
    return out + extent * item_size;
  }
  for (size_t i = 0; i < extent; ++i, from += step) {
    if (innermost) {
      std::memcpy(out, from, item_size);
      out += item_size;
    } else {
      out = CopyAxis(view, axis + 1, from, item_size, out);
    }
  }
  return out;
}

}  // namespace

void CopyDense(const TensorView& view, std::span<std::byte> out) noexcept {
  if (out.empty()) return;
  const auto* data = static_cast<const std::byte*>(view.data);
  if (view.dense()) {
    std::memcpy(out.data(), data, out.size());
    return;
  }
  CopyAxis(view, 0, data, ItemSize(view.dtype), out.data());
}

}  // namespace smdebug::tensor
