#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace smdebug::reduce {

// The positive edges of TensorBoard's buckets are 1e-12 and its products with
// powers of 1.1 below 1e20; the negative ones mirror them.
inline constexpr size_t kBuckets = 1548;

// kBuckets + 1 edges in rising order. Bucket i is [edges[i], edges[i + 1]), but
// the last includes its right edge.
std::span<const double> BucketEdges();

// The bucket of a finite `value`; the outermost one if it is beyond all edges.
size_t BucketOf(double value);

// Counts values of T, float or double, by bucket.
//
// A value is looked up by its sign, exponent and first four bits of mantissa.
// Such a cell spans at most 1/16 of its values, less than a bucket, so it holds
// at most one edge, and one comparison settles the bucket exactly.
//
// One thread at a time.
template <typename T>
class BucketCounter {
 public:
  BucketCounter();

  // All values are finite.
  void Add(std::span<const T> values) noexcept;

  int64_t count(size_t bucket) const noexcept {
    return counts_[0][bucket] + counts_[1][bucket];
  }

 private:
  struct Cell {
    T edge;           // Infinite if the cell holds none.
    uint32_t bucket;  // Of the values below the edge; the next for the others.
  };
  static std::vector<Cell> MakeCells();
  static size_t CellOf(T value) noexcept;

  const Cell* const cells_;
  // Neighbours in memory often fall into one bucket; they take turns at two
  // counters, so that one increment need not wait for the other.
  std::array<std::array<int64_t, kBuckets>, 2> counts_ = {};
};

extern template class BucketCounter<float>;
extern template class BucketCounter<double>;

}  // namespace smdebug::reduce
