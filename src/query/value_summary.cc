#include "src/query/value_summary.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "src/query/elements.h"
#include "src/reduce/reduce.h"

namespace smdebug::query {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// Calls `use` with every finite element.
template <typename Use>
void ForEachFinite(const TensorView& tensor, const Use& use) {
  DoubleBlocks blocks(tensor);
  for (auto block = blocks.Next(); !block.empty(); block = blocks.Next()) {
    for (const double value : block) {
      if (std::isfinite(value)) use(value);
    }
  }
}

void SummarizeFinite(const TensorView& tensor, ValueSummary& summary) {
  if (summary.finite() == 0) {
    summary.min = summary.max = summary.mean = summary.std = kNan;
    summary.l2 = 0;
    return;
  }
  const auto n = static_cast<double>(summary.finite());
  double sum = 0;
  double squares = 0;
  summary.min = std::numeric_limits<double>::infinity();
  summary.max = -summary.min;
  ForEachFinite(tensor, [&](double x) {
    summary.min = std::min(summary.min, x);
    summary.max = std::max(summary.max, x);
    sum += x;
    squares += x * x;
  });
  summary.mean = sum / n;
  summary.l2 = std::sqrt(squares);
  double deviations = 0;
  ForEachFinite(tensor, [&](double x) {
    deviations += (x - summary.mean) * (x - summary.mean);
  });
  summary.std = std::sqrt(deviations / n);
}

bool IsWhole(DType dtype) {
  const ElementKind kind = KindOf(dtype);
  return kind == ElementKind::kBoolean || kind == ElementKind::kSigned ||
         kind == ElementKind::kUnsigned;
}

std::vector<Bin> EmptyBins(const ValueSummary& summary, DType dtype,
                           size_t most) {
  std::vector<Bin> bins;
  const double low = summary.min;
  const double high = summary.max;
  const auto slots = static_cast<double>(most);
  if (low == high) return {{low, high, 0}};
  if (IsWhole(dtype) && high - low < slots) {
    const auto count = static_cast<size_t>(high - low) + 1;
    for (size_t i = 0; i < count; ++i) {
      const double number = low + static_cast<double>(i);
      bins.push_back({number, number, 0});
    }
    return bins;
  }
  for (size_t i = 0; i < most; ++i) {
    // Both ends weighted, so that the whole range of double does not overflow.
    const auto edge = [&](size_t at) {
      const double share = static_cast<double>(at) / slots;
      return at == most ? high : low * (1 - share) + high * share;
    };
    bins.push_back({edge(i), edge(i + 1), 0});
  }
  return bins;
}

}  // namespace

ValueSummary Summarize(const TensorView& tensor) {
  const reduce::Statistics all = reduce::Reduce(tensor, {});
  ValueSummary summary;
  summary.count = all.count;
  summary.zero = all.zero;
  summary.nan = all.nan;
  summary.pos_inf = all.pos_inf;
  summary.neg_inf = all.neg_inf;
  if (summary.finite() != summary.count || summary.count == 0) {
    SummarizeFinite(tensor, summary);
    return summary;
  }
  const auto value = [&](ReductionOp op) {
    return all.Value({op, false}, Spread::kPopulation);
  };
  summary.min = all.min;
  summary.max = all.max;
  summary.mean = value(ReductionOp::kMean);
  summary.std = value(ReductionOp::kStd);
  summary.l2 = value(ReductionOp::kL2);
  return summary;
}

std::vector<Bin> CountBins(const TensorView& tensor,
                           const ValueSummary& summary, size_t most) {
  if (summary.finite() == 0) return {};
  std::vector<Bin> bins = EmptyBins(summary, tensor.dtype, most);
  const auto last = static_cast<double>(bins.size() - 1);
  const double half_range = summary.max / 2 - summary.min / 2;
  const bool single = bins.front().low == bins.front().high;
  const double slots = single ? last : static_cast<double>(bins.size());
  ForEachFinite(tensor, [&](double x) {
    const double share =
        half_range > 0 ? (x / 2 - summary.min / 2) / half_range : 0;
    const double at =
        single ? std::round(share * slots) : std::floor(share * slots);
    ++bins[static_cast<size_t>(std::clamp(at, 0.0, last))].count;
  });
  return bins;
}

Json ToJson(const ValueSummary& summary) {
  return {{"count", summary.count},
          {"zero", summary.zero},
          {"nan", summary.nan},
          {"pos_inf", summary.pos_inf},
          {"neg_inf", summary.neg_inf},
          {"min", JsonNumber(summary.min)},
          {"max", JsonNumber(summary.max)},
          {"mean", JsonNumber(summary.mean)},
          {"std", JsonNumber(summary.std)},
          {"l2", JsonNumber(summary.l2)}};
}

Json ToJson(std::span<const Bin> bins) {
  Json list = Json::array();
  for (const Bin& bin : bins) {
    list.push_back(
        {{"low", bin.low}, {"high", bin.high}, {"count", bin.count}});
  }
  return list;
}

}  // namespace smdebug::query
