#include "src/reduce/reduce.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <vector>

#include "src/reduce/blocks.h"
#include "src/reduce/kernels.h"
#include "src/reduce/median.h"
#include "src/reduce/moment_sums.h"
#include "src/reduce/product.h"
#include "src/reduce/sample.h"

namespace smdebug::reduce {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

template <typename T>
double ProductOfAll(BlockReader<T>& reader, const BlockKernels<T>& kernels,
                    const Statistics& statistics) {
  LazyProduct<T> product(kernels);
  reader.Rewind();
  for (auto block = reader.Next(); !block.empty(); block = reader.Next()) {
    product.Multiply(block);
  }
  return product.Value(statistics);
}

// Sets the wanted medians of a tensor that is not empty and has no NaN.
template <typename T>
void FindMedians(BlockReader<T>& reader, const BlockKernels<T>& kernels,
                 const Sample<T>& sample, Wanted wanted, Statistics& s) {
  // Values of one sign need one search for both.
  const bool one_sign = s.min >= 0 || s.max <= 0;
  const bool plain = wanted.median || one_sign;
  const bool abs = wanted.abs_median && !one_sign;
  if (sample.whole()) {
    std::vector<T> values = sample.values();
    if (plain) s.median = MedianInPlace<T>(values);
    if (abs) {
      std::ranges::transform(values, values.begin(),
                             [](T x) { return std::abs(x); });
      s.abs_median = MedianInPlace<T>(values);
    }
  } else {
    std::optional<MedianSearch<T>> plain_search;
    std::optional<MedianSearch<T>> abs_search;
    if (plain) plain_search.emplace(kernels, false, s.count, sample.values());
    if (abs) abs_search.emplace(kernels, true, s.count, sample.values());
    while (plain_search || abs_search) {
      reader.Rewind();
      for (auto block = reader.Next(); !block.empty(); block = reader.Next()) {
        if (plain_search) plain_search->AddBlock(block);
        if (abs_search) abs_search->AddBlock(block);
      }
      if (plain_search && plain_search->EndPass()) {
        s.median = plain_search->median();
        plain_search.reset();
      }
      if (abs_search && abs_search->EndPass()) {
        s.abs_median = abs_search->median();
        abs_search.reset();
      }
    }
  }
  if (one_sign) s.abs_median = std::abs(s.median);
}

template <typename T>
Statistics ReduceAs(const TensorView& tensor, Wanted wanted) {
  const Kernels& kernels = BestKernels();
  const BlockKernels<T>& block_kernels = For<T>(kernels);
  const bool medians = wanted.median || wanted.abs_median;
  BlockReader<T> reader(tensor, kernels);
  MomentSums<T> sums(block_kernels);
  LazyProduct<T> product(block_kernels);
  std::optional<Sample<T>> sample;
  if (medians) sample.emplace(tensor.size());
  for (auto block = reader.Next(); !block.empty(); block = reader.Next()) {
    const BlockMoments moments = sums.Add(block);
    if (wanted.prod) product.Add(block, moments);
    if (sample) sample->Add(block);
  }
  Statistics s = sums.Finish();
  if (wanted.prod) {
    s.prod = product.needs_all(s) ? ProductOfAll(reader, block_kernels, s)
                                  : product.Value(s);
  }
  if (medians) {
    s.median = s.abs_median = kNan;
    if (s.count > 0 && s.nan == 0) {
      FindMedians(reader, block_kernels, *sample, wanted, s);
    }
  }
  return s;
}

double Variance(double deviations, int64_t count, Spread spread) noexcept {
  const int64_t divisor = spread == Spread::kSample ? count - 1 : count;
  return divisor > 0 ? deviations / static_cast<double>(divisor) : kNan;
}

}  // namespace

double Statistics::Value(Reduction reduction, Spread spread) const noexcept {
  const bool abs = reduction.abs;
  const double deviations_of = abs ? abs_deviations : deviations;
  switch (reduction.op) {
    case ReductionOp::kMin:
      return abs ? abs_min : min;
    case ReductionOp::kMax:
      return abs ? abs_max : max;
    case ReductionOp::kMean:
      return count == 0 ? kNan
                        : (abs ? abs_sum : sum) / static_cast<double>(count);
    case ReductionOp::kMedian:
      return abs ? abs_median : median;
    case ReductionOp::kStd:
      return std::sqrt(Variance(deviations_of, count, spread));
    case ReductionOp::kVariance:
      return Variance(deviations_of, count, spread);
    case ReductionOp::kSum:
      return abs ? abs_sum : sum;
    case ReductionOp::kProd:
      return abs ? std::abs(prod) : prod;
    case ReductionOp::kL1:
      return abs_sum;
    case ReductionOp::kL2:
      return std::sqrt(sum_squares);
  }
  return kNan;
}

Wanted Wanted::For(std::span<const Reduction> reductions) noexcept {
  Wanted wanted;
  for (const Reduction& reduction : reductions) {
    if (reduction.op == ReductionOp::kProd) wanted.prod = true;
    if (reduction.op == ReductionOp::kMedian) {
      (reduction.abs ? wanted.abs_median : wanted.median) = true;
    }
  }
  return wanted;
}

bool IsReducible(DType dtype) noexcept { return ItemSize(dtype) > 0; }

Statistics Reduce(const TensorView& tensor, Wanted wanted) {
  RequireReducible(tensor.dtype);
  return ComputesInFloat(tensor.dtype) ? ReduceAs<float>(tensor, wanted)
                                       : ReduceAs<double>(tensor, wanted);
}

}  // namespace smdebug::reduce
