#include "src/query/series.h"

#include <algorithm>
#include <exception>
#include <map>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "smdebug/error.h"
#include "src/config/reduction_config.h"
#include "src/query/open_run.h"
#include "src/query/text.h"

namespace smdebug::query {
namespace {

// Reads one tensor's series. One thread at a time.
class SeriesReader {
 public:
  SeriesReader(const Tensor& tensor, const SeriesQuery& query)
      : tensor_(tensor), mode_(query.mode), worker_(query.worker) {}

  // Whether the first value that can be read has one element.
  bool IsScalar(const std::vector<int64_t>& steps) const {
    for (const int64_t step : steps) {
      if (!SavedAt(step).value) continue;
      const auto value =
          IfWhole(step, [&] { return tensor_.At(step, mode_, who()); });
      if (!value) continue;
      return value->size() == 1 && value->dtype() != DType::kString;
    }
    return false;
  }

  Series ReadValues(const std::vector<int64_t>& steps) const {
    Series series;
    for (const int64_t step : steps) {
      if (!SavedAt(step).value) continue;
      const auto value =
          IfWhole(step, [&] { return tensor_.At(step, mode_, who()); });
      if (!value) continue;
      if (value->size() != 1) {
        throw Error(fmt::format(
            "'{}' has {} at step {}, one before; ask for a reduction",
            tensor_.name(), Counted(value->size(), "element"), step));
      }
      Add(step, value->Get(0), series);
    }
    return series;
  }

  Series ReadReductions(const std::vector<int64_t>& steps,
                        Reduction reduction) const {
    Series series;
    for (const int64_t step : steps) {
      const Tensor::Saved saved = SavedAt(step);
      const bool has =
          saved.value || std::ranges::find(saved.reductions, reduction) !=
                             saved.reductions.end();
      if (!has) continue;
      const auto value = IfWhole(step, [&] {
        return tensor_.ReductionValue(step, reduction, mode_, who());
      });
      if (value) Add(step, *value, series);
    }
    return series;
  }

  // Throws what kept a step from being read, if anything did.
  void RethrowDamage() const {
    if (!damage_.empty()) std::rethrow_exception(damage_.begin()->second);
  }

  std::vector<int64_t> DamagedSteps() const {
    std::vector<int64_t> steps;
    for (const auto& [step, error] : damage_) steps.push_back(step);
    return steps;
  }

  // What could be plotted instead of a reduction that is nowhere.
  std::string Alternatives(const std::vector<int64_t>& steps) const {
    std::vector<std::string> names;
    for (const int64_t step : steps) {
      for (const Reduction& reduction : SavedAt(step).reductions) {
        const std::string name = ReductionName(reduction);
        if (std::ranges::find(names, name) == names.end()) {
          names.push_back(name);
        }
      }
    }
    return names.empty() ? "nothing but its shape was saved"
                         : "saved were " + Join(names);
  }

 private:
  WorkerName who() const {
    return worker_ ? WorkerName(*worker_) : WorkerName();
  }
  Tensor::Saved SavedAt(int64_t step) const {
    return tensor_.SavedAt(step, mode_, who());
  }
  // What `read` gives; nullopt if it is damaged or its file is missing, which
  // the trial has noted.
  template <typename Read>
  auto IfWhole(int64_t step, Read read) const
      -> std::optional<decltype(read())> {
    try {
      return read();
    } catch (const FormatError&) {
      damage_.try_emplace(step, std::current_exception());
    } catch (const TensorUnavailableForStep&) {
      damage_.try_emplace(step, std::current_exception());
    }
    return std::nullopt;
  }
  static void Add(int64_t step, double value, Series& series) {
    series.steps.push_back(step);
    series.values.push_back(value);
  }

