#include "src/reduce/histogram.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "src/reduce/blocks.h"
#include "src/reduce/buckets.h"
#include "src/reduce/kernels.h"
#include "src/reduce/moment_sums.h"
#include "src/reduce/reduce.h"

namespace smdebug::reduce {
namespace {

// Copies the finite values of `block` to `finite` and counts the others.
template <typename T>
void TakeFinite(std::span<const T> block, std::vector<T>& finite,
                Histogram& histogram) {
  finite.clear();
  for (const T value : block) {
    if (std::isfinite(value)) {
      finite.push_back(value);
    } else if (std::isnan(value)) {
      ++histogram.nan;
    } else {
      ++(value > 0 ? histogram.pos_inf : histogram.neg_inf);
    }
  }
}

template <typename T>
void SetBuckets(const BucketCounter<T>& counter, Histogram& histogram) {
  const std::span<const double> edges = BucketEdges();
  // The end of the last bucket that was put down.
  size_t end = BucketOf(histogram.min);
  const size_t last = BucketOf(histogram.max);
  // At worst every second bucket is empty, or every value has its own.
  const size_t room =
      std::min(last - end + 2, 2 * static_cast<size_t>(histogram.num));
  histogram.limits.reserve(room);
  histogram.counts.reserve(room);
  histogram.limits.push_back(edges[end]);
  histogram.counts.push_back(0);
  for (size_t bucket = end; bucket <= last; ++bucket) {
    const int64_t count = counter.count(bucket);
    if (count == 0) continue;
    if (bucket != end) {
      histogram.limits.push_back(edges[bucket]);
      histogram.counts.push_back(0);
    }
    end = bucket + 1;
    histogram.limits.push_back(edges[end]);
    histogram.counts.push_back(static_cast<double>(count));
  }
}

template <typename T>
Histogram HistogramAs(const TensorView& tensor) {
  const Kernels& kernels = BestKernels();
  const BlockKernels<T>& block_kernels = For<T>(kernels);
  BlockReader<T> reader(tensor, kernels);
  MomentSums<T> sums(block_kernels);
  BucketCounter<T> counter;
  Histogram histogram;
  std::vector<T> finite;
  for (auto block = reader.Next(); !block.empty(); block = reader.Next()) {
    const BlockMoments moments =
        block_kernels.moments(block.data(), block.size());
    if (std::isfinite(moments.sum_squares)) {
      sums.Add(block, moments);
      counter.Add(block);
      continue;
    }
    TakeFinite(block, finite, histogram);
    if (finite.empty()) continue;
    sums.Add(finite);
    counter.Add(finite);
  }
  const Statistics statistics = sums.Finish();
  if (statistics.count == 0) return histogram;
  histogram.min = statistics.min;
  histogram.max = statistics.max;
  histogram.num = statistics.count;
  histogram.sum = statistics.sum;
  histogram.sum_squares = statistics.sum_squares;
  SetBuckets(counter, histogram);
  return histogram;
}

}  // namespace

Histogram MakeHistogram(const TensorView& tensor) {
  RequireReducible(tensor.dtype);
  return ComputesInFloat(tensor.dtype) ? HistogramAs<float>(tensor)
                                       : HistogramAs<double>(tensor);
}

}  // namespace smdebug::reduce
