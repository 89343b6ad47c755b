#pragma once

#include <cstdint>
#include <string>

#include "smdebug/tensor.h"

namespace smdebug::cli {

// The values of a dense tensor as NumPy prints an array: brackets by axis,
// elements in columns. Where it has more than `most` elements, only the first
// and last few along each axis are shown, with "..." between. Lines have at
// most `width` columns if an element does. No newline at the end.
std::string ArrayText(const TensorView& tensor, int64_t most,
                      size_t width = 78);

}  // namespace smdebug::cli