  const Tensor tensor_;
  const Mode mode_;
  const std::optional<std::string> worker_;
  mutable std::map<int64_t, std::exception_ptr> damage_;  // By step.
};

// Which series it is.
Json HeadJson(const TensorSeries& series) {
  return {{"tensor", series.tensor},
          {"reduction",
           series.reduction ? Json(ReductionName(*series.reduction)) : Json()},
          {"mode", ModeName(series.mode)},
          {"worker", series.worker ? Json(*series.worker) : Json()},
          {"damaged", series.damaged}};
}

}  // namespace

ReducedName SplitReduced(Trial& trial, const std::string& name) {
  const size_t colon = name.rfind(':');
  if (colon == std::string::npos || trial.HasTensor(name)) return {name, {}};
  const std::string tensor = name.substr(0, colon);
  const std::string end = name.substr(colon + 1);
  const auto reduction = ParseReduction(end);
  if (reduction) return {tensor, reduction};
  if (!trial.HasTensor(tensor)) return {name, {}};
  throw Error(fmt::format("there is no reduction '{}' of '{}'; expected {}",
                          end, tensor, config::AllowedReductions(end)));
}

TensorSeries ReadSeries(Trial& trial, const SeriesQuery& query) {
  const ReducedName name = SplitReduced(trial, query.tensor);
  const Tensor tensor = RequireTensor(trial, name.tensor);
  const std::vector<int64_t> steps = tensor.Steps(query.mode);
  RequireStep(steps, {}, query.mode, fmt::format("'{}'", tensor.name()));

  const SeriesReader reader(tensor, query);
  TensorSeries result = {
      .tensor = tensor.name(), .worker = query.worker, .mode = query.mode};
  result.reduction = query.reduction ? query.reduction : name.reduction;
  if (!result.reduction && reader.IsScalar(steps)) {
    result.series = reader.ReadValues(steps);
    result.damaged = reader.DamagedSteps();
    return result;
  }
  if (!result.reduction) result.reduction = Reduction{ReductionOp::kMean};
  result.series = reader.ReadReductions(steps, *result.reduction);
  if (result.series.steps.empty()) {
    reader.RethrowDamage();
    throw Error(fmt::format("there is no {} of '{}' to plot; {}",
                            ReductionName(*result.reduction), tensor.name(),
                            reader.Alternatives(steps)));
  }
  result.damaged = reader.DamagedSteps();
  return result;
}

std::vector<TensorSeries> SplitByMode(Trial& trial,
                                      const TensorSeries& series) {
  std::vector<TensorSeries> parts;
  if (series.mode != Mode::kGlobal) return {series};
  for (const Mode mode : kModes) {
    TensorSeries part = series;
    part.mode = mode;
    part.series = {};
    for (size_t i = 0; i < series.series.steps.size(); ++i) {
      const int64_t step = series.series.steps[i];
      if (trial.ModeOf(step).value_or(Mode::kGlobal) != mode) continue;
      part.series.steps.push_back(step);
      part.series.values.push_back(series.series.values[i]);
    }
    if (!part.series.steps.empty()) parts.push_back(std::move(part));
  }
  return parts;
}

std::vector<int64_t> SpreadEvenly(const std::vector<int64_t>& steps,
                                  size_t most) {
  if (most == 0 || steps.size() <= most) return steps;
  if (most == 1) return {steps.back()};
  std::vector<int64_t> spread;
  spread.reserve(most);
  for (size_t i = 0; i < most; ++i) {
    spread.push_back(steps[i * (steps.size() - 1) / (most - 1)]);
  }
  return spread;
}

Json ToJson(const TensorSeries& series) {
  Json json = HeadJson(series);
  json["steps"] = series.series.steps;
  json["values"] = Json::array();
  for (const double value : series.series.values) {
    json["values"].push_back(JsonNumber(value));
  }
  return json;
}

Json ToJson(const TensorSeries& series, std::span<const SeriesBucket> buckets) {
  Json json = HeadJson(series);
  json["buckets"] = Json::array();
  for (const SeriesBucket& bucket : buckets) {
    json["buckets"].push_back({{"first_step", bucket.first_step},
                               {"last_step", bucket.last_step},
                               {"count", bucket.count},
                               {"first", JsonNumber(bucket.first)},
                               {"last", JsonNumber(bucket.last)},
                               {"min", JsonNumber(bucket.min)},
                               {"max", JsonNumber(bucket.max)},
                               {"min_step", bucket.min_step},
                               {"max_step", bucket.max_step},
                               {"nan", bucket.nan},
                               {"pos_inf", bucket.pos_inf},
                               {"neg_inf", bucket.neg_inf}});
  }
  return json;
}

}  // namespace smdebug::query
