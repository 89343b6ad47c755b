#include "src/cli/value_summary.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string_view>

#include <fmt/format.h>

#include "src/cli/elements.h"
#include "src/cli/text.h"
#include "src/reduce/reduce.h"

namespace smdebug::cli {
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
  switch (dtype) {
    case DType::kBool:
    case DType::kInt8:
    case DType::kInt16:
    case DType::kInt32:
    case DType::kInt64:
    case DType::kUint8:
    case DType::kUint16:
    case DType::kUint32:
    case DType::kUint64:
      return true;
    default:
      return false;
  }
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

// A bar of `eighths` / 8 columns.
std::string Bar(size_t eighths, bool utf8) {
  if (!utf8) return std::string((eighths + 4) / 8, '#');
  static constexpr std::array<std::string_view, 8> kParts = {"",
                                                             "\xE2\x96\x8F",
                                                             "\xE2\x96\x8E",
                                                             "\xE2\x96\x8D",
                                                             "\xE2\x96\x8C",
                                                             "\xE2\x96\x8B",
                                                             "\xE2\x96\x8A",
                                                             "\xE2\x96\x89"};
  std::string bar;
  for (size_t i = 0; i < eighths / 8; ++i) bar += "\xE2\x96\x88";
  bar += kParts[eighths % 8];
  return bar;
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

std::string BarsText(const std::vector<Bin>& bins, size_t width, bool utf8) {
  size_t low_width = 0;
  size_t high_width = 0;
  size_t count_width = 0;
  int64_t largest = 1;
  for (const Bin& bin : bins) {
    low_width = std::max(low_width, ShortNumber(bin.low).size());
    high_width = std::max(high_width, ShortNumber(bin.high).size());
    count_width = std::max(count_width, fmt::format("{}", bin.count).size());
    largest = std::max(largest, bin.count);
  }
  const bool single = !bins.empty() && bins[0].low == bins[0].high;
  const size_t label = single ? low_width : low_width + 4 + high_width;
  const size_t taken = label + count_width + 6;
  const size_t bar = width > taken + 10 ? width - taken : 10;
  std::string text;
  for (const Bin& bin : bins) {
    text += "  ";
    text += single ? fmt::format("{:>{}}", ShortNumber(bin.low), low_width)
                   : fmt::format("{:>{}} .. {:<{}}", ShortNumber(bin.low),
                                 low_width, ShortNumber(bin.high), high_width);
    const double share =
        static_cast<double>(bin.count) / static_cast<double>(largest);
    auto eighths =
        static_cast<size_t>(std::lround(share * static_cast<double>(8 * bar)));
    // What is there must be seen.
    if (bin.count > 0) eighths = std::max<size_t>(eighths, utf8 ? 1 : 8);
    text +=
        fmt::format("  {:>{}}  {}", bin.count, count_width, Bar(eighths, utf8));
    text.erase(text.find_last_not_of(' ') + 1);
    text += '\n';
  }
  return text;
}

}  // namespace smdebug::cli
