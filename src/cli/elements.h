#pragma once

#include <array>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "smdebug/tensor.h"

namespace smdebug::cli {

// The elements of a dense tensor of numbers as doubles, in C order, a block at
// a time. Complex elements count by their magnitude, bool as 0 and 1.
//
// Borrows the tensor's memory. One thread at a time.
class DoubleBlocks {
 public:
  static constexpr size_t kBlock = 1024;

  explicit DoubleBlocks(const TensorView& tensor) : tensor_(tensor) {}

  // Empty at the end. Valid until the next call.
  std::span<const double> Next();

 private:
  const TensorView tensor_;
  int64_t done_ = 0;
  std::array<double, kBlock> block_;
};

// Converts `count` elements at `from`, aligned for `dtype`: one of the types
// that a float holds exactly (narrow floats and integers, bool).
void ToFloats(const void* from, DType dtype, size_t count, float* to) noexcept;

// Whether float32 is the nearest type that NumPy has: bfloat16 and float8.
bool IsForeignFloat(DType dtype) noexcept;

// One element as it is: integers as integers, float32 and narrower as float.
using Element = std::variant<bool, int64_t, uint64_t, float, double,
                             std::complex<double>, std::string_view>;

// Element `index`, in C order, of a dense tensor. Pure.
Element ElementAt(const TensorView& tensor, int64_t index);

// For people: "0.25", "-3", "True", "1+2j", "'text'".
std::string ElementText(const Element& element);

}  // namespace smdebug::cli
