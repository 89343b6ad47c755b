#include "src/query/histograms.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "smdebug/error.h"
#include "src/query/open_run.h"
#include "src/query/series.h"
#include "src/query/value_summary.h"

namespace smdebug::query {
namespace {

// What reductions and the counts beside them tell of values.
ValueSummary SummaryOfReductions(
    const std::vector<std::pair<Reduction, double>>& reductions,
    const std::optional<ValueCounts>& counts) {
  const auto find = [&](ReductionOp op) {
    const auto found = std::ranges::find(reductions, Reduction{op},
                                         [](const auto& r) { return r.first; });
    return found == reductions.end() ? std::numeric_limits<double>::quiet_NaN()
                                     : found->second;
  };
  ValueSummary summary = {.min = find(ReductionOp::kMin),
                          .max = find(ReductionOp::kMax),
                          .mean = find(ReductionOp::kMean),
                          .std = find(ReductionOp::kStd),
                          .l2 = find(ReductionOp::kL2)};
  if (counts) {
    summary.count = counts->count;
    summary.zero = counts->zero;
    summary.nan = counts->nan;
    summary.pos_inf = counts->pos_inf;
    summary.neg_inf = counts->neg_inf;
  }
  return summary;
}

// Reads the histograms of one tensor. One thread at a time.
class HistogramReader {
 public:
  HistogramReader(const Tensor& tensor, const HistogramQuery& query)
      : tensor_(tensor), query_(query) {}

  std::vector<StepHistogram> Read(const std::vector<int64_t>& steps) {
    std::vector<StepHistogram> histograms;
    for (const int64_t step : steps) {
      const Tensor::Saved saved = tensor_.SavedAt(step, query_.mode, who());
      if (saved.value) {
        histograms.push_back(OfValue(step));
      } else if (!saved.reductions.empty()) {
        histograms.push_back(OfReductions(step));
      }
    }
    if (query_.common_range) ShareBins(histograms);
    return histograms;
  }

 private:
  WorkerName who() const {
    return query_.worker ? WorkerName(*query_.worker) : WorkerName();
  }

  Value ValueAt(int64_t step) const {
    Value value = tensor_.At(step, query_.mode, who());
    if (value.dtype() == DType::kString) {
      throw Error(fmt::format("'{}' is of strings, which have no histogram",
                              tensor_.name()));
    }
    return value;
  }

  StepHistogram OfValue(int64_t step) const {
    const Value value = ValueAt(step);
    StepHistogram histogram = {
        .step = step, .from_value = true, .summary = Summarize(value.view())};
    if (!query_.common_range) {
      histogram.bins = CountBins(value.view(), histogram.summary, query_.bins);
    }
    return histogram;
  }

  StepHistogram OfReductions(int64_t step) const {
    StepHistogram histogram = {
        .step = step,
        .summary = SummaryOfReductions(
            tensor_.ReductionValues(step, query_.mode, who()),
            tensor_.Counts(step, query_.mode, who()))};
    const ValueSummary& summary = histogram.summary;
    if (std::isfinite(summary.min) && std::isfinite(summary.max)) {
      histogram.bins = {{summary.min, summary.max, summary.finite()}};
    }
    return histogram;
  }

  // Counts all values in the bins of the whole range.
  void ShareBins(std::vector<StepHistogram>& histograms) const {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    double low = kInfinity;
    double high = -kInfinity;
    for (const StepHistogram& histogram : histograms) {
      // NaN compares false.
      if (histogram.summary.min < low) low = histogram.summary.min;
      if (histogram.summary.max > high) high = histogram.summary.max;
    }
    for (StepHistogram& histogram : histograms) {
      if (!histogram.from_value) continue;
      ValueSummary range = histogram.summary;
      range.min = low;
      range.max = high;
      histogram.bins =
          CountBins(ValueAt(histogram.step).view(), range, query_.bins);
    }
  }

  const Tensor tensor_;
  const HistogramQuery& query_;
};

}  // namespace

TensorHistograms ReadHistograms(Trial& trial, const HistogramQuery& query) {
  if (query.bins == 0) throw Error("a histogram has at least one bin");
  const Tensor tensor = RequireTensor(trial, query.tensor);
  const std::string what = fmt::format("'{}'", tensor.name());
  const std::vector<int64_t> all = tensor.Steps(query.mode);
  RequireStep(all, {}, query.mode, what);
  for (const int64_t step : query.steps) {
    RequireStep(all, step, query.mode, what);
  }
  TensorHistograms result = {
      .tensor = tensor.name(), .mode = query.mode, .worker = query.worker};
  result.steps = HistogramReader(tensor, query)
                     .Read(SpreadEvenly(query.steps.empty() ? all : query.steps,
                                        query.most_steps));
  if (result.steps.empty()) {
    throw Error(
        fmt::format("of {} there is neither a value nor a reduction", what));
  }
  return result;
}

Json ToJson(const TensorHistograms& histograms) {
  Json steps = Json::array();
  for (const StepHistogram& histogram : histograms.steps) {
    steps.push_back({{"step", histogram.step},
                     {"from", histogram.from_value ? "value" : "reductions"},
                     {"statistics", ToJson(histogram.summary)},
                     {"bins", ToJson(histogram.bins)}});
  }
  return {{"tensor", histograms.tensor},
          {"mode", ModeName(histograms.mode)},
          {"worker", histograms.worker ? Json(*histograms.worker) : Json()},
          {"steps", std::move(steps)}};
}

}  // namespace smdebug::query
