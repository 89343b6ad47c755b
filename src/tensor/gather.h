#pragma once

#include <cstddef>
#include <span>

#include "smdebug/tensor.h"

namespace smdebug::tensor {

// Copies the elements of `view` to `out` in C order. `out` holds
// view.byte_size() bytes; `view` is not of kString. Pure.
void CopyDense(const TensorView& view, std::span<std::byte> out) noexcept;

}  // namespace smdebug::tensor
