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

namespace smdebug::query {

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

// A view that is safe to walk axis by axis: as it is, or as a vector if it has
// more than 64 axes, which no program but only a damaged file has. Borrows the
// tensor. Const calls are thread-safe.
class ShallowView {
 public:
  explicit ShallowView(const TensorView& tensor);

  ShallowView(const ShallowView&) = delete;
  ShallowView& operator=(const ShallowView&) = delete;

  const TensorView& get() const { return tensor_; }

 private:
  int64_t size_;
  TensorView tensor_;
};

// One element as it is: integers as integers, float32 and narrower as float.
using Element = std::variant<bool, int64_t, uint64_t, float, double,
                             std::complex<double>, std::string_view>;

// Element `index`, in C order, of a dense tensor. Pure.
Element ElementAt(const TensorView& tensor, int64_t index);

// For people: "0.25", "-3", "True", "1+2j", "'text'".
std::string ElementText(const Element& element);

}  // namespace smdebug::query
