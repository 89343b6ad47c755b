#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "smdebug/tensor.h"
#include "src/reduce/kernels.h"

namespace smdebug::reduce {

// Throws Error, naming the dtype, unless IsReducible(dtype).
void RequireReducible(DType dtype);

// Copies the elements of a strided tensor in pieces, in the order in which they
// lie in memory rather than in that of their indices.
//
// Borrows the tensor's memory. One thread at a time.
class StridedReader {
 public:
  explicit StridedReader(const TensorView& tensor);

  // Where the elements begin, if they turn out to lie without gaps.
  const std::byte* gapless() const noexcept;

  // Copies the next `count` elements, which must be there.
  void Read(std::byte* out, size_t count) noexcept;

  void Rewind() noexcept;

 private:
  struct Axis {
    int64_t extent;
    int64_t stride;  // In elements, never negative.
    int64_t index = 0;
  };

  std::vector<Axis> axes_;  // The innermost is the last; at least one.
  size_t item_size_;
  const std::byte* first_;
  const std::byte* next_;
};

// Hands out a tensor as blocks of T, float or double as ComputesInFloat() says,
// with at most kBlock<T> elements each. Blocks of T itself are the tensor's own
// memory; others are converted. The order of the elements is that of
// StridedReader and always the same.
//
// Borrows the tensor and the kernels. One thread at a time.
template <typename T>
class BlockReader {
 public:
  BlockReader(const TensorView& tensor, const Kernels& kernels);

  // Empty at the end. Valid until the next call.
  std::span<const T> Next();

  // Begins again with the first block.
  void Rewind() noexcept;

 private:
  const std::byte* NextBytes(size_t count);

  const Kernels& kernels_;
  const DType dtype_;
  const size_t item_size_;
  const size_t size_;
  const std::byte* data_;
  size_t done_ = 0;
  std::optional<StridedReader> strided_;
  std::vector<std::byte> gathered_;
  alignas(64) std::array<T, kBlock<T>> converted_;
};

extern template class BlockReader<float>;
extern template class BlockReader<double>;

}  // namespace smdebug::reduce
