#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>
#include <vector>

#include "src/reduce/kernels.h"

namespace smdebug::reduce {

// Finds the median of x or |x| in passes over all blocks of a tensor, usually
// in one.
//
// A pass counts what lies below, at and above two values, and keeps what lies
// strictly between them. The first two come from a sample and hold the median
// between them nearly always, with a small part of the elements. Where they do
// not, or where more lies between than fits the buffer, further passes bisect
// the remaining range of values, at most once per bit of T.
//
// Borrows the kernels. One thread at a time.
template <typename T>
class MedianSearch {
 public:
  // `sample` holds values of the tensor, which has `size` elements, at least
  // one, and no NaN.
  MedianSearch(const BlockKernels<T>& kernels, bool abs, int64_t size,
               std::vector<T> sample);

  void AddBlock(std::span<const T> block) noexcept;

  // Ends a pass and returns whether the median is found. If not, all blocks
  // must be added again.
  bool EndPass();

  // The mean of the two middle values for an even size.
  double median() const noexcept;

 private:
  using Key = std::conditional_t<sizeof(T) == 4, int32_t, int64_t>;

  // Values whose keys lie in [first, last], of which the tensor has
  // `through - below`, after `below` smaller ones. Holds the wanted rank.
  struct Range {
    Key first;
    Key last;
    int64_t below;
    int64_t through;
  };

  Range WholeRange() const noexcept;
  bool FindNext();
  void ChooseCut() noexcept;
  void BeginPass(T low, T high) noexcept;

  const BlockKernels<T>& kernels_;
  const bool abs_;
  const int64_t size_;
  const std::array<int64_t, 2> ranks_;  // Equal for an odd size.
  std::array<T, 2> values_ = {};
  size_t found_ = 0;
  Range range_;

  T low_ = 0;  // This pass.
  T high_ = 0;
  Cut cut_;
  bool overflow_ = false;
  std::unique_ptr<T[]> between_;
  size_t between_size_ = 0;
  size_t capacity_ = 0;
};

extern template class MedianSearch<float>;
extern template class MedianSearch<double>;

// The median of `values`, of which there is at least one and no NaN. Moves them
// about.
template <typename T>
double MedianInPlace(std::span<T> values) noexcept;

extern template double MedianInPlace(std::span<float> values) noexcept;
extern template double MedianInPlace(std::span<double> values) noexcept;

}  // namespace smdebug::reduce
